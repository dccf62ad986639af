/** Billions of operations a second over length, or over operations per byte, below the measured limits. */

import { px } from "heed/view/parts";
import { useRef, useState } from "preact/hooks";
import { SaveDrawing } from "../../picture/SaveDrawing";
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
  const length = Math.log(high / low);
  return (value: number) => from + ((to - from) * Math.log(value / low)) / length;
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

function pointsOf(report: SpeedReport, axis: ChartAxis): ChartPoint[] {
  return report.cases
    .filter(({ kind }) => axis === "intensity" || kind === "attention")
    .flatMap((one) =>
      report.contenders.flatMap((contender) => {
        const timing = measurementOf(report, one, contender)?.timing;
        if (!timing) return [];
        const y = speedOf(one, timing.median);
        return [{ one, contender, timing, x: placeOf(one, axis), y }];
      }),
    );
}

/** The mark of a measurement. Its shape and its colour both identify the contender. It is hollow for one thread. */
function PointMark({ contender, x, y }: { contender: Contender; x: number; y: number }) {
  const name = `mark by-${contender.variant ?? "javascript"}${contender.threads > 1 ? " many" : ""}`;
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
      const corners = report.cases
        .filter(({ kind }) => kind === "attention")
        .map((one) => [placeOf(one, axis), limitOf(report, one, contender) ?? top] as const);
      return [{ threads, top: corners.at(-1)?.[1] ?? top, corners }];
    });
}

const roofWords = ({ threads, top }: Roof) =>
  `${threads === 1 ? "1 thread" : `${threads} threads`}: ${threeDigits(top)}`;

export function Roofline({ report, axis }: { report: SpeedReport | null; axis: ChartAxis }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const { PointAt } = usePointerWords();
  const chart = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState(-1);
  const [byKeyboard, setByKeyboard] = useState(false);
  const cases = report?.cases.filter(({ kind }) => axis === "intensity" || kind === "attention");
  const places = (cases ?? []).map((one) => placeOf(one, axis));
  const [low, high] = [Math.min(64, ...places), Math.max(128, ...places)].map((edge, i) =>
    axis === "intensity" ? (i === 0 ? Math.min(0.25, edge / 2) : edge * 1.5) : edge,
  ) as [number, number];
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
  const atX = ({ x, contender }: ChartPoint) =>
    placeX(x) + apart * (contenders.indexOf(contender) - middle);
  const atY = ({ y }: ChartPoint) => placeY(y);
  const yTicks = logTicks(bottom, top, 10);
  const xTicks = logTicks(low, high, 2);
  const every = Math.ceil((xTicks.length * 40) / Math.max(1, box.right - box.left));

  // The labels are where the chart has space: at short lengths, which reach the least speed, or at high intensities.
  // Two roofs that nearly touch share one label.
  const labelsLeft = axis === "length";
  const labelX = labelsLeft ? box.left + 4 : box.right;
  const [upper, lower] = roofs;
  const areClose = upper && lower && Math.abs(placeY(upper.top) - placeY(lower.top)) < 24;

  const point = points[chosen];
  const words = report && point ? wordsOf(report, point) : null;
  const nearest = (event: MouseEvent) => {
    const { x, y } = placeIn(event);
    const distances = points.map((each) => Math.hypot(atX(each) - x, atY(each) - y));
    const least = Math.min(...distances);
    return least < 40 ? distances.indexOf(least) : -1;
  };
  const pointAt = (event: PointerEvent) => {
    setByKeyboard(false);
    setChosen(nearest(event));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || points.length === 0) return;
    event.preventDefault();
    setByKeyboard(true);
    setChosen((now) => (Math.max(now, step > 0 ? -1 : 0) + step + points.length) % points.length);
  };

  return (
    <div class="roofline-chart" ref={chart}>
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
        {width > 0 && (
          <svg
            width={width}
            height={height}
            aria-hidden="true"
            onPointerMove={pointAt}
            onPointerDown={pointAt}
            // A tapped mark stays selected.
            onPointerLeave={({ pointerType }) => pointerType === "mouse" && setChosen(-1)}
          >
            <g class="curve-grid">
              {yTicks.map((tick) => (
                <path key={tick} d={`M${box.left} ${placeY(tick)}H${box.right}`} />
              ))}
            </g>
            <g class="curve-ticks number">
              {yTicks.map((tick) => (
                <text key={tick} x={left - 6} y={placeY(tick)} text-anchor="end" dy="0.35em">
                  {threeDigits(tick).replace(/\.0+$/, "")}
                </text>
              ))}
              {xTicks.map(
                (tick, i) =>
                  i % every === 0 && (
                    <text key={tick} x={placeX(tick)} y={height - 6} text-anchor="middle">
                      {tick < 1 ? `1/${Math.round(1 / tick)}` : tick}
                    </text>
                  ),
              )}
            </g>
            {roofs.map(({ threads, corners, top }, i) => (
              <g key={threads} class="roof">
                <path
                  d={corners
                    .map(([x, y], i) => `${i ? "L" : "M"}${placeX(x)} ${placeY(y)}`)
                    .join("")}
                />
                {(i === 0 || !areClose) && (
                  <text
                    x={labelX}
                    y={placeY(top) + (i === 0 ? -6 : 14)}
                    text-anchor={labelsLeft ? "start" : "end"}
                  >
                    limit in{" "}
                    {areClose ? roofs.map(roofWords).join(", in ") : roofWords(roofs[i] as Roof)}
                  </text>
                )}
              </g>
            ))}
            {contenders.map((contender) => (
              <path
                key={contender.id}
                class={`path by-${contender.variant ?? "javascript"}`}
                d={points
                  .filter((each) => each.contender === contender && each.one.kind === "attention")
                  .map((each, i) => `${i ? "L" : "M"}${atX(each)} ${atY(each)}`)
                  .join("")}
              />
            ))}
            {points.map((each) => {
              const { one, contender, timing } = each;
              const [x, y] = [atX(each), atY(each)];
              const lowest = Math.max(bottom, speedOf(one, timing.most));
              return (
                <g key={`${one.id} ${contender.id}`}>
                  <path
                    class={`path by-${contender.variant ?? "javascript"}`}
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
            })}
            {point && <circle class="chosen" cx={atX(point)} cy={atY(point)} r={9} />}
          </svg>
        )}
      </div>
      <p class="curve-axes faint">
        billions of operations a second (GFLOP/s) over{" "}
        {axis === "length" ? "length in tokens" : "operations per byte that has to be moved"}; both
        logarithmic
      </p>
      <div class="roofline-save">
        {report?.cases[0] && (
          <SaveDrawing
            part={chart}
            file="speed"
            title={`Attention in this browser, ${describe(report.cases[0])}`}
          />
        )}
      </div>
      <p class="roofline-words number" aria-live={byKeyboard ? "polite" : "off"}>
        {words ?? <span class="faint">{PointAt} a mark for its figures.</span>}
      </p>
    </div>
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
