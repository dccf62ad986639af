/** Playing as a pure function of time: the step shown a given number of milliseconds after the start. */

/** The duration of a step, in milliseconds. */
export type Pace = number | ((index: number) => number);

/** The step after `elapsed` milliseconds of playing from step `from`; the last one stays. */
export function indexAt(elapsed: number, from: number, count: number, pace: Pace): number {
  if (typeof pace === "number") return Math.min(count - 1, from + Math.floor(elapsed / pace));
  let index = from;
  for (let left = elapsed - pace(index); left >= 0 && index < count - 1; left -= pace(index))
    ++index;
  return index;
}
