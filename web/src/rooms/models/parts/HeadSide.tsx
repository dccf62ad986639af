/** The attention of a head as lines, and all its measures. */
import { format, type MeasureWords } from "#parts";
import { TokenLines, type TokenLinesProps } from "../../../picture/TokenLines";

interface MeasuresProps<Name extends string> {
  readonly names: readonly Name[];
  readonly measures: Readonly<Record<Name, MeasureWords>>;
  readonly values: Readonly<Record<Name, number | null>> | undefined;
}

interface LinesProps extends Omit<TokenLinesProps, "caption"> {
  readonly name: string;
  readonly text: string;
  /** In percent. */
  readonly mass: number;
}

function Lines({ name, text, mass, ...lines }: LinesProps) {
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

/** @param props.lines null until they are drawn */
export function HeadSide<Name extends string>(
  props: MeasuresProps<Name> & { lines: LinesProps | null },
) {
  const { lines, names, measures, values } = props;
  return (
    <div class="head-side column">
      {lines && <Lines {...lines} />}
      <dl class="measures small number">
        {names.map((name) => {
          const value = values?.[name] ?? null;
          return (
            <div key={name}>
              <dt class="faint">{measures[name].name}</dt>
              <dd data-measure={name}>{value === null ? "–" : format(value)}</dd>
            </div>
          );
        })}
      </dl>
    </div>
  );
}
