/** A cache of one value, which is created again when one of its inputs changes. */
export class Kept<T> {
  #parts: readonly unknown[] | null = null;
  #made: T | null = null;

  /** @param parts the inputs of the value */
  of(parts: readonly unknown[], make: () => T): T {
    if (!this.#parts?.every((each, i) => each === parts[i])) {
      this.#made = make();
      this.#parts = parts;
    }
    return this.#made as T;
  }

  /** Releases the value. */
  clear(): void {
    this.#parts = this.#made = null;
  }
}
