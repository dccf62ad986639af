/** The series with its gap, the values that the model filled in, and the weights of a hidden value. */
import { format, formatWeight, widest } from "#parts";
import { Axes } from "../../../picture/Axes";
import { lineThrough, placedTicks, scaleOf } from "../../../picture/scale";
import { arrowStep } from "../../../shared/arrowStep";
import type { PointedCell } from "../../../shared/Reading";
import { placeIn } from "../../../shared/zoom";
import type { PanelProps } from "../state";
import { type Plot, WeightsPlot } from "../WeightsPlot";
import type { ShownSeries } from "./SeriesWeights";
import type { FilledSeries } from "./solve";

const size = { height: 300, rowHeight: 90 };

/** A range that includes all values. It is symmetric if they are on both sides of 0. */
function rangeAround(least: number, most: number) {
  if (least < 0 && most > 0) {
    const size = Math.max(-least, most);
    return { low: -size, high: size };
  }
  const room = (most - least || Math.abs(most) || 1) / 10;
  return { low: least - room, high: most + room };
}

interface SeriesPlotProps
  extends Pick<ShownSeries, "answer" | "row" | "weights">,
    Pick<PanelProps, "set"> {
  /** Explains the weight of the value at a position. */
  point: PointedCell<number>["point"];
}

/** The first and the last hidden position. */
function gapOf({ isHidden }: FilledSeries): { first: number; last: number } {
  return { first: isHidden.indexOf(true), last: isHidden.lastIndexOf(true) };
}

function frameOf({ values, filled, hasTruth }: FilledSeries, { width }: Plot) {
  const { height } = size;
  const drawn = hasTruth ? [...values, ...filled] : filled;
  const yRange = rangeAround(Math.min(...drawn), Math.max(...drawn));
  const [top, bottom] = [10, height - 20];
  const { place: placeY } = scaleOf(yRange, bottom, top);
  const yTicks = placedTicks(yRange, height / 80, placeY);
  const left = Math.max(36, 12 + widest(yTicks.map(({ text }) => text)));
  const box = { left, right: Math.max(80, width - 12), top, bottom };
  const xRange = { low: 0, high: values.length - 1 };
  const { place: placeX, value: xAt } = scaleOf(xRange, left + 4, box.right - 4);
  const positions = { low: 1, high: values.length };
  const xTicks = placedTicks(positions, width / 60, (position) => placeX(position - 1));
  return { box, xTicks, yTicks, placeX, placeY, xAt };
}

type Framed = SeriesPlotProps & { plot: Plot; frame: ReturnType<typeof frameOf> };

export function SeriesPlot(props: SeriesPlotProps) {
  const { values, isHidden } = props.answer;
  const hidden = isHidden.filter(Boolean).length;
  return (
    <WeightsPlot
      {...size}
      label={`A series of ${values.length} values, of which ${hidden} are hidden and filled in`}
    >
      {(plot) => {
        const framed = { ...props, plot, frame: frameOf(props.answer, plot) };
        return [<Drawn key="drawn" {...framed} />, <Handle key="handle" {...framed} />];
      }}
    </WeightsPlot>
  );
}

/** Draws the axes, the lines and the weights. */
function Drawn({ answer, row, weights, plot, frame }: Framed) {
  const { rowBottom, rowHeight } = plot;
  const { box, placeX, placeY } = frame;
  const { values, isHidden, filled } = answer;
  const { first, last } = gapOf(answer);
  const alikeTo = new Set(answer.alike[row]);
  const largest = Math.max(...weights, 1e-9);
  return (
    <svg width={plot.width} height={plot.height} aria-hidden="true">
      <rect
        class="gap"
        x={placeX(first - 0.5)}
        y={0}
        width={placeX(last + 0.5) - placeX(first - 0.5)}
        height={rowBottom}
      />
      <Axes box={{ ...box, bottom: rowBottom + 12 }} xTicks={frame.xTicks} yTicks={frame.yTicks} />
      <Lines answer={answer} frame={frame} />
      {Array.from(values, (value, t) => {
        const weight = weights[t] as number;
        const isAlike = alikeTo.has(t);
        const place = { cx: placeX(t), cy: placeY(value) };
        const stemTop = rowBottom - (weight / largest) * (rowHeight - 16);
        return (
          <g key={t} class={isAlike ? "alike" : undefined}>
            {isAlike && <circle class="ring" {...place} r={9} />}
            {!isHidden[t] && (
              <circle class="dot" {...place} r={2.5 + 4 * Math.sqrt(weight / largest)} />
            )}
            <path class="stem" d={`M${place.cx} ${rowBottom}V${stemTop}`} />
          </g>
        );
      })}
      {Array.from(filled, (value, t) => {
        const place = { cx: placeX(t), cy: placeY(value) };
        return isHidden[t] && <circle key={t} class="answer" {...place} r={t === row ? 6 : 3.5} />;
      })}
      <path class="query-line" d={`M${placeX(row)} ${box.top}V${rowBottom}`} />
      <text class="plot-word" x={box.left} y={plot.rowTop - 8}>
        weights up to {formatWeight(largest)}
      </text>
    </svg>
  );
}

/** The known values, and over the gap the hidden values, a straight line and the filled values. */
function Lines({ answer, frame: { placeX, placeY } }: Pick<Framed, "answer" | "frame">) {
  const { values, filled, hasTruth } = answer;
  const { first, last } = gapOf(answer);
  const positions = Array.from(values, (_, t) => t);
  const line = (from: number, to: number, y: Float64Array) =>
    lineThrough(positions.slice(from, to + 1), y.subarray(from, to + 1), placeX, placeY);
  const ends = [first - 1, last + 1] as const;
  const atEnds = ends.map((t) => values[t] as number);
  return (
    <>
      <path
        class="known"
        d={`${line(0, first - 1, values)}${line(last + 1, values.length - 1, values)}`}
      />
      {hasTruth && <path class="truth" d={line(...ends, values)} />}
      <path class="straight" d={lineThrough(ends, atEnds, placeX, placeY)} />
      <path class="estimate" d={line(...ends, filled)} />
    </>
  );
}

/** Selects the hidden value by a click or by keyboard, and reports the value under the pointer. */
function Handle({ answer, row, set, point, plot, frame: { placeX, xAt } }: Framed) {
  const { values, filled, hasTruth } = answer;
  const { first, last } = gapOf(answer);
  const choose = (position: number) => set({ value: Math.max(first, Math.min(last, position)) });
  const positionAt = (event: MouseEvent) =>
    Math.max(0, Math.min(values.length - 1, Math.round(xAt(placeIn(event).x))));
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: its contents are labelled
    // biome-ignore lint/a11y/useKeyWithClickEvents: the handle inside handles the keyboard
    <svg
      width={plot.width}
      height={plot.height}
      onClick={(event) => choose(positionAt(event))}
      onPointerMove={(event) => point(positionAt(event), "pointer")}
      onPointerLeave={() => point(null, "pointer")}
    >
      <g
        class="query-handle"
        role="slider"
        tabindex={0}
        aria-label="Hidden value that attends"
        aria-valuemin={first + 1}
        aria-valuemax={last + 1}
        aria-valuenow={row + 1}
        aria-valuetext={`position ${row + 1}: filled with ${format(filled[row] as number)}${hasTruth ? `, hidden was ${format(values[row] as number)}` : ""}`}
        onKeyDown={(event) => {
          const step = arrowStep(event);
          if (!step) return;
          choose(row + step[0] + step[1]);
          event.preventDefault();
        }}
      >
        <path d={`M${placeX(row)} ${plot.rowBottom}l7 10h-14Z`} />
      </g>
    </svg>
  );
}
