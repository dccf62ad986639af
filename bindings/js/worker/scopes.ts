// Scopes of the page's side: what is freed together.

interface Freed {
  dispose(): void;
}

/** The objects that calls of one scope returned. Scopes nest. */
export class RemoteScope {
  readonly #depth: number;
  readonly #outer: RemoteScope | undefined;
  readonly #made = new Set<Freed>();
  #isOpen = true;

  constructor(outer: RemoteScope | undefined) {
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
    this.#outer?.keep(object);
  }

  /** Frees everything but what is kept, which then belongs to the scope around it. */
  close(kept: ReadonlySet<Freed>): void {
    this.#isOpen = false;
    for (const object of this.#made) {
      if (kept.has(object)) this.#outer?.add(object);
      else object.dispose();
    }
    this.#made.clear();
  }

  /** The innermost of two: what a call returns belongs to that of its receiver and its arguments. */
  static innermost(
    a: RemoteScope | undefined,
    b: RemoteScope | undefined,
  ): RemoteScope | undefined {
    if (a === undefined || b === undefined) return a ?? b;
    return a.#depth >= b.#depth ? a : b;
  }
}
