// Scopes of the page: each frees the handles that were made in it.

/** The handles that belong to one scope. Scopes nest. */
export class RemoteScope<Handle extends object> {
  readonly #depth: number;
  readonly #outer: RemoteScope<Handle> | undefined;
  readonly #handles = new Set<Handle>();
  #isOpen = true;

  constructor(outer: RemoteScope<Handle> | undefined) {
    this.#outer = outer;
    this.#depth = outer === undefined ? 0 : outer.#depth + 1;
  }

  /** Adds a handle. If the scope has ended, the handle belongs to the scope around it. */
  add(handle: Handle): void {
    if (this.#isOpen) this.#handles.add(handle);
    else this.#outer?.add(handle);
  }

  /** Removes a handle from this scope and from all scopes around it. */
  keep(handle: Handle): void {
    this.#handles.delete(handle);
    this.#outer?.keep(handle);
  }

  /**
   * Ends the scope. Its handles in the result now belong to the scope around it.
   *
   * @returns the other handles, which the caller must free
   */
  close(result: ReadonlySet<Handle>): readonly Handle[] {
    this.#isOpen = false;
    const handles = [...this.#handles];
    this.#handles.clear();
    for (const handle of handles) if (result.has(handle)) this.#outer?.add(handle);
    return handles.filter((handle) => !result.has(handle));
  }

  /** The innermost of two scopes. */
  static innermost<Handle extends object>(
    a: RemoteScope<Handle> | undefined,
    b: RemoteScope<Handle> | undefined,
  ): RemoteScope<Handle> | undefined {
    if (a === undefined || b === undefined) return a ?? b;
    return a.#depth >= b.#depth ? a : b;
  }
}
