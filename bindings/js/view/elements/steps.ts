/** `<heed-steps>`: softmax(QKᵀ / √d + mask) V of given q, k and v, played step by step. */

import { type AttentionMatrix, attentionSources, type CellOf } from "../parts/attention.js";
import { buttonOf, html } from "../parts/html.js";
import { Kept } from "../parts/kept.js";
import { pngOf } from "../parts/raster.js";
import { savedSvg } from "../parts/saveMenu.js";
import { indexIn } from "../parts/story.js";
import { Transport } from "../parts/transport.js";
import { csvOf } from "../picture/csv.js";
import { type Bytes, npyOf } from "../picture/export.js";
import { pointOf } from "../picture/format.js";
import { isSame, px } from "../picture/layout.js";
import { media, windowOf } from "../picture/page.js";
import { at, entries } from "../picture/view.js";
import { figureHeight, StageFigure } from "../steps/figure.js";
import { completeMatrix, type Shown, type StepsLook } from "../steps/named.js";
import {
  explainCell,
  indexAtTime,
  type Play,
  type Scene,
  type StepsStage,
  sceneAt,
} from "../steps/scene.js";
import { stepsSheet } from "../steps/sheet.js";
import { stageTitles } from "../steps/stages.js";
import { make } from "./registry.js";
import { matrixSheet } from "./sheet.js";
import { StepsElement } from "./stepsElement.js";
import { StepsWords } from "./stepsWords.js";

/** A matrix of attention that can be saved: Q, K, V, the scores and the matrices computed from them, and the output. */
export type StepsMatrix = AttentionMatrix;

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
export class HeedSteps extends StepsElement {
  static override readonly tag = "heed-steps";
  /** @internal */
  static override readonly sheet = matrixSheet + stepsSheet;

  readonly #look = new Kept<StepsLook>();
  #scene: Scene | null = null;
  #figure: { readonly key: readonly unknown[]; readonly figure: StageFigure } | null = null;
  #hover: CellOf<AttentionMatrix> | null = null;
  #locked: CellOf<AttentionMatrix> | null = null;
  /** Whether a person changed the step or moved the cursor by keyboard: the step is then read aloud. */
  #isHeard = false;
  #stage = "";
  readonly #transport = new Transport("Steps", {
    go: (index) => this.#go(index),
    play: (isPlaying) => {
      this.playing = isPlaying;
    },
  });
  readonly #stages = html("fieldset", "stages");
  readonly #place = html("div", "figure");
  readonly #words = new StepsWords();

  /** @internal */
  protected override build(): void {
    this.#stages.setAttribute("aria-label", "Stages");
    const stage = html("div", "stage", this.#place, this.#words.element);
    const parts = { transport: this.#transport.element, stages: this.#stages, figure: this.#place };
    for (const [name, element] of Object.entries(parts)) element.setAttribute("part", name);
    this.content.setAttribute("role", "group");
    this.content.append(this.#transport.element, this.#stages, stage, this.#words.heard);
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
      this.halt();
      this.#disconnect();
    });
  }

  /** @internal */
  protected override release(): void {
    this.#point(null, "pointer");
    this.#lock(null);
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
    const play = this.readPlay();
    if (play) this.seek(play);
    const time = this.taken<number>("time");
    const isPlaying = this.taken<boolean>("playing") && !this.prefers(still);
    for (const part of Array.from(this.content.children))
      part.toggleAttribute("hidden", play === null);
    if (play === null) {
      this.#clear();
      return;
    }
    this.#release(play);
    this.run(play, isPlaying, changed);
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
    this.halt();
    this.#scene = null;
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
    this.#words.show({
      ...{ play, scene, point: look.point, isLocked: this.#locked !== null },
      explanation: pointed ? explainCell(play, pointed) : scene.explanation,
      isHeard: this.#isHeard && !isPlaying,
    });
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
    this.chosen = null;
    this.step = index;
  }

  #choose(stage: StepsStage): void {
    const play = this.playNow();
    if (!play) return;
    this.#go(indexIn(play.story, { stage, time: null }));
    this.chosen = stage;
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
    const view = cell && this.playNow()?.attended.views[cell.matrix];
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
      const [play, scene] = [this.playNow(), this.#scene];
      return play && scene && { play, scene };
    }, "q, k and v");
    return completeMatrix(name, play, scene.stage, this.#lookNow(), this.width);
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
   * The numbers of a matrix as CSV (RFC 4180), with the words of queries and keys. A
   * missing number (NaN) is an empty field.
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
