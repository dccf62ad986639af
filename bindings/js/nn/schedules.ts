// The learning rate as a function of the step.

import { type Check, checkArgument, checkOptions, isWholeNumber } from "../core/validate.js";

export const isNotNegative: Check = {
  expected: "a number of 0 or more",
  accepts: (value) => Number.isFinite(value) && (value as number) >= 0,
};

/** Returns the factor of the learning rate at a step. Steps count from 1: the next one is `optimizer.stepCount + 1`. */
export type Schedule = (step: number) => number;

const isStepCount = isWholeNumber(0);

function warmUp(step: number, warmupSteps: number): number {
  return Math.min(1, step / Math.max(1, warmupSteps));
}

/**
 * A constant factor of 1, after a linear rise from 0 over `warmupSteps` steps, 0 by default.
 *
 * @throws HeedError "option"
 * @example
 * ```ts
 * const schedule = optim.constant({ warmupSteps: 4 });
 * console.log([1, 2, 4, 100].map(schedule)); // prints: [ 0.25, 0.5, 1, 1 ]
 * ```
 */
export function constant(options: { warmupSteps?: number } = {}): Schedule {
  checkOptions("constant", options, { warmupSteps: isStepCount });
  const { warmupSteps = 0 } = options;
  return (step) => warmUp(step, warmupSteps);
}

/**
 * A linear rise from 0 to 1 over `warmupSteps` steps, then half a cosine down to `floor` at `totalSteps`,
 * and `floor` from there on (Loshchilov and Hutter, "SGDR", 2017, without restarts).
 *
 * @throws HeedError "option"
 * @example
 * ```ts
 * const schedule = optim.warmupCosine({ warmupSteps: 2, totalSteps: 10 });
 * console.log([1, 2, 6, 10].map((step) => schedule(step).toFixed(2)).join(" ")); // prints: 0.50 1.00 0.50 0.00
 * ```
 */
export function warmupCosine(options: {
  warmupSteps: number;
  totalSteps: number;
  /** The factor from `totalSteps` on; 0 by default. */
  floor?: number;
}): Schedule {
  const checks = { warmupSteps: isStepCount, totalSteps: isStepCount, floor: isNotNegative };
  checkOptions("warmupCosine", options, checks);
  const { warmupSteps, totalSteps, floor = 0 } = options;
  checkArgument("warmupSteps", warmupSteps, isStepCount);
  checkArgument("totalSteps", totalSteps, isWholeNumber(warmupSteps + 1));
  return (step) => {
    if (step <= warmupSteps) return warmUp(step, warmupSteps);
    const done = Math.min(1, (step - warmupSteps) / (totalSteps - warmupSteps));
    return floor + ((1 - floor) * (1 + Math.cos(Math.PI * done))) / 2;
  };
}

/**
 * A linear rise from 0 to 1 over `warmupSteps` steps, then a decrease in proportion to 1 / sqrt(step). With
 * the learning rate 1 / sqrt(dModel warmupSteps) this is the schedule of Vaswani et al., 2017, section 5.3.
 *
 * @throws HeedError "option"
 * @example
 * ```ts
 * const schedule = optim.warmupInverseSquareRoot({ warmupSteps: 4 });
 * console.log([2, 4, 16].map(schedule)); // prints: [ 0.5, 1, 0.5 ]
 * ```
 */
export function warmupInverseSquareRoot(options: { warmupSteps: number }): Schedule {
  const checks = { warmupSteps: isWholeNumber(1) };
  checkOptions("warmupInverseSquareRoot", options, checks);
  const { warmupSteps } = options;
  checkArgument("warmupSteps", warmupSteps, checks.warmupSteps);
  return (step) => Math.min(step / warmupSteps, Math.sqrt(warmupSteps / step));
}
