/** Work that pauses: each `yield` is a place where its caller may leave the rest for later. */
export type Job<T = void> = Generator<void, T>;

/** Runs a job to its end. */
export function finished<T>(job: Job<T>): T {
  for (;;) {
    const step = job.next();
    if (step.done) return step.value;
  }
}
