/** Attention of the chosen head as lines: queries on the left, keys on the right, stronger where more is taken. */
import { useMemo } from "preact/hooks";
import { weightShare } from "../colour";
import { shorten } from "../format";
import { px, widest } from "../layout";
import { at, type View, viewOf } from "../matrices";
import { usePage } from "../page";
import { allowedRanges } from "../state";
import { useWidth } from "../useWidth";
import { Slider } from "./Fields";

interface Line {
  readonly row: number;
  readonly col: number;
  readonly strength: number;
}

/** More marks than this make a drawing slow and say nothing more. */
const mostLines = 2000;

/** Where more lines than this lie over one another, each is drawn fainter. */
const fewLines = 150;

/** For every query its strongest keys, as many as it takes to carry `mass` of its attention. */
function strongest(
  weights: View,
  mass: number,
  share: (weight: number, largest: number) => number,
): Line[] {
  const lines: Line[] = [];
  for (let row = 0; row < weights.rows; ++row) {
    const cols = Array.from({ length: weights.cols }, (_, col) => ({
      col,
      weight: at(weights, row, col),
    }));
    cols.sort((a, b) => b.weight - a.weight);
    const largest = cols[0]?.weight ?? 0;
    let carried = 0;
    for (const { col, weight } of cols) {
      // Rounding must not drop the last line of "all of it".
      if (weight === 0 || carried > mass - 1e-6) break;
      lines.push({ row, col, strength: share(weight, largest) });
      carried += weight;
    }
  }
  return lines.sort((a, b) => b.strength - a.strength).slice(0, mostLines);
}

/** The drawing itself, which is large: it is made anew only when something in it changes. */
function useDrawing(width: number, height: number, rowHeight: number) {
  const { scene, solution, state, set } = usePage();
  const { range, curve, mass } = state;
  return useMemo(() => {
    const queries = scene.queries.tokens.map((token) => shorten(token, 12));
    const keys = scene.keys.tokens.map((token) => shorten(token, 12));
    const left = widest(queries) + 12;
    const right = Math.max(left + 40, width - widest(keys) - 12);
    const bend = (right - left) / 3;
    const middle = (index: number) => (index + 0.5) * rowHeight;
    const path = ({ row, col }: Line) =>
      `M${left} ${middle(row)}C${left + bend} ${middle(row)} ${right - bend} ${middle(col)} ${right} ${middle(col)}`;
    const weights = solution && viewOf(solution, "weights", scene.head);
    const lines = weights ? strongest(weights, mass / 100, weightShare(range, curve)) : [];
    return (
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={`${lines.length} lines from queries to keys`}
      >
        <g class="line-others" opacity={Math.min(1, fewLines / lines.length)}>
          {lines
            .filter(({ row }) => row !== scene.row)
            .map((line) => (
              <path key={`${line.row} ${line.col}`} d={path(line)} stroke-opacity={line.strength} />
            ))}
        </g>
        <g class="line-selected">
          {lines
            .filter(({ row }) => row === scene.row)
            .map((line) => (
              <path
                key={line.col}
                d={path(line)}
                stroke-opacity={0.15 + 0.85 * line.strength}
                stroke-width={1 + 4 * line.strength}
              />
            ))}
        </g>
        <g class="line-labels" font-size={Math.min(12, rowHeight - 1)}>
          {queries.map((token, i) => (
            // biome-ignore lint/a11y/noStaticElementInteractions: the table's heading selects a query by keyboard
            <text
              key={i}
              class={i === scene.row ? "selectable selected" : "selectable"}
              x={left - 6}
              y={middle(i)}
              text-anchor="end"
              onClick={() => set({ row: i })}
            >
              {token}
            </text>
          ))}
          {keys.map((token, i) => (
            <text key={i} x={right + 6} y={middle(i)}>
              {token}
            </text>
          ))}
        </g>
      </svg>
    );
  }, [scene, solution, range, curve, mass, set, width, height, rowHeight]);
}

export function Lines() {
  const { scene, state, set } = usePage();
  const [ref, width] = useWidth<HTMLDivElement>();
  const rows = Math.max(scene.queries.tokens.length, scene.keys.tokens.length, 1);
  const rowHeight = Math.max(11, Math.min(32, Math.floor(400 / rows)));
  const height = rows * rowHeight;
  const drawing = useDrawing(width, height, rowHeight);
  return (
    <section class="lines" aria-labelledby="lines-title">
      <h3 id="lines-title">Who looks at whom{scene.heads > 1 && `, head ${scene.head + 1}`}</h3>
      <div ref={ref} style={{ height: px(height) }}>
        {width > 0 && drawing}
      </div>
      <Slider
        label="Lines that carry"
        value={state.mass}
        limits={allowedRanges.mass}
        step={5}
        text={state.mass === 100 ? "all attention" : `the top ${state.mass} %`}
        onChange={(mass) => set({ mass })}
      />
    </section>
  );
}
