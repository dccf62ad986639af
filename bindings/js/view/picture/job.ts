/**
 * Work that pauses: at each `yield` its caller may continue it later. It yields the share that is
 * done, from 0 to 1, or undefined if the share is unknown.
 */
export type Job<T = void> = Generator<number | undefined, T>;

/** Runs a job to its end. */
export function finished<T>(job: Job<T>): T {
  for (;;) {
    const step = job.next();
    if (step.done) return step.value;
  }
}

/**
 * Counts the numbers that a job reads: the function returns whether the job has read so many that it should
 * yield. 2^16 numbers take some tenths of a millisecond.
 */
export function pausing(between = 1 << 16): (read: number) => boolean {
  let left = between;
  return (read) => {
    left -= read;
    if (left > 0) return false;
    left = between;
    return true;
  };
}
