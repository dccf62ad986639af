/** An element whose work on large arrays is done in slices of time: see `Slices`. */
import { Slices } from "../parts/slices.js";
import { finished, type Job } from "../picture/job.js";
import { HeedElement } from "./element.js";
import { numberThat, type Rule } from "./rules.js";

/** A property with a number from 0 to 1. */
export const share = (initial: number): Rule =>
  numberThat(initial, "a number from 0 to 1", (value) => value >= 0 && value <= 1);

/** Up to this many numbers are read without a pause, which takes a few milliseconds. */
const few = 1 << 17;

export abstract class SlicedElement extends HeedElement {
  #slices = new Slices(() => this.pick());

  /** @internal */
  protected override connected(signal: AbortSignal): void {
    signal.addEventListener("abort", () => this.#slices.stop());
  }

  /** @internal The next job; null if there is none. */
  protected abstract pick(): Job | null;

  /**
   * @internal Starts the work, or continues it.
   *
   * @param isNew whether the running job is out of date
   * @param size the number of numbers that the job reads: a small number is read without a pause
   */
  protected work(isNew: boolean, size = Number.POSITIVE_INFINITY): void {
    if (isNew) this.#slices.stop();
    if (size > few) this.#slices.wake();
    else for (let job = this.pick(); job !== null; job = this.pick()) finished(job);
  }

  /** @internal Ends the work and removes the notes, because there are no numbers any more. */
  protected endWork(): void {
    this.#slices.stop();
    this.showNotes([]);
  }

  /** Resolves when all changes are drawn: a large array takes several frames. */
  override get updateComplete(): Promise<void> {
    return super.updateComplete.then(() => this.#slices.idle);
  }
}
