/** What was made last: it is made anew only if what it is made of is another. */
export class Kept<T> {
  #parts: readonly unknown[] | null = null;
  #made: T | null = null;

  /** @param parts what it is made of */
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
