/** Axes: ranges, and ticks at round numbers. */
import { format } from "heed/view/parts";

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
