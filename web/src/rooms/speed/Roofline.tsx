/** Billions of operations a second over length, or over operations per byte, below the measured limits. */

import { px } from "heed/view/parts";
import { useRef, useState } from "preact/hooks";
import { Axes } from "../../picture/Axes";
import { SaveDrawing } from "../../picture/SaveDrawing";
import { lineThrough, scaleOf } from "../../picture/scale";
import { percent } from "../../shared/format";
import { usePointerWords } from "../../shared/useMedia";
import { useWidth } from "../../shared/useWidth";
import { placeIn } from "../../shared/zoom";
import {
  type Case,
  type Contender,
  intensityOf,
  limitOf,
  measurementOf,
  peakOf,
  type SpeedReport,
  speedOf,
  type Timing,
} from "./report";
import { describe } from "./rows";
import type { ChartAxis } from "./state";
import { threeDigits } from "./units";

const height = 360;

/** Marks of the same case are placed side by side. */
const apart = 5;

interface ChartPoint {
  readonly one: Case;
  readonly contender: Contender;
  readonly timing: Timing;
  readonly x: number;
  readonly y: number;
}

/** Positions of numbers on a logarithmic axis. */
function logScale(low: number, high: number, from: number, to: number) {
  const { place } = scaleOf({ low: Math.log(low), high: Math.log(high) }, from, to);
  return (value: number) => place(Math.log(value));
}

/** Powers of `base` within a range and, for base ten, also 2 and 5 times those powers. */
function logTicks(low: number, high: number, base: 2 | 10): number[] {
  const ticks: number[] = [];
  const first = Math.floor(Math.log(low) / Math.log(base) + 1e-9);
  for (let power = first; base ** power <= high * 1.001; ++power)
    for (const factor of base === 10 ? [1, 2, 5] : [1]) {
      const tick = factor * base ** power;
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
    }
  return ticks;
}

const placeOf = (one: Case, axis: ChartAxis) =>
  axis === "length" ? one.sizes.queries : intensityOf(one);

const casesOf = (report: SpeedReport, axis: ChartAxis) =>
  report.cases.filter(({ kind }) => axis === "intensity" || kind === "attention");

function pointsOf(report: SpeedReport, axis: ChartAxis): ChartPoint[] {
  return casesOf(report, axis).flatMap((one) =>
    report.contenders.flatMap((contender) => {
      const timing = measurementOf(report, one, contender)?.timing;
      if (!timing) return [];
      const y = speedOf(one, timing.median);
      return [{ one, contender, timing, x: placeOf(one, axis), y }];
    }),
  );
}

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

interface Roof {
  readonly threads: number;
  readonly corners: readonly (readonly [number, number])[];
  readonly top: number;
}

/** The limits of the engine with its default options, with all threads and with one. */
function roofsOf(report: SpeedReport, axis: ChartAxis, low: number, high: number): Roof[] {
  const variant = report.contenders[0]?.variant;
  const own = report.contenders.filter((one) => one.variant === variant);
  const most = Math.max(...own.map(({ threads }) => threads));
  return own
    .filter(({ threads }) => threads === most || threads === 1)
    .flatMap((contender): Roof[] => {
      const { threads } = contender;
      const [peak, memory] = [
        peakOf(report, "arithmetic", contender),
        peakOf(report, "memory", contender),
      ];
      if (!peak || !memory) return [];
      const top = peak / 1e9;
      if (axis === "intensity") {
        const ridge = Math.min(high, Math.max(low, peak / memory));
        const at = (x: number) => Math.min(peak, memory * x) / 1e9;
        return [{ threads, top, corners: [low, ridge, high].map((x) => [x, at(x)] as const) }];
      }
      const corners = casesOf(report, axis).map(
        (one) => [placeOf(one, axis), limitOf(report, one, contender) ?? top] as const,
      );
      return [{ threads, top: corners.at(-1)?.[1] ?? top, corners }];
    });
}

const roofWords = ({ threads, top }: Roof) =>
  `${threads === 1 ? "1 thread" : `${threads} threads`}: ${threeDigits(top)}`;

/** The range of the x axis. */
function rangeOf(report: SpeedReport | null, axis: ChartAxis): [low: number, high: number] {
  const places = report ? casesOf(report, axis).map((one) => placeOf(one, axis)) : [];
  const [low, high] = [Math.min(64, ...places), Math.max(128, ...places)];
  return axis === "length" ? [low, high] : [Math.min(0.25, low / 2), high * 1.5];
}

function chartOf(report: SpeedReport | null, axis: ChartAxis, width: number) {
  const [low, high] = rangeOf(report, axis);
  const points = report ? pointsOf(report, axis) : [];
  const roofs = report ? roofsOf(report, axis, low, high) : [];
  const top = 1.5 * Math.max(10, ...roofs.map((roof) => roof.top), ...points.map(({ y }) => y));
  const bottom = Math.min(0.5, ...points.map(({ y }) => 0.7 * y));

  const left = 44;
  const box = { left, right: Math.max(left + 1, width - 16), top: 8, bottom: height - 24 };
  const edge = axis === "length" ? 24 : 0;
  const placeX = logScale(low, high, box.left + edge, box.right - edge);
  const placeY = logScale(bottom, top, box.bottom, box.top);
  const contenders = report?.contenders ?? [];
  const middle = (contenders.length - 1) / 2;
  const xTicks = logTicks(low, high, 2);
  const every = Math.ceil((xTicks.length * 40) / Math.max(1, box.right - box.left));
  return {
    axis,
    box,
    bottom,
    contenders,
    points,
    roofs,
    placeX,
    placeY,
    xTicks: xTicks
      .filter((_, i) => i % every === 0)
      .map((tick) => ({
        at: placeX(tick),
        text: tick < 1 ? `1/${Math.round(1 / tick)}` : String(tick),
      })),
    yTicks: logTicks(bottom, top, 10).map((tick) => ({
      at: placeY(tick),
      text: threeDigits(tick).replace(/\.0+$/, ""),
    })),
    atX: ({ x, contender }: ChartPoint) =>
      placeX(x) + apart * (contenders.indexOf(contender) - middle),
    atY: ({ y }: ChartPoint) => placeY(y),
  };
}

type Chart = ReturnType<typeof chartOf>;

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
  const [chosen, setChosen] = useState(-1);
  const [byKeyboard, setByKeyboard] = useState(false);
  const chart = chartOf(report, axis, width);
  const { points } = chart;
  const point = points[chosen];
  const choose = (index: number, byKeyboard: boolean) => {
    setByKeyboard(byKeyboard);
    setChosen(index);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || points.length === 0) return;
    event.preventDefault();
    choose((Math.max(chosen, step > 0 ? -1 : 0) + step + points.length) % points.length, true);
  };
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
        aria-label={`Operations a second over ${axis === "length" ? "length" : "operations per byte"}, ${points.length} marks; the arrow keys go through them, and the table below has them all`}
        onKeyDown={onKeyDown}
      >
        {width > 0 && <Drawing chart={chart} width={width} point={point} choose={choose} />}
      </div>
      <p class="curve-axes faint">
        billions of operations a second (GFLOP/s) over{" "}
        {axis === "length" ? "length in tokens" : "operations per byte that has to be moved"}; both
        logarithmic
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
      <p class="roofline-words number" aria-live={byKeyboard ? "polite" : "off"}>
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
    <p class="curve-legend">
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

function Drawing({
  chart,
  width,
  point,
  choose,
}: {
  chart: Chart;
  width: number;
  point: ChartPoint | undefined;
  choose(index: number, byKeyboard: boolean): void;
}) {
  const { box, contenders, points, atX, atY } = chart;
  const pointAt = (event: PointerEvent) => choose(indexUnder(event, chart), false);
  return (
    <svg
      width={width}
      height={height}
      aria-hidden="true"
      onPointerMove={pointAt}
      onPointerDown={pointAt}
      // A tapped mark stays selected.
      onPointerLeave={({ pointerType }) => pointerType === "mouse" && choose(-1, false)}
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

/**
 * The limits and their labels, which are where the chart has space: at short lengths, which reach the least speed, or
 * at high intensities. Two limits that nearly touch share one label.
 */
function Roofs({ chart: { axis, box, roofs, placeX, placeY } }: { chart: Chart }) {
  const label =
    axis === "length"
      ? ({ x: box.left + 4, "text-anchor": "start" } as const)
      : ({ x: box.right, "text-anchor": "end" } as const);
  const [upper, lower] = roofs;
  const areClose = upper && lower && Math.abs(placeY(upper.top) - placeY(lower.top)) < 24;
  return roofs.map((roof, i) => (
    <g key={roof.threads} class="roof">
      <path
        d={lineThrough(
          roof.corners.map(([x]) => placeX(x)),
          roof.corners.map(([, y]) => placeY(y)),
        )}
      />
      {(i === 0 || !areClose) && (
        <text {...label} y={placeY(roof.top) + (i === 0 ? -6 : 14)}>
          limit in {areClose ? roofs.map(roofWords).join(", in ") : roofWords(roof)}
        </text>
      )}
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
