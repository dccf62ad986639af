// The task of series: periodic values with a gap that the model fills in.

import { refuse } from "../../core/error.js";
import { type Check, isWholeNumber } from "../../core/validate.js";
import type { Generator } from "../../nn/random.js";
import type { Series, Task } from "../examples.js";
import { between, share } from "./draw.js";
import { checkOrder, drawFrom, withDefaults } from "./task.js";

export type SeriesOptions = {
  /** The number of values; 48 by default. */
  length: number;
  /** The period, in values: 6 to 16 by default. */
  minPeriod: number;
  maxPeriod: number;
  /** The number of hidden values: 6 to 12 by default. */
  minGap: number;
  maxGap: number;
  /** The maximum rise or fall from the first to the last value; 0.5 by default. */
  trend: number;
  /** The maximum magnitude of the noise of a value; 0.03 by default. */
  noise: number;
};

const defaults: SeriesOptions = {
  ...{ length: 48, minPeriod: 6, maxPeriod: 16, minGap: 6, maxGap: 12 },
  ...{ trend: 0.5, noise: 0.03 },
};
const isUpToOne: Check = {
  expected: "a number from 0 to 1",
  accepts: (value) => typeof value === "number" && value >= 0 && value <= 1,
};
const isCount = isWholeNumber(1, 1024);
const checks = {
  length: isWholeNumber(4, 1024),
  ...{ minPeriod: isWholeNumber(2, 512), maxPeriod: isWholeNumber(2, 512) },
  ...{ minGap: isCount, maxGap: isCount, trend: isUpToOne, noise: isUpToOne },
};

/** Rounds to a multiple of 1 / 1024, and turns -0 into 0. */
const rounded = (value: number) => Math.round(value * 1024) / 1024 + 0;
const either = (random: Generator) => 2 * share(random) - 1;

/** Draws one period: random values that are smoothed with their neighbours, from -1 to 1. */
function drawCycle(random: Generator, period: number): number[] {
  const drawn = Array.from({ length: period }, () => either(random));
  const at = (i: number) => drawn[(i + period) % period] as number;
  const smooth = drawn.map((value, i) => (at(i - 1) + 2 * value + at(i + 1)) / 4);
  const [least, most] = [Math.min(...smooth), Math.max(...smooth)];
  return smooth.map((value) => rounded((2 * (value - least)) / (most - least || 1) - 1));
}

/** Whether, for every position of the gap, each hidden value has a known value at a distance of whole periods. */
function isSolvable({ length, minPeriod, maxPeriod, maxGap }: SeriesOptions): boolean {
  for (let period = minPeriod; period <= maxPeriod; period++)
    if (2 * Math.ceil(maxGap / period) * period > length) return false;
  return true;
}

/**
 * The task of series. A hidden value is aligned with the known values at a distance of whole
 * periods. Each cycle belongs to one split.
 */
export function series(given: Partial<SeriesOptions> = {}): Task<Series> {
  const options = withDefaults("series", defaults, given, checks);
  checkOrder(options, "minPeriod", "maxPeriod");
  checkOrder(options, "minGap", "maxGap");
  const { length, minPeriod, maxPeriod, minGap, maxGap, trend, noise } = options;
  if (!isSolvable(options))
    throw refuse(
      "option",
      "length",
      "room for the whole periods that cover a gap, before it or after it",
      `${length}, with periods of up to ${maxPeriod} and gaps of up to ${maxGap}`,
    );
  return {
    name: "series",
    about: "Find the hidden values of a series that repeats itself.",
    kind: "series",
    options,
    vocabulary: { source: [], target: [] },
    longest: { source: length, target: length },
    generate(random, split) {
      const cycle = drawFrom(
        "series",
        split,
        () => drawCycle(random, between(random, minPeriod, maxPeriod)),
        (drawn) => drawn.join(" "),
      );
      const period = cycle.length;
      const slope = (either(random) * trend) / (length - 1);
      const start = between(random, 0, period - 1);
      const values = Float32Array.from({ length }, (_, t) => {
        const level = slope * (t - (length - 1) / 2);
        return rounded((cycle[(start + t) % period] as number) + level + noise * either(random));
      });
      const gap = between(random, minGap, maxGap);
      // The gap has a known value on both sides.
      const first = between(random, 1, length - gap - 1);
      const isHidden = Array.from(values, (_, t) => t >= first && t < first + gap);
      const isKnownAt = (t: number) => (_: number, s: number) =>
        !isHidden[s] && (s - t) % period === 0;
      const places = [...isHidden.keys()];
      const alignment = isHidden.map((hidden, t) => (hidden ? places.filter(isKnownAt(t)) : []));
      return { kind: "series", values, isHidden, alignment };
    },
  };
}
