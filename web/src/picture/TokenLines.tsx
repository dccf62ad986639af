/** Attention as lines from queries on the left to keys on the right: wraps the element of `#parts`. */
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import {
  appearing,
  areApart,
  type ColourCurve,
  type ColourRange,
  LineDrawing,
  linesHeight,
  type MatrixView,
  px,
  strongest,
} from "#parts";
import { useWidth } from "../shared/useWidth";
import { placeIn } from "../shared/zoom";
import { SaveDrawing } from "./SaveDrawing";

export interface TokenLinesProps {
  caption: string;
  queries: readonly string[];
  keys: readonly string[];
  /** One row of weights for each query; null until the numbers arrive. */
  weights: MatrixView | null;
  /** Draws the strongest lines of each query until they sum to this share of its attention, 0 to 1. */
  mass: number;
  /** How weights are mapped to the strength of lines, as for colours. */
  range: ColourRange;
  curve: ColourCurve;
  selected: number | null;
  onSelect(row: number): void;
}

export function TokenLines(props: TokenLinesProps) {
  const { caption, queries, keys, weights, mass, range, curve, selected, onSelect } = props;
  const [ref, width] = useWidth<HTMLDivElement>();
  const drawing = useRef<LineDrawing>(null);
  const lines = useMemo(
    () => (weights ? strongest(weights, { mass, range, curve }) : []),
    [weights, mass, range, curve],
  );
  const lit = useMemo(() => (selected === null ? null : { row: selected }), [selected]);
  useLayoutEffect(() => {
    if (width === 0) return;
    drawing.current ??= new LineDrawing();
    drawing.current.draw({ queries, keys, lines, lit, width });
    const { svg } = drawing.current;
    // Paper may be narrower.
    svg.setAttribute("viewBox", `0 0 ${width} ${svg.getAttribute("height")}`);
    if (!svg.isConnected) ref.current?.append(svg);
  }, [queries, keys, lines, lit, width]);
  const onClick = (event: MouseEvent) => {
    const { x, y } = placeIn(event);
    const { row, col } = drawing.current?.hit(x, y) ?? {};
    if (row !== undefined && col === undefined) onSelect(row);
  };
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the table's heading selects a query by keyboard */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the same */}
      <div
        ref={ref}
        class="token-lines"
        style={{ height: px(linesHeight(queries, keys)) }}
        onClick={onClick}
      />
      <SaveDrawing
        part={ref}
        title={caption}
        file="lines"
        plays={areApart(lines) ? () => appearing(queries.length) : undefined}
      />
    </>
  );
}
