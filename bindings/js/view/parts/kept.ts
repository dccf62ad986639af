/** A cache of one value, which is made anew when one of its inputs changes. */
export class Kept<T> {
  #parts: readonly unknown[] | null = null;
  #made: T | null = null;

  /** @param parts its inputs */
  of(parts: readonly unknown[], make: () => T): T {
    if (!this.#parts?.every((each, i) => each === parts[i])) {
      this.#made = make();
      this.#parts = parts;
    }
    return this.#made as T;
  }

  /** Lets go of it. */
  clear(): void {
    this.#parts = this.#made = null;
  }
}
