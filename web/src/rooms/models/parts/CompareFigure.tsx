/** Maps of heads side by side, and the meaning of the colours of their difference. */
import type { ComponentChildren } from "preact";
import { Prose } from "../../../shared/Panel";
import { useWidth } from "../../../shared/useWidth";

/** Each map gets its width in pixels. */
export function CompareFigure({
  maps,
}: {
  maps: readonly ((width: number) => ComponentChildren)[];
}) {
  const [ref, width] = useWidth<HTMLDivElement>();
  return (
    <div class="compare-figure column">
      {maps.map((map, i) => (
        <div key={i} {...(i === 0 && { ref })} class="scroll">
          {width > 0 && map(width)}
        </div>
      ))}
    </div>
  );
}

export function DifferenceColours({ more, less }: { more: string; less: string }) {
  return (
    <Prose>
      <b class="more">Blue</b>: {more} <b class="less">Orange</b>: {less}
    </Prose>
  );
}
