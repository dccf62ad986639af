/** Billions of operations a second over length, or over operations per byte, below the measured limits. */
import { useRef, useState } from "preact/hooks";
import { px } from "#parts";
import { Axes } from "../../picture/Axes";
import { SaveDrawing } from "../../picture/SaveDrawing";
import { lineThrough } from "../../picture/scale";
import { alongStep } from "../../shared/arrowStep";
import { percent } from "../../shared/format";
import { usePointerWords } from "../../shared/useMedia";
import { useWidth } from "../../shared/useWidth";
import { placeIn } from "../../shared/zoom";
import { type Chart, type ChartPoint, chartOf, height } from "./chart";
import { type Contender, limitOf, type SpeedReport, speedOf } from "./report";
import { describe } from "./rows";
import type { ChartAxis } from "./state";
import { threeDigits } from "./units";

const classOf = ({ variant }: Contender) => `by-${variant ?? "javascript"}`;

/** The mark of a measurement. Its shape and its colour both identify the contender. It is hollow for one thread. */
function PointMark({ contender, x, y }: { contender: Contender; x: number; y: number }) {
  const name = `mark ${classOf(contender)}${contender.threads > 1 ? " many" : ""}`;
  const r = 4;
  if (contender.variant === null)
    return <path class={name} d={`M${x} ${y - r - 1}l${r + 1} ${2 * r}h${-2 * r - 2}z`} />;
  if (contender.variant === "simd")
    return <rect class={name} x={x - r} y={y - r} width={2 * r} height={2 * r} />;
  return <circle class={name} cx={x} cy={y} r={r} />;
}

/** The names of an x axis, short and long. */
const axisWords: Readonly<Record<ChartAxis, readonly [string, string]>> = {
  length: ["length", "length in tokens"],
  intensity: ["operations per byte", "operations per byte moved"],
};

/** The index of the point nearest to the pointer, or -1 if none is near. */
function indexUnder(event: MouseEvent, { points, atX, atY }: Chart): number {
  const { x, y } = placeIn(event);
  const distances = points.map((each) => Math.hypot(atX(each) - x, atY(each) - y));
  const least = Math.min(...distances);
  return least < 40 ? distances.indexOf(least) : -1;
}

export function Roofline({ report, axis }: { report: SpeedReport | null; axis: ChartAxis }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const { PointAt } = usePointerWords();
  const part = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState({ index: -1, byKeyboard: false });
  const chart = chartOf(report, axis, width);
  const { points } = chart;
  const point = points[chosen.index];
  const onKeyDown = (event: KeyboardEvent) => {
    const step = alongStep(event);
    if (!step || points.length === 0) return;
    event.preventDefault();
    const from = Math.max(chosen.index, step > 0 ? -1 : 0);
    setChosen({ index: (from + step + points.length) % points.length, byKeyboard: true });
  };
  const [over, named] = axisWords[axis];
  return (
    <div class="roofline-chart" ref={part}>
      <RooflineLegend contenders={chart.contenders} />
      <div
        ref={ref}
        style={{ height: px(height) }}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys go from mark to mark
        tabIndex={0}
        role="application"
        aria-roledescription="chart"
        aria-label={`Operations a second over ${over}, ${points.length} marks; arrow keys go through them, and the table below has all`}
        onKeyDown={onKeyDown}
      >
        {width > 0 && (
          <Drawing
            {...{ chart, width, point }}
            choose={(index) => setChosen({ index, byKeyboard: false })}
          />
        )}
      </div>
      <p class="curve-axes faint">
        billions of operations a second (GFLOP/s) over {named}; both logarithmic
      </p>
      <div class="roofline-save">
        {report?.cases[0] && (
          <SaveDrawing
            part={part}
            file="speed"
            title={`Attention in this browser, ${describe(report.cases[0])}`}
          />
        )}
      </div>
      <p class="roofline-words number" aria-live={chosen.byKeyboard ? "polite" : "off"}>
        {report && point ? (
          wordsOf(report, point)
        ) : (
          <span class="faint">{PointAt} a mark for its figures.</span>
        )}
      </p>
    </div>
  );
}

function RooflineLegend({ contenders }: Pick<Chart, "contenders">) {
  return (
    <p class="curve-legend line small">
      {contenders.map((contender) => (
        <span key={contender.id}>
          <svg width="14" height="12" aria-hidden="true">
            <PointMark contender={contender} x={7} y={6} />
          </svg>{" "}
          {contender.name}
        </span>
      ))}
    </p>
  );
}

interface DrawingProps {
  chart: Chart;
  width: number;
  point: ChartPoint | undefined;
  choose(index: number): void;
}

function Drawing({ chart, width, point, choose }: DrawingProps) {
  const { box, contenders, points, atX, atY } = chart;
  const pointAt = (event: PointerEvent) => choose(indexUnder(event, chart));
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      aria-hidden="true"
      onPointerMove={pointAt}
      onPointerDown={pointAt}
      // A tapped mark stays selected.
      onPointerLeave={({ pointerType }) => pointerType === "mouse" && choose(-1)}
    >
      <Axes box={box} xTicks={chart.xTicks} yTicks={chart.yTicks} />
      <Roofs chart={chart} />
      {contenders.map((contender) => {
        const own = points.filter(
          (each) => each.contender === contender && each.one.kind === "attention",
        );
        return (
          <path
            key={contender.id}
            class={`path ${classOf(contender)}`}
            d={lineThrough(own.map(atX), own.map(atY))}
          />
        );
      })}
      {points.map((each) => (
        <Measured key={`${each.one.id} ${each.contender.id}`} chart={chart} point={each} />
      ))}
      {point && <circle class="chosen" cx={atX(point)} cy={atY(point)} r={9} />}
    </svg>
  );
}

/** The limits, labelled above the upper line and below the lower one, at the side where marks leave space. */
function Roofs({ chart: { axis, box, roofs, placeX, placeY } }: { chart: Chart }) {
  const label =
    axis === "length"
      ? ({ x: box.left + 4, "text-anchor": "start" } as const)
      : ({ x: box.right, "text-anchor": "end" } as const);
  return roofs.map(({ corners, top, label: words }, i) => (
    <g key={words} class="roof">
      <path
        d={lineThrough(
          corners.map(([x]) => placeX(x)),
          corners.map(([, y]) => placeY(y)),
        )}
      />
      <text {...label} y={placeY(top) + (i === 0 ? -6 : 14)}>
        {words}
      </text>
    </g>
  ));
}

/** A measurement: the median of its rounds, and a line from the slowest round to the fastest. */
function Measured({ chart, point }: { chart: Chart; point: ChartPoint }) {
  const { bottom, contenders, placeY } = chart;
  const { one, contender, timing } = point;
  const [x, y] = [chart.atX(point), chart.atY(point)];
  const lowest = Math.max(bottom, speedOf(one, timing.most));
  return (
    <g>
      <path
        class={`path ${classOf(contender)}`}
        d={`M${x} ${placeY(lowest)}V${placeY(speedOf(one, timing.least))}`}
      />
      <PointMark contender={contender} x={x} y={y} />
      {contender === contenders[0] && one.kind !== "attention" && (
        <text class="case-name" x={x} y={placeY(bottom) - 6}>
          {one.kind}
        </text>
      )}
    </g>
  );
}

function wordsOf(report: SpeedReport, { one, contender, timing, y }: ChartPoint): string {
  const limit = limitOf(report, one, contender);
  return [
    `${one.name}, ${contender.name}: ${threeDigits(timing.median)} ms`,
    `${threeDigits(timing.least)} to ${threeDigits(timing.most)} in ${timing.samples.length} rounds`,
    `${threeDigits(y)} GFLOP/s`,
    ...(limit === null ? [] : [`${percent(y / limit)} of the limit`]),
  ].join("; ");
}
