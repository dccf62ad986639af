/**
 * Work that pauses: each `yield` is a place where its caller may leave the rest for later. It says how much is done, from
 * 0 to 1, if it knows.
 */
export type Job<T = void> = Generator<number | undefined, T>;

/** Runs a job to its end. */
export function finished<T>(job: Job<T>): T {
  for (;;) {
    const step = job.next();
    if (step.done) return step.value;
  }
}
