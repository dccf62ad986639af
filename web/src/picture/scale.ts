/** Axes: ranges, and ticks at round numbers. */
import { format } from "#parts";

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Round numbers within a range: 1, 2 or 5 times a power of ten apart, about `count` of them. */
export function ticksOf({ low, high }: Interval, count: number): number[] {
  const rough = (high - low) / Math.max(1, count);
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) as number);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
}

/** The ticks as text, with enough decimals to distinguish them. */
export function textsOf(ticks: readonly number[]): string[] {
  const step = ticks.length > 1 ? (ticks[1] as number) - (ticks[0] as number) : 1;
  const decimals = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  return ticks.map((tick) => format(tick, decimals));
}

/** The range of all numbers, never empty: a constant curve is in the middle. */
export function rangeOfAll(numbers: Iterable<number>): Interval {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of numbers) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return { low: 0, high: 1 };
  return low === high ? { low: low - 0.5, high: high + 0.5 } : { low, high };
}

/** The index in `sorted` of the number nearest to `wanted`. */
export function nearest(sorted: ArrayLike<number>, wanted: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  const isBelowNearer =
    low > 0 && wanted - (sorted[low - 1] as number) < (sorted[low] as number) - wanted;
  return isBelowNearer ? low - 1 : low;
}

export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Converts between the numbers of an axis and positions in pixels; an empty range is at `from`. */
export function scaleOf({ low, high }: Interval, from: number, to: number) {
  const place = (value: number) => from + ((value - low) / (high - low || 1)) * (to - from);
  const value = (place: number) => low + ((place - from) / (to - from)) * (high - low);
  return { place, value };
}

/** The positions of numbers on a logarithmic axis. Numbers below the range, such as 0, are at its low end. */
export function logPlaceOf({ low, high }: Interval, from: number, to: number) {
  const { place } = scaleOf({ low: Math.log10(low), high: Math.log10(high) }, from, to);
  return (value: number) => place(Math.log10(Math.max(low, value)));
}

const itself = (value: number) => value;

/** A line through points, given in pixels or with their scales. It has a gap where y is not finite. */
export function lineThrough(
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  placeX: (value: number) => number = itself,
  placeY: (value: number) => number = itself,
): string {
  let path = "";
  let isDrawing = false;
  for (let i = 0; i < x.length; ++i) {
    const [a, b] = [x[i] as number, y[i] as number];
    if (Number.isFinite(b))
      path += `${isDrawing ? "L" : "M"}${placeX(a).toFixed(1)} ${placeY(b).toFixed(1)}`;
    isDrawing = Number.isFinite(b);
  }
  return path;
}

export interface Tick {
  /** Its position on the axis in pixels. */
  readonly at: number;
  readonly text: string;
}

/** About `count` ticks at round numbers of a range. */
export function placedTicks(range: Interval, count: number, place: (value: number) => number) {
  const ticks = ticksOf(range, Math.max(2, Math.floor(count)));
  const texts = textsOf(ticks);
  return ticks.map((tick, i) => ({ at: place(tick), text: texts[i] as string }));
}

/** The least pixels between two powers of ten with ticks between them. */
const leastDecade = 60;

/** Ticks of a logarithmic axis at powers of ten and, if there is room, at 2 and 5 times these. */
export function logTicks({ low, high }: Interval, place: (value: number) => number): Tick[] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const digits = Math.abs(place(10 * low) - place(low)) < leastDecade ? [1] : [1, 2, 5];
  const powers = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  return powers
    .flatMap((power) => digits.map((digit) => Number(`${digit}e${power}`)))
    .filter((value) => value >= low && value <= high)
    .map((value) => ({ at: place(value), text: String(value) }));
}
