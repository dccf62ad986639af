// The calls of heed/worker that this thread computes. Cancelling a call takes effect in two ways:
// C++ reads a word of the engine's memory between two pieces of work, and `pause` throws.

import { inCommon } from "./copies.js";
import { type HeedError, refuse } from "./error.js";

/** Nothing waits for a call with this number, and none of its operations runs: see Context::kCancelled. */
export const cancelledWord = -1;

export const cancelled = (): HeedError => refuse("cancelled", "call", "to finish", "cancelled");

class Running {
  /** The word in the engine's memory; undefined if it is not used. */
  word: Int32Array | undefined;
  /** The call whose function runs now; 0 for none. */
  #call = 0;
  readonly #cancelled = new Set<number>();

  get call(): number {
    return this.#call;
  }

  /** Runs a part of a call, up to its next pause. */
  run<T>(call: number, part: () => T): T {
    this.enter(call);
    try {
      return part();
    } finally {
      this.leave(call);
    }
  }

  /**
   * Begins a part of a call.
   *
   * @throws HeedError "cancelled"
   */
  enter(call: number): void {
    if (this.#cancelled.has(call)) throw cancelled();
    this.#call = call;
    if (this.word) Atomics.store(this.word, 0, call);
  }

  /** Ends the part. From now on, cancelling this call cannot reach another one by this word. */
  leave(call: number): void {
    if (this.#call !== call) return;
    this.#call = 0;
    if (this.word) Atomics.store(this.word, 0, 0);
  }

  cancel(call: number): void {
    this.#cancelled.add(call);
  }

  isCancelled(call: number): boolean {
    return this.#cancelled.has(call);
  }

  /** Forgets a call that has ended. */
  end(call: number): void {
    this.#cancelled.delete(call);
  }
}

export const running: Running = inCommon("running", () => new Running());
