// Scopes of the page's side: what is freed together.

/** The objects that calls of one scope returned. Scopes nest. */
export class RemoteScope<Freed extends object> {
  readonly #depth: number;
  readonly #outer: RemoteScope<Freed> | undefined;
  readonly #made = new Set<Freed>();
  readonly #kept = new Set<Freed>();
  #isOpen = true;

  constructor(outer: RemoteScope<Freed> | undefined) {
    this.#outer = outer;
    this.#depth = outer === undefined ? 0 : outer.#depth + 1;
  }

  /** What comes after the end belongs to the scope around it. */
  add(object: Freed): void {
    if (this.#isOpen) this.#made.add(object);
    else this.#outer?.add(object);
  }

  /** Removes an object from this scope and those around it. */
  keep(object: Freed): void {
    this.#made.delete(object);
    if (this.#isOpen) this.#kept.add(object);
    this.#outer?.keep(object);
  }

  /**
   * Ends the scope. What is kept belongs to the scope around it.
   *
   * @param free frees objects, without what they have in common with others
   */
  close(
    kept: ReadonlySet<Freed>,
    free: (objects: readonly Freed[], others: readonly Freed[]) => void,
  ): void {
    this.#isOpen = false;
    const made = [...this.#made];
    for (const object of made) if (kept.has(object)) this.#outer?.add(object);
    free(
      made.filter((object) => !kept.has(object)),
      [...kept, ...this.#kept],
    );
    this.#made.clear();
    this.#kept.clear();
  }

  /** The innermost of two: what a call returns belongs to that of its receiver and its arguments. */
  static innermost<Freed extends object>(
    a: RemoteScope<Freed> | undefined,
    b: RemoteScope<Freed> | undefined,
  ): RemoteScope<Freed> | undefined {
    if (a === undefined || b === undefined) return a ?? b;
    return a.#depth >= b.#depth ? a : b;
  }
}
