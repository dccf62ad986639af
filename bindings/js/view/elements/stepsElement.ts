/** The properties of `<heed-steps>`, the computation for them, and its time: steps and playing. */

import { playFrames } from "../parts/frames.js";
import { Kept } from "../parts/kept.js";
import { placeAt, playFrom } from "../parts/story.js";
import { windowOf } from "../picture/page.js";
import { attend } from "../steps/attend.js";
import { headOf, rowToShow } from "../steps/question.js";
import {
  durationOf,
  indexAtTime,
  type Play,
  playOf,
  type StepsStage,
  timeOf,
} from "../steps/scene.js";
import { HeedElement } from "./element.js";
import type { Numbers, Shaped } from "./input.js";
import { fitting, numbers, numberThat, place } from "./rules.js";

export abstract class StepsElement extends HeedElement {
  /** @internal */
  static override readonly rules = {
    ...{ q: numbers, k: numbers, v: numbers, head: place(0), row: place(null) },
    scale: numberThat(null, "a finite number or null", Number.isFinite),
    playing: fitting(
      false,
      (given) => given !== "false",
      "true or false",
      (value) => typeof value === "boolean",
    ),
    time: numberThat(0, "a number of at least 0", (value) => value >= 0),
    step: place(null),
    speed: numberThat(1, "a number above 0", (value) => value > 0),
  };

  /** The queries, [L, D] or [heads, L, D]. */
  declare q: Numbers | null;
  /** The keys, [S, D] or [heads, S, D]. Their number of heads divides the number of heads of `q`. */
  declare k: Numbers | null;
  /** The values, [S, Dv] or [heads, S, Dv]. */
  declare v: Numbers | null;
  /** The factor of each score; 1 / √D by default. */
  declare scale: number | null;
  /** Which head is shown, from 0. */
  declare head: number;
  /** The query whose row is computed first, from 0; by default the first query with the most visible keys. */
  declare row: number | null;
  /** Whether it plays. With reduced motion it never plays: a person then goes from step to step. */
  declare playing: boolean;
  /** The time that is shown: the seconds of playing at speed 1. */
  declare time: number;
  /** How many seconds of `time` pass in one second of playing. */
  declare speed: number;

  readonly #play = new Kept<Play>();
  #stop: (() => void) | null = null;
  /** The computation that is playing. */
  #ran: Play | null = null;
  /** @internal The complete stage that a person chose to play again. */
  protected chosen: StepsStage | null = null;

  /** The duration of all steps, in seconds of `time`; 0 without numbers. */
  get duration(): number {
    const play = this.playNow();
    return play ? durationOf(play) : 0;
  }

  /** The number of steps; 0 without numbers. */
  get steps(): number {
    return this.playNow()?.story.count ?? 0;
  }

  /** The step that is shown, from 0. Setting it sets `time` to the beginning of the step, when there are numbers. */
  get step(): number {
    const play = this.playNow();
    if (!play) return this.#wanted ?? 0;
    return this.#wanted === null
      ? indexAtTime(play, this.taken("time"))
      : Math.min(this.#wanted, play.story.count - 1);
  }

  set step(index: number) {
    this.keep("step", Math.max(0, Math.trunc(Number(index)) || 0));
    const play = this.playNow();
    if (play) this.seek(play);
  }

  /** @internal */
  override attributeChangedCallback(name: string, before: string | null, given: string | null) {
    super.attributeChangedCallback(name, before, given);
    const play = name === "step" ? this.playNow() : null;
    if (play) this.seek(play);
  }

  /** The step that was set and is not shown yet; null if there is none. */
  get #wanted(): number | null {
    try {
      return this.taken("step");
    } catch {
      return null;
    }
  }

  /** @internal Goes to the step that was set. */
  protected seek(play: Play): void {
    const { step } = this;
    if (this.#wanted === null) return;
    this.keep("step", null);
    this.time = timeOf(play, step);
  }

  /**
   * @internal The computation for the present properties; null if there are no numbers, or the properties do not fit
   * together.
   */
  protected playNow(): Play | null {
    try {
      return this.readPlay();
    } catch {
      return null;
    }
  }

  /** @internal The same; throws if the properties do not fit together. */
  protected readPlay(): Play | null {
    const [q, k, v] = ["q", "k", "v"].map((name) => this.taken<readonly Shaped[] | null>(name));
    const [scale, head, chosen] = ["scale", "head", "row"].map((name) =>
      this.taken<number | null>(name),
    ) as [number | null, number, number | null];
    if (!q || !k || !v) {
      this.#play.clear();
      return null;
    }
    const views = headOf(q, k, v, head);
    const [L, S] = [views.q.rows, views.k.rows];
    const hides = this.hides(L, S);
    const { queries, keys } = this.words(L, S);
    // A person's chosen query is reset if the numbers do not have it.
    const isOutside = chosen !== null && chosen >= L;
    const row = this.isLost("row", isOutside, `a number below ${L}`, `${chosen}`) ? null : chosen;
    return this.#play.of([q, k, v, scale, head, row, hides, queries, keys], () => {
      const size = views.q.cols;
      const shown = row ?? rowToShow(L, S, hides);
      const attended = attend({ ...views, scale: scale ?? 1 / Math.sqrt(size), hides, row: shown });
      const scaling = scale === null ? `÷ √${size}` : scale === 1 ? "" : `× ${scale}`;
      const isMasked = hides !== undefined;
      return playOf({ attended, row: shown, isMasked, queries, keys, scaling });
    });
  }

  /** @internal Starts or stops playing, if a property changed that decides it or if the numbers are others. */
  protected run(play: Play, isPlaying: boolean, changed: ReadonlySet<string>): void {
    const speed = this.taken<number>("speed");
    const isOther = isPlaying && this.#ran !== play;
    if (!isOther && !["playing", "speed", "connection"].some((name) => changed.has(name))) return;
    this.halt();
    if (!isPlaying || !this.isConnected) return;
    this.#ran = play;
    const { story } = play;
    const index = indexAtTime(play, this.time);
    const { stage, time } = placeAt(story, index);
    const isComplete = this.chosen === stage;
    this.chosen = null;
    const from = playFrom(story, { stage, time: isComplete ? null : time });
    const start = from === index ? this.time : timeOf(play, from);
    const end = timeOf(play, story.count - 1);
    let shown = this.time;
    this.#stop = playFrames((elapsed) => {
      // The program set another time.
      const isElsewhere = this.time !== shown;
      const now = Math.min(end, start + (elapsed / 1000) * speed);
      if (isElsewhere || now >= end) this.playing = false;
      if (isElsewhere) return false;
      this.time = shown = now;
      return now < end;
    }, windowOf(this));
  }

  /** @internal Stops playing, without a change of `playing`. */
  protected halt(): void {
    this.#stop?.();
    this.#stop = this.#ran = null;
  }
}
