/** The chart of operations a second: its marks, the limits above them, and their places in pixels. */
import { logPlaceOf, logTicks, type Tick } from "../../picture/scale";
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
import type { ChartAxis } from "./state";
import { threadsOf, threeDigits } from "./units";

export const height = 360;
/** The least distance between two ticks along x, which are powers of two. */
const tickDistance = 40;
/** Marks of the same case are placed side by side. */
const apart = 5;

/** A measurement; y is in billions of operations a second. */
export interface ChartPoint {
  readonly one: Case;
  readonly contender: Contender;
  readonly timing: Timing;
  readonly x: number;
  readonly y: number;
}

/** A limit, as a line through corners with its name. */
export interface Roof {
  readonly corners: readonly (readonly [x: number, y: number])[];
  readonly top: number;
  readonly label: string;
}

const placeOf = (one: Case, axis: ChartAxis) =>
  axis === "length" ? one.sizes.queries : intensityOf(one);

/** Only attention of a sequence to itself has its length as its size. */
const casesOf = (report: SpeedReport, axis: ChartAxis) =>
  report.cases.filter(({ kind }) => axis === "intensity" || kind === "attention");

function pointsOf(report: SpeedReport, axis: ChartAxis): ChartPoint[] {
  return casesOf(report, axis).flatMap((one) =>
    report.contenders.flatMap((contender) => {
      const timing = measurementOf(report, one, contender)?.timing;
      const x = placeOf(one, axis);
      return timing ? [{ one, contender, timing, x, y: speedOf(one, timing.median) }] : [];
    }),
  );
}

/** The corners of a contender's limit; null before it is measured. */
function cornersOf(
  report: SpeedReport,
  axis: ChartAxis,
  contender: Contender,
  [low, high]: readonly [number, number],
): Roof["corners"] | null {
  const peak = peakOf(report, "arithmetic", contender);
  const memory = peakOf(report, "memory", contender);
  if (!peak || !memory) return null;
  if (axis === "intensity") {
    const ridge = Math.min(high, Math.max(low, peak / memory));
    return [low, ridge, high].map((x) => [x, Math.min(peak, memory * x) / 1e9]);
  }
  return casesOf(report, axis).map((one) => [
    placeOf(one, axis),
    limitOf(report, one, contender) ?? peak / 1e9,
  ]);
}

/** The engine's limits with all threads and with one. Two with the same figure are one line and share a label. */
export function roofsOf(
  report: SpeedReport,
  axis: ChartAxis,
  range: readonly [number, number],
): Roof[] {
  const variant = report.contenders[0]?.variant;
  const own = report.contenders.filter((one) => one.variant === variant);
  const most = Math.max(...own.map(({ threads }) => threads));
  const roofs = own
    .filter(({ threads }) => threads === most || threads === 1)
    .flatMap((contender) => {
      const corners = cornersOf(report, axis, contender, range);
      const top = corners?.at(-1)?.[1];
      return corners && top !== undefined ? [{ ...contender, corners, top }] : [];
    });
  const figures = [...new Set(roofs.map(({ top }) => threeDigits(top)))];
  return figures.flatMap((figure) => {
    const same = roofs.filter(({ top }) => threeDigits(top) === figure);
    const names = same.map(({ threads }) => threadsOf(threads)).join(" and in ");
    return same.slice(0, 1).map((roof) => ({ ...roof, label: `limit in ${names}: ${figure}` }));
  });
}

function rangeOf(report: SpeedReport | null, axis: ChartAxis): [low: number, high: number] {
  const places = report ? casesOf(report, axis).map((one) => placeOf(one, axis)) : [];
  const [low, high] = [Math.min(64, ...places), Math.max(128, ...places)];
  return axis === "length" ? [low, high] : [Math.min(0.25, low / 2), high * 1.5];
}

export function chartOf(report: SpeedReport | null, axis: ChartAxis, width: number) {
  const [low, high] = rangeOf(report, axis);
  const points = report ? pointsOf(report, axis) : [];
  const roofs = report ? roofsOf(report, axis, [low, high]) : [];
  const top = 1.5 * Math.max(10, ...roofs.map((roof) => roof.top), ...points.map(({ y }) => y));
  const lowest = roofs.flatMap(({ corners }) => corners.map(([, y]) => y));
  const bottom = Math.min(0.5, ...lowest, ...points.map(({ y }) => 0.7 * y));
  const left = 44;
  const box = { left, right: Math.max(left + 1, width - 16), top: 8, bottom: height - 24 };
  const edge = axis === "length" ? 24 : 0;
  const placeX = logPlaceOf({ low, high }, box.left + edge, box.right - edge);
  const placeY = logPlaceOf({ low: bottom, high: top }, box.bottom, box.top);
  const contenders = report?.contenders ?? [];
  const middle = (contenders.length - 1) / 2;
  const first = Math.ceil(Math.log2(low));
  const powers = Math.floor(Math.log2(high)) - first + 1;
  const xTicks = Array.from({ length: powers }, (_, i) => 2 ** (first + i));
  const every = Math.ceil((xTicks.length * tickDistance) / Math.max(1, box.right - box.left));
  return {
    ...{ axis, box, bottom, contenders, points, roofs, placeX, placeY },
    xTicks: xTicks
      .filter((_, i) => i % every === 0)
      .map(
        (tick): Tick => ({
          at: placeX(tick),
          text: tick < 1 ? `1/${Math.round(1 / tick)}` : String(tick),
        }),
      ),
    yTicks: logTicks({ low: bottom, high: top }, placeY),
    atX: ({ x, contender }: ChartPoint) =>
      placeX(x) + apart * (contenders.indexOf(contender) - middle),
    atY: ({ y }: ChartPoint) => placeY(y),
  };
}

export type Chart = ReturnType<typeof chartOf>;
