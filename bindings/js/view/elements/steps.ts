/** `<heed-steps>`: softmax(QKᵀ / √d + mask) V of given q, k and v, played step by step. */

import { describe, refuse } from "../../core/error.js";
import {
  type AttentionMatrix,
  attentionMatrices,
  attentionSources,
  type CellOf,
} from "../parts/attention.js";
import { type Explanation, explanationText, type FormulaPiece } from "../parts/explanation.js";
import { playFrames } from "../parts/frames.js";
import { buttonOf, html, spanOf } from "../parts/html.js";
import { Kept } from "../parts/kept.js";
import { pngOf } from "../parts/raster.js";
import { savedSvg } from "../parts/saveMenu.js";
import { indexIn, placeAt, playFrom } from "../parts/story.js";
import { Transport } from "../parts/transport.js";
import { type Bytes, csvOf, npyOf } from "../picture/export.js";
import { pointOf, withPoint } from "../picture/format.js";
import { cellsFor, leftOf, px } from "../picture/layout.js";
import { media, windowOf } from "../picture/page.js";
import { at, entries } from "../picture/view.js";
import { attend } from "../steps/attend.js";
import { figureHeight, StageFigure } from "../steps/figure.js";
import { type Shown, type StepsLook, savedOf, stillOf } from "../steps/named.js";
import { headOf, rowToShow } from "../steps/question.js";
import {
  durationOf,
  explainCell,
  indexAtTime,
  type Play,
  playOf,
  type Scene,
  type StepsStage,
  sceneAt,
  targets,
  timeOf,
} from "../steps/scene.js";
import { stepsSheet } from "../steps/sheet.js";
import { stageTitles, stageWords } from "../steps/stages.js";
import { HeedElement } from "./element.js";
import type { Numbers, Shaped } from "./input.js";
import { isTouch } from "./readout.js";
import { make } from "./registry.js";
import { fitting, numbers, numberThat, place } from "./rules.js";
import { matrixSheet } from "./sheet.js";

/**
 * A matrix of attention that can be saved: Q, K, V, the scores and the matrices computed from them,
 * and the output.
 */
export type StepsMatrix = AttentionMatrix;

const isSame = (a: CellOf<AttentionMatrix> | null, b: CellOf<AttentionMatrix> | null): boolean =>
  a?.matrix === b?.matrix && a?.row === b?.row && a?.col === b?.col;

const usualLabel = "Attention, step by step";

/** From this width on, the words are to the right of the picture and have this width. */
const wideFrom = 760;
const wordsWidth = 320;
/** The padding of the content, the sum of both sides. */
const padding = 8;

/** The media feature of a person who prefers steps to motion. */
const still = "reduced-motion: reduce";

/**
 * `<heed-steps>`: attention of one head, softmax(scale · QKᵀ + mask) V. It is computed in double
 * precision from `q`, `k` and `v` and played step by step. First come the first score term by term,
 * its row, and all scores; they are then scaled and masked. Next come e to the power of each score
 * of a row, their sum, and the division. The last step is the weighted sum of the values. The
 * picture is a function of `time`.
 *
 * @example
 * ```ts
 * console.log(HeedSteps.tag); // prints: heed-steps
 * if (globalThis.document) {
 *   const [q, k, v] = [[[1, 0], [0, 1]], [[2, 0], [0, 2]], [[1], [3]]];
 *   const element = steps({ q, k, v, tokens: ["I", "see"], mask: "causal" });
 *   element.addEventListener("heed-step", ({ detail }) => console.log(detail.stage));
 *   document.body.append(element);
 * }
 * ```
 */
export class HeedSteps extends HeedElement {
  static override readonly tag = "heed-steps";
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
  /** @internal */
  static override readonly sheet = matrixSheet + stepsSheet;

  /** The queries, [L, D] or [heads, L, D]. */
  declare q: Numbers | null;
  /**
   * The keys, [S, D] or [heads, S, D]. Their number of heads divides the number of heads of `q`.
   */
  declare k: Numbers | null;
  /** The values, [S, Dv] or [heads, S, Dv]. */
  declare v: Numbers | null;
  /** The factor of each score; 1 / √D by default. */
  declare scale: number | null;
  /** Which head is shown, from 0. */
  declare head: number;
  /**
   * The query whose row is computed first, from 0; by default the first query with the most visible
   * keys.
   */
  declare row: number | null;
  /** Whether it plays. With reduced motion it never plays: a person then goes from step to step. */
  declare playing: boolean;
  /** The time that is shown: the seconds of playing at speed 1. */
  declare time: number;
  /** How many seconds of `time` pass in one second of playing. */
  declare speed: number;

  readonly #play = new Kept<Play>();
  readonly #look = new Kept<StepsLook>();
  #scene: Scene | null = null;
  #figure: { readonly key: readonly unknown[]; readonly figure: StageFigure } | null = null;
  #stop: (() => void) | null = null;
  /** The computation that is playing. */
  #ran: Play | null = null;
  #hover: CellOf<AttentionMatrix> | null = null;
  #locked: CellOf<AttentionMatrix> | null = null;
  /** The complete stage that a person chose to play again. */
  #chosen: StepsStage | null = null;
  /**
   * Whether a person changed the step or moved the cursor by keyboard: the step is then read aloud.
   */
  #isHeard = false;
  #explained = "";
  #stage = "";
  readonly #transport = new Transport("Steps", {
    go: (index) => this.#go(index),
    play: (isPlaying) => {
      this.playing = isPlaying;
    },
  });
  readonly #stages = html("fieldset", "stages");
  readonly #place = html("div", "figure");
  readonly #words = html("p", "words");
  readonly #name = html("p");
  readonly #formula = html("p", "number");
  readonly #heard = html("div", "only-heard");

  /** @internal */
  protected override build(): void {
    this.#stages.setAttribute("aria-label", "Stages");
    const readout = html("div", "readout", this.#name, this.#formula);
    this.#heard.setAttribute("aria-live", "polite");
    const words = html("div", "", this.#words, readout);
    const stage = html("div", "stage", this.#place, words);
    const parts = { transport: this.#transport.element, stages: this.#stages, figure: this.#place };
    for (const [name, element] of Object.entries({ ...parts, words, readout }))
      element.setAttribute("part", name);
    this.content.setAttribute("role", "group");
    this.content.append(this.#transport.element, this.#stages, stage, this.#heard);
    this.content.addEventListener("keydown", (event) => this.#key(event));
  }

  /** @internal */
  protected override connected(signal: AbortSignal): void {
    media(windowOf(this), `(prefers-${still})`)?.addEventListener(
      "change",
      () => this.requestUpdate("playing"),
      { signal },
    );
    signal.addEventListener("abort", () => {
      this.#stop?.();
      this.#stop = null;
      this.#ran = null;
      this.#disconnect();
    });
  }

  /** @internal */
  protected override release(): void {
    this.#point(null, "pointer");
    this.#lock(null);
  }

  /** The duration of all steps, in seconds of `time`; 0 without numbers. */
  get duration(): number {
    const play = this.#playNow();
    return play ? durationOf(play) : 0;
  }

  /** The number of steps; 0 without numbers. */
  get steps(): number {
    return this.#playNow()?.story.count ?? 0;
  }

  /**
   * The step that is shown, from 0. Setting it sets `time` to the beginning of the step, when there
   * are numbers.
   */
  get step(): number {
    const play = this.#playNow();
    if (!play) return this.#wanted ?? 0;
    return this.#wanted === null
      ? indexAtTime(play, this.taken("time"))
      : Math.min(this.#wanted, play.story.count - 1);
  }

  set step(index: number) {
    this.keep("step", Math.max(0, Math.trunc(Number(index)) || 0));
    const play = this.#playNow();
    if (play) this.#seek(play);
  }

  /** @internal */
  override attributeChangedCallback(name: string, before: string | null, given: string | null) {
    super.attributeChangedCallback(name, before, given);
    const play = name === "step" ? this.#playNow() : null;
    if (play) this.#seek(play);
  }

  /** The step that was set and is not shown yet; null if there is none. */
  get #wanted(): number | null {
    try {
      return this.taken("step");
    } catch {
      return null;
    }
  }

  /** Goes to the step that was set. */
  #seek(play: Play): void {
    const { step } = this;
    if (this.#wanted === null) return;
    this.keep("step", null);
    this.time = timeOf(play, step);
  }

  /**
   * The computation for the present properties; null if there are no numbers, or the properties do
   * not fit together.
   */
  #playNow(): Play | null {
    try {
      return this.#read();
    } catch {
      return null;
    }
  }

  /** Throws if the properties do not fit together. */
  #read(): Play | null {
    const [q, k, v] = ["q", "k", "v"].map((name) => this.taken<readonly Shaped[] | null>(name));
    const [scale, head, chosen] = ["scale", "head", "row"].map((name) =>
      this.taken<number | null>(name),
    ) as [number | null, number, number | null];
    if (!q || !k || !v) return null;
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

  /** The look of the element: the same object until a part of it changes. */
  #lookNow(): StepsLook {
    const look: StepsLook = {
      ...{ theme: this.colours, ink: this.ink, ratio: this.ratio },
      ...{ range: this.taken("range"), curve: this.taken("curve") },
      point: pointOf(this.taken("locale")),
      label: this.taken("label"),
      hasMenus: this.taken("controls") !== "none",
    };
    return this.#look.of(Object.values(look), () => look);
  }

  /** @internal */
  protected override update(changed: ReadonlySet<string>): void {
    const play = this.#read();
    if (play) this.#seek(play);
    const time = this.taken<number>("time");
    const speed = this.taken<number>("speed");
    const isPlaying = this.taken<boolean>("playing") && !this.prefers(still);
    for (const part of Array.from(this.content.children))
      part.toggleAttribute("hidden", play === null);
    if (play === null) {
      this.#clear();
      return;
    }
    this.#release(play);
    const isOther = isPlaying && this.#ran !== play;
    if (isOther || ["playing", "speed", "connection"].some((name) => changed.has(name)))
      this.#run(play, isPlaying, speed);
    const index = indexAtTime(play, time);
    if (changed.size === 1 && changed.has("time") && this.#scene?.index === index) return;
    const isNew = this.#scene?.index !== index;
    this.#scene = sceneAt(play, index);
    if (isNew) this.#hover = null;
    this.#draw(play, this.#scene, isPlaying);
    if (isNew) {
      const { stage } = this.#scene;
      this.emit("heed-step", { step: index, steps: play.story.count, stage });
    }
  }

  /** Releases all numbers. */
  #clear(): void {
    this.#stop?.();
    this.#play.clear();
    this.#scene = this.#ran = this.#stop = null;
    this.#disconnect();
    this.#place.replaceChildren();
  }

  #disconnect(): void {
    this.#figure?.figure.disconnect();
    this.#figure = null;
  }

  /** Releases a person's choices that the new numbers do not have. */
  #release({ row, attended }: Play): void {
    const chosen = this.taken<number | null>("row");
    if (chosen !== null && chosen !== row) {
      this.row = null;
      this.emit("heed-select", {});
    }
    const isThere = (cell: CellOf<AttentionMatrix> | null) => {
      const { rows, cols } = attended.views[cell?.matrix ?? "q"];
      return cell === null || (cell.row < rows && cell.col < cols);
    };
    if (!isThere(this.#locked)) this.#lock(null);
    if (!isThere(this.#hover)) this.#hover = null;
  }

  /** Starts or stops playing. */
  #run(play: Play, isPlaying: boolean, speed: number): void {
    this.#stop?.();
    this.#stop = null;
    this.#ran = isPlaying && this.isConnected ? play : null;
    if (this.#ran === null) return;
    const { story } = play;
    const index = indexAtTime(play, this.time);
    const { stage, time } = placeAt(story, index);
    const isComplete = this.#chosen === stage;
    this.#chosen = null;
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

  #draw(play: Play, scene: Scene, isPlaying: boolean): void {
    const look = this.#lookNow();
    const { story } = play;
    const { stage, unfolding } = scene;
    const hasControls = look.hasMenus;
    this.#transport.element.hidden = !hasControls;
    this.#stages.hidden = !hasControls;
    this.#transport.show({
      ...{ index: scene.index, count: story.count, isPlaying, plays: !this.prefers(still) },
      title: `${stageTitles[stage]}, ${scene.name}`,
    });
    this.#showStages(play, stage);
    this.content.setAttribute("aria-label", look.label || usualLabel);

    const isWide = this.width >= wideFrom;
    const width = this.width - padding - (isWide ? wordsWidth : 0);
    this.content.classList.toggle("wide", isWide);
    const key = [play, stage, width, look.ink.family];
    if (!this.#figure?.key.every((each, i) => each === key[i])) {
      this.#figure?.figure.disconnect();
      const figure = new StageFigure(stage, play, width, look.ink.family);
      this.#figure = { key, figure };
      this.#place.replaceChildren(figure.element);
      this.#place.style.minHeight = px(figureHeight(play, width, look.ink.family));
    }
    const pointed = this.#locked ?? this.#hover;
    const shown: Shown = {
      unfolding,
      active: pointed ?? unfolding?.cell ?? null,
      highlights: pointed ? attentionSources(pointed, play.row) : scene.highlights,
    };
    this.#figure.figure.show(play, look, shown, {
      point: (cell, by) => this.#point(cell, by),
      press: (cell) => this.#lock(isSame(cell, this.#locked) ? null : cell),
      selectRow: (row) => {
        this.setByPerson("row", row);
        this.emit("heed-select", { row });
      },
    });
    this.#words.textContent = stageWords(stage, play);
    this.#explain(pointed ? explainCell(play, pointed) : scene.explanation, scene, look, isPlaying);
    this.#note(play);
  }

  #showStages({ story }: Play, stage: StepsStage): void {
    const names = story.chapters.map((chapter) => chapter.stage);
    if (names.join() !== this.#stage) {
      this.#stage = names.join();
      const buttons = names.map((name) => buttonOf(stageTitles[name], () => this.#choose(name)));
      this.#stages.replaceChildren(...buttons);
    }
    for (const [i, button] of Array.from(this.#stages.children).entries()) {
      if (names[i] === stage) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
  }

  /**
   * Shows the formula of the cell that is pointed at, or of the moment. It is read aloud after a
   * person's step.
   */
  #explain(
    explanation: Explanation | null,
    { stage, name }: Scene,
    { point }: StepsLook,
    isPlaying: boolean,
  ): void {
    const words = explanation ? withPoint(explanationText(explanation), point) : "";
    this.#name.parentElement?.classList.toggle("locked", this.#locked !== null);
    if (words !== this.#explained || !explanation) {
      this.#explained = words;
      this.#name.textContent = explanation
        ? explanation.name
        : `${isTouch() ? "Tap" : "Point at"} a cell to see how its number was computed.`;
      this.#name.classList.toggle("faint", explanation === null);
      this.#formula.replaceChildren(...this.#pieces(explanation?.formula ?? [], point));
    }
    if (this.#isHeard && !isPlaying) {
      const step = `${stageTitles[stage]}, ${name}.`;
      this.#heard.textContent = `${step} ${words || this.#words.textContent}`;
    }
  }

  /** The pieces of a formula. An abbreviation is a button that shows the omitted pieces. */
  #pieces(formula: readonly FormulaPiece[], point: string): HTMLElement[] {
    return formula.map(({ text, role, all }) => {
      if (!all) return spanOf(role ? `role-${role}` : "", withPoint(text, point));
      const show = () => button.replaceWith(...this.#pieces(all, point));
      const button = buttonOf(text, show, "link");
      return button;
    });
  }

  #note({ attended }: Play): void {
    let holes = 0;
    for (const name of ["q", "k", "v"] as const)
      for (const value of entries(attended.views[name])) if (Number.isNaN(value)) ++holes;
    const words = `${holes} ${holes === 1 ? "number" : "numbers"} of q, k and v missing (NaN)`;
    this.showNotes(holes === 0 ? [] : [`${words}: what is computed from them is left empty.`]);
  }

  #go(index: number): void {
    this.playing = false;
    this.#isHeard = true;
    this.#chosen = null;
    this.step = index;
  }

  #choose(stage: StepsStage): void {
    const play = this.#playNow();
    if (!play) return;
    this.#go(indexIn(play.story, { stage, time: null }));
    this.#chosen = stage;
  }

  #key(event: KeyboardEvent): void {
    // The arrow keys change the step unless another part handles them.
    const target = event.target as Element;
    if (event.defaultPrevented || target.closest("input, canvas, summary")) return;
    const { step, steps } = this;
    const to = { ArrowRight: step + 1, ArrowLeft: step - 1, Home: 0, End: steps - 1 }[event.key];
    if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.#go(to);
  }

  #detailOf(cell: CellOf<AttentionMatrix> | null) {
    const view = cell && this.#playNow()?.attended.views[cell.matrix];
    return cell && view ? { ...cell, value: at(view, cell.row, cell.col) } : null;
  }

  #point(cell: CellOf<AttentionMatrix> | null, by: "pointer" | "keyboard"): void {
    if (by === "keyboard") this.#isHeard = cell !== null;
    if (isSame(this.#hover, cell)) return;
    this.#hover = cell;
    this.emit("heed-hover", this.#detailOf(cell));
    if (by === "keyboard" && cell && this.#locked?.matrix === cell.matrix) this.#lock(cell);
    this.requestUpdate("hover");
    // The next key press counts from this cell, and may come before the next frame.
    if (by === "keyboard") this.updateNow();
  }

  #lock(cell: CellOf<AttentionMatrix> | null): void {
    if (isSame(this.#locked, cell)) return;
    this.#locked = cell;
    if (cell) this.playing = false;
    this.emit("heed-lock", this.#detailOf(cell));
    this.requestUpdate("locked");
  }

  /** A complete matrix, for a file; by default the matrix that the present stage computes, or Q. */
  #saved(name: StepsMatrix | undefined) {
    const { play, scene } = this.drawn(() => {
      const [play, scene] = [this.#playNow(), this.#scene];
      return play && scene && { play, scene };
    }, "q, k and v");
    const { stage } = scene;
    const chosen = name ?? (stage === "inputs" ? "q" : targets[stage]);
    if (!Object.hasOwn(attentionMatrices, chosen))
      throw refuse("option", "matrix", Object.keys(attentionMatrices).join(", "), describe(chosen));
    const look = this.#lookNow();
    const { rows, cols } = play.attended.views[chosen];
    const kind = attentionMatrices[chosen];
    const words = { query: play.queries, key: play.keys, selected: undefined, head: undefined };
    const labels = {
      ...(words[kind.rows] && { rows: words[kind.rows] as readonly string[] }),
      ...(words[kind.cols] && { cols: words[kind.cols] as readonly string[] }),
    };
    const cell = cellsFor(this.width - leftOf(labels), cols, rows);
    const still = stillOf(chosen, { cell, labels, flip: false }, play, look);
    return { ...savedOf(chosen, play, look, still), view: play.attended.views[chosen] };
  }

  /**
   * A complete matrix as a stand-alone SVG, with its labels, caption and legend.
   *
   * @param matrix by default the matrix that the present stage computes
   * @throws HeedError without numbers, or the error in `error`
   */
  svg(matrix?: StepsMatrix): string {
    const { picture, saved } = this.#saved(matrix);
    return savedSvg(picture, saved, this.ink);
  }

  /**
   * A complete matrix as PNG, with twice the SVG's width and height.
   *
   * @param matrix by default the matrix that the present stage computes
   * @throws HeedError without numbers, or the error in `error`
   */
  async png(matrix?: StepsMatrix): Promise<Blob> {
    return pngOf(this.svg(matrix));
  }

  /**
   * The numbers of a matrix as CSV (RFC 4180), with the words of queries and keys.
   *
   * @param matrix by default the matrix that the present stage computes
   * @throws HeedError without numbers, or the error in `error`
   */
  csv(matrix?: StepsMatrix): string {
    const { view, saved } = this.#saved(matrix);
    return csvOf(view, saved.rows, saved.cols);
  }

  /**
   * The numbers of a matrix as NPY: float32, [rows, columns].
   *
   * @param matrix by default the matrix that the present stage computes
   * @throws HeedError without numbers, or the error in `error`
   */
  npy(matrix?: StepsMatrix): Bytes {
    return npyOf(this.#saved(matrix).view);
  }
}

/**
 * Creates a `<heed-steps>`, and registers it if it is not registered.
 *
 * @param options its properties; `q` of [L, D], `k` of [S, D] and `v` of [S, Dv], or [heads, ...]
 *   of each
 * @throws ReferenceError where there is no document, as in Node
 * @example
 * ```ts
 * const show = () => document.body.append(steps({ q: [[1, 0]], k: [[1, 1], [0, 2]], v: [[3], [5]] }));
 * console.log(typeof globalThis.document === "undefined" ? "no page here" : show()); // prints: no page here
 * ```
 */
export function steps(options: Partial<HeedSteps> = {}): HeedSteps {
  return make(HeedSteps, options);
}

declare global {
  interface HTMLElementTagNameMap {
    "heed-steps": HeedSteps;
  }
}
