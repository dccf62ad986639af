/** Attention as lines: queries on the left, keys on the right, stronger where more is taken. */
import { useMemo } from "preact/hooks";
import { type Curve, largestIn, type Range, weightPalette } from "../colour";
import { shorten } from "../format";
import { px, widest } from "../layout";
import { useWidth } from "../useWidth";
import { at, type View } from "../view";
import { SaveDrawing } from "./SaveDrawing";

interface Line {
  readonly row: number;
  readonly col: number;
  readonly strength: number;
}

/** More marks than this make a drawing slow and say nothing more. */
const mostLines = 2000;

/** Where more lines than this lie over one another, each is drawn fainter. */
const fewLines = 150;

/** Marks the largest of some numbers, as many as `enough` takes, which is told of one after the other. */
function markLargest(
  numbers: Float32Array,
  enough: (number: number) => boolean,
  mark: (index: number) => void,
): void {
  const sorted = numbers.slice().sort();
  let least = Number.POSITIVE_INFINITY;
  let alike = 0;
  for (let i = sorted.length - 1; i >= 0 && !enough(sorted[i] as number); --i) {
    alike = sorted[i] === least ? alike + 1 : 1;
    least = sorted[i] as number;
  }
  for (let i = 0; i < numbers.length; ++i) {
    const number = numbers[i] as number;
    if (number > least || (number === least && alike-- > 0)) mark(i);
  }
}

/** For every query its strongest keys, as many as it takes to carry `mass` of its attention; of all these the strongest. */
function strongest(weights: View, mass: number, range: Range, curve: Curve): Line[] {
  const { within, place: share } = weightPalette(range, curve, "light");
  const largestOfRow = largestIn(within, weights);
  const { rows, cols } = weights;
  const strengths = new Float32Array(rows * cols).fill(-1);
  const own = new Float32Array(cols);
  for (let row = 0; row < rows; ++row) {
    for (let col = 0; col < cols; ++col) own[col] = at(weights, row, col);
    const largest = largestOfRow(row);
    let carried = 0;
    const enough = (weight: number) => {
      // Rounding must not drop the last line of "all of it".
      if (weight === 0 || carried > mass - 1e-6) return true;
      carried += weight;
      return false;
    };
    markLargest(own, enough, (col) => {
      strengths[row * cols + col] = share(own[col] as number, largest);
    });
  }
  const lines: Line[] = [];
  let count = 0;
  const enough = (strength: number) => strength < 0 || ++count > mostLines;
  markLargest(strengths, enough, (place) => {
    const row = Math.floor(place / cols);
    lines.push({ row, col: place % cols, strength: strengths[place] as number });
  });
  return lines.sort((a, b) => b.strength - a.strength);
}

/** From here on not every word has a line of its own. */
const manyRows = 100;

export interface TokenLinesProps {
  /** What the drawing shows, above it where it is saved. */
  caption: string;
  queries: readonly string[];
  keys: readonly string[];
  /** One row of shares for each query; null until there are numbers. */
  weights: View | null;
  /** Lines are drawn until they carry this share, 0 to 1, of each query's attention. */
  mass: number;
  /** How strong lines are, as the colours of weights. */
  range: Range;
  curve: Curve;
  selected: number | null;
  onSelect(row: number): void;
}

export function TokenLines(props: TokenLinesProps) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const rows = Math.max(props.queries.length, props.keys.length, 1);
  // A sentence of hundreds of words stays on one screen; only some of its words are then written.
  const rowHeight =
    rows > manyRows ? 1100 / rows : Math.max(11, Math.min(32, Math.floor(400 / rows)));
  const labelStep = Math.ceil(9 / rowHeight);
  const height = rows * rowHeight;
  const { queries, keys, weights, mass, range, curve, selected, onSelect } = props;
  // The drawing is large: it is made anew only when something in it changes.
  const drawing = useMemo(() => {
    const left = widest(queries.map((token) => shorten(token, 12))) + 12;
    const right = Math.max(left + 40, width - widest(keys.map((token) => shorten(token, 12))) - 12);
    const bend = (right - left) / 3;
    const middle = (index: number) => (index + 0.5) * rowHeight;
    const path = ({ row, col }: Line) =>
      `M${left} ${middle(row)}C${left + bend} ${middle(row)} ${right - bend} ${middle(col)} ${right} ${middle(col)}`;
    const lines = weights ? strongest(weights, mass, range, curve) : [];
    return (
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={`${lines.length} lines from queries to keys`}
      >
        <g class="line-others" opacity={Math.min(1, fewLines / lines.length)}>
          {lines
            .filter(({ row }) => row !== selected)
            .map((line) => (
              <path key={`${line.row} ${line.col}`} d={path(line)} stroke-opacity={line.strength} />
            ))}
        </g>
        <g class="line-selected">
          {lines
            .filter(({ row }) => row === selected)
            .map((line) => (
              <path
                key={line.col}
                d={path(line)}
                stroke-opacity={0.15 + 0.85 * line.strength}
                stroke-width={1 + 4 * line.strength}
              />
            ))}
        </g>
        <g class="line-labels" font-size={Math.max(8, Math.min(12, rowHeight - 1))}>
          {queries.map(
            (token, i) =>
              i % labelStep === 0 && (
                // biome-ignore lint/a11y/noStaticElementInteractions: the table's heading selects a query by keyboard
                <text
                  key={i}
                  class={i === selected ? "selectable selected" : "selectable"}
                  x={left - 6}
                  y={middle(i)}
                  text-anchor="end"
                  onClick={() => onSelect(i)}
                >
                  {shorten(token, 12)}
                </text>
              ),
          )}
          {keys.map(
            (token, i) =>
              i % labelStep === 0 && (
                <text key={i} x={right + 6} y={middle(i)}>
                  {shorten(token, 12)}
                </text>
              ),
          )}
        </g>
      </svg>
    );
  }, [
    queries,
    keys,
    weights,
    mass,
    range,
    curve,
    selected,
    onSelect,
    width,
    height,
    rowHeight,
    labelStep,
  ]);
  return (
    <>
      <div ref={ref} class="token-lines" style={{ height: px(height) }}>
        {width > 0 && drawing}
      </div>
      <SaveDrawing part={ref} title={props.caption} file="lines" />
    </>
  );
}
