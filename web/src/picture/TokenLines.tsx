/** Attention as lines from queries on the left to keys on the right, stronger for larger weights. */

import {
  at,
  type ColourCurve,
  type ColourRange,
  largestIn,
  type MatrixView,
  px,
  shorten,
  weightPalette,
  widest,
} from "heed/view/parts";
import { useMemo } from "preact/hooks";
import { useWidth } from "../shared/useWidth";
import { SaveDrawing } from "./SaveDrawing";

interface Line {
  readonly row: number;
  readonly col: number;
  readonly strength: number;
}

/** More lines than this make the drawing slow and do not show more. */
const mostLines = 2000;

/** With more lines than this, each is drawn fainter. */
const fewLines = 150;

/** The number at index `place` in descending order (Hoare, "Algorithm 65: Find", 1961). Reorders `numbers`. */
function inFallingOrder(numbers: Float32Array, place: number): number {
  for (let low = 0, high = numbers.length - 1; low < high; ) {
    const middle = numbers[(low + high) >> 1] as number;
    let [i, j] = [low, high];
    while (i <= j) {
      while ((numbers[i] as number) > middle) ++i;
      while ((numbers[j] as number) < middle) --j;
      if (i > j) break;
      const moved = numbers[i] as number;
      numbers[i++] = numbers[j] as number;
      numbers[j--] = moved;
    }
    if (place <= j) high = j;
    else if (place >= i) low = i;
    else break;
  }
  return numbers[place] as number;
}

/** Calls `take` with the indices of the `count` largest numbers; of equal ones the first. */
function takeLargest(numbers: Float32Array, count: number, take: (place: number) => void): void {
  if (count === 0) return;
  const least = inFallingOrder(numbers.slice(), count - 1);
  let alike = count;
  for (const number of numbers) if (number > least) --alike;
  for (let place = 0; place < numbers.length; ++place) {
    const number = numbers[place] as number;
    if (number > least || (number === least && --alike >= 0)) take(place);
  }
}

/** How many of the largest weights add up to `mass`. Zeros are not counted. */
function countFor(weights: Float32Array, mass: number): number {
  if (mass >= 1) return weights.reduce((count, weight) => count + Number(weight > 0), 0);
  const sorted = weights.slice().sort().reverse();
  let carried = 0;
  // Rounding must not drop the last line if `mass` is everything.
  const enough = sorted.findIndex((weight) => {
    if (weight === 0 || carried > mass - 1e-6) return true;
    carried += weight;
    return false;
  });
  return enough < 0 ? sorted.length : enough;
}

/** For every query the largest weights that add up to `mass`; of all these the largest `mostLines`. */
function strongest(
  weights: MatrixView,
  mass: number,
  range: ColourRange,
  curve: ColourCurve,
): Line[] {
  const { within, place: share } = weightPalette(range, curve, "light");
  const largestOfRow = largestIn(within, weights);
  const { rows, cols } = weights;
  const none = -1;
  const strengths = new Float32Array(rows * cols).fill(none);
  const own = new Float32Array(cols);
  let count = 0;
  for (let row = 0; row < rows; ++row) {
    for (let col = 0; col < cols; ++col) own[col] = at(weights, row, col);
    const largest = largestOfRow(row);
    takeLargest(own, countFor(own, mass), (col) => {
      strengths[row * cols + col] = share(own[col] as number, largest);
      ++count;
    });
  }
  const lines: Line[] = [];
  takeLargest(strengths, Math.min(count, mostLines), (place) => {
    const row = Math.floor(place / cols);
    lines.push({ row, col: place % cols, strength: strengths[place] as number });
  });
  return lines;
}

/**
 * More lines than this are drawn with few strengths, each by one element: an element for each line takes too long. Lines
 * of one element do not add up where they cross, so all of them may be stronger.
 */
const manyLines = 500;
const strengthsOfMany = 24;
const opacityOfMany = 0.35;

const opacityOf = (count: number) =>
  count > manyLines ? opacityOfMany : Math.min(1, fewLines / count);

/** The paths of lines, weaker ones first. */
function pathsOf(
  lines: readonly Line[],
  path: (line: Line) => string,
): (readonly [strength: number, path: string])[] {
  if (lines.length <= manyLines) return lines.map((line) => [line.strength, path(line)]);
  const paths = new Map<number, string>();
  for (const line of lines) {
    const strength = Math.ceil(line.strength * strengthsOfMany) / strengthsOfMany;
    paths.set(strength, (paths.get(strength) ?? "") + path(line));
  }
  return [...paths].sort(([a], [b]) => a - b);
}

/** With more rows than this, some labels are omitted. */
const manyRows = 100;

export interface TokenLinesProps {
  /** The caption of the saved drawing. */
  caption: string;
  queries: readonly string[];
  keys: readonly string[];
  /** One row of shares for each query; null until there are numbers. */
  weights: MatrixView | null;
  /** Lines are drawn until they carry this share, 0 to 1, of each query's attention. */
  mass: number;
  /** How weights become the strength of lines, as for colours. */
  range: ColourRange;
  curve: ColourCurve;
  selected: number | null;
  onSelect(row: number): void;
}

export function TokenLines(props: TokenLinesProps) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const rows = Math.max(props.queries.length, props.keys.length, 1);
  // A sentence of hundreds of words must fit on one screen, so only some labels are drawn.
  const rowHeight =
    rows > manyRows ? 1100 / rows : Math.max(11, Math.min(32, Math.floor(400 / rows)));
  const labelStep = Math.ceil(9 / rowHeight);
  const height = rows * rowHeight;
  const { queries, keys, weights, mass, range, curve, selected, onSelect } = props;
  const lines = useMemo(
    () => (weights ? strongest(weights, mass, range, curve) : []),
    [weights, mass, range, curve],
  );
  // The drawing is large, so it is memoised.
  const drawing = useMemo(() => {
    const left = widest(queries.map((token) => shorten(token, 12))) + 12;
    const right = Math.max(left + 40, width - widest(keys.map((token) => shorten(token, 12))) - 12);
    const bend = (right - left) / 3;
    const middle = (index: number) => (index + 0.5) * rowHeight;
    const path = ({ row, col }: Line) =>
      `M${left} ${middle(row)}C${left + bend} ${middle(row)} ${right - bend} ${middle(col)} ${right} ${middle(col)}`;
    return (
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={`${lines.length} lines from queries to keys`}
      >
        <g class="line-others" opacity={opacityOf(lines.length)}>
          {pathsOf(
            lines.filter(({ row }) => row !== selected),
            path,
          ).map(([strength, d], i) => (
            <path key={i} d={d} stroke-opacity={strength} />
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
  }, [queries, keys, lines, selected, onSelect, width, height, rowHeight, labelStep]);
  return (
    <>
      <div ref={ref} class="token-lines" style={{ height: px(height) }}>
        {width > 0 && drawing}
      </div>
      <SaveDrawing part={ref} title={props.caption} file="lines" />
    </>
  );
}
