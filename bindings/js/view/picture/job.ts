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
