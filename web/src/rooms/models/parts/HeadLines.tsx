/** The attention of a head as lines, under a heading. */
import { TokenLines, type TokenLinesProps } from "../../../picture/TokenLines";

export function HeadLines({
  name,
  text,
  mass,
  ...lines
}: Omit<TokenLinesProps, "caption"> & {
  readonly name: string;
  readonly text: string;
  /** In percent. */
  readonly mass: number;
}) {
  return (
    <div class="head-lines">
      <h3>Attention as lines</h3>
      <TokenLines
        {...lines}
        caption={`${name}, lines that carry the top ${mass} %: ${text}`}
        mass={mass / 100}
      />
    </div>
  );
}
