/** `<heed-heads>`: every head of every layer as a small picture, and one of them in detail. */

import { around, HeadGrid, type HeadIndex } from "../parts/headGrid.js";
import { html, labelOf, write } from "../parts/html.js";
import { Kept } from "../parts/kept.js";
import { Legend } from "../parts/legend.js";
import { patternNames, patterns } from "../parts/measures.js";
import { needCanvas, pngOf } from "../parts/raster.js";
import { drawnContents, npyBlob, SaveMenu } from "../parts/saveMenu.js";
import { inSlices } from "../parts/slices.js";
import {
  type ColourCurve,
  type ColourRange,
  type Palette,
  weightPalette,
} from "../picture/colour.js";
import { type Bytes, npyOfAll } from "../picture/export.js";
import { pointOf } from "../picture/format.js";
import { aboutGrid, gridSvg } from "../picture/gridSvg.js";
import type { Job } from "../picture/job.js";
import type { MatrixView } from "../picture/view.js";
import { fileOf } from "./attends.js";
import type { CellDetail } from "./events.js";
import { HeadDetail } from "./headDetail.js";
import { type HeadOrder, HeadResults, orders, type ShownHeads, viewOf } from "./headResults.js";
import type { Matrices } from "./input.js";
import type { HeedLines } from "./lines.js";
import type { HeedMatrix } from "./matrix.js";
import { make } from "./registry.js";
import { choice, place } from "./rules.js";
import { barSheet, headsSheet, matrixSheet } from "./sheet.js";
import { SlicedElement, share } from "./sliced.js";

const usualLabel = "Attention heads";

/** The side of a small picture, in pixels. */
const sides = { least: 34, most: 60 };

/**
 * From this width on, the chosen head is to the right of the small pictures. They then take this
 * share of the width.
 */
const wide = { least: 880, share: 0.42, gap: 24 };

/** The width of a layer's number before its heads and of a scroll bar after them, in pixels. */
const besides = 24 + 16;

/**
 * `<heed-heads>`: every head of every layer as a small picture with a measure below it, by layer or
 * sorted by a measure, and one head in detail, as `<heed-matrix>` or `<heed-lines>`. A small
 * picture is computed when it becomes visible, and large arrays are read in slices of time, so that
 * the page stays responsive. Arrow keys move from head to head, Enter chooses one.
 *
 * @example
 * ```ts
 * console.log(HeedHeads.tag); // prints: heed-heads
 * if (globalThis.document) {
 *   const weights = new Float32Array(2 * 4 * 3 * 3).fill(1 / 3);
 *   const element = heads({ data: weights, shape: [2, 4, 3, 3], tokens: ["I", "see", "it"] });
 *   element.addEventListener("heed-select", ({ detail }) => console.log(detail.layer, detail.head));
 *   document.body.append(element);
 * }
 * ```
 */
export class HeedHeads extends SlicedElement {
  static override readonly tag = "heed-heads";
  /** @internal */
  static override readonly rules = {
    ...{ order: choice(...orders), view: choice("matrix", "lines") },
    ...{ layer: place(0), head: place(0), mass: share(0.8) },
  };
  /** @internal */
  static override readonly sheet = matrixSheet + barSheet + headsSheet;

  /** The order: by layer, or by a measure in descending order. */
  declare order: HeadOrder;
  /** The element that shows the chosen head. */
  declare view: "matrix" | "lines";
  /** The layer of the chosen head, from 0. */
  declare layer: number;
  /** The chosen head within its layer, from 0. */
  declare head: number;
  /** The share of each query's attention, 0 to 1, that the lines carry. */
  declare mass: number;

  #shown: ShownHeads | null = null;
  readonly #palette = new Kept<Palette>();
  readonly #detail = new HeadDetail();
  readonly #grid = new HeadGrid(
    (index) => this.#select(index),
    () => this.work(false),
  );
  readonly #results = new HeadResults(
    (index) => this.#grid.update(index),
    () => this.requestUpdate("measured"),
  );
  readonly #order = html("select");
  readonly #view = html("select");
  readonly #range = html("select");
  readonly #bar = html("div", "bar");
  readonly #about = html("p", "about faint");
  readonly #all = html("div", "all");
  readonly #legend = new Legend();
  readonly #menu = new SaveMenu(undefined, "all heads");
  readonly #frame = html("div");
  readonly #body = html("div", "body");

  /** @internal */
  protected override build(): void {
    const choose = (
      select: HTMLSelectElement,
      name: "order" | "view" | "range",
      words: string,
      choices: readonly (readonly [value: string, words: string])[],
    ) => labelOf(select, words, choices, () => Object.assign(this, { [name]: select.value }));
    this.#bar.setAttribute("part", "controls");
    this.#bar.append(
      choose(this.#order, "order", "Order", [
        ["layer", "by layer"],
        ...patternNames.map((name) => [name, `by ${patterns[name].name}`] as const),
      ]),
      choose(this.#view, "view", "Chosen head", [
        ["matrix", "as a matrix"],
        ["lines", "as lines"],
      ]),
      choose(this.#range, "range", "Colours", [
        ["absolute", "from 0 to 1"],
        ["head", "per head"],
        ["row", "per row"],
      ]),
    );
    this.#all.setAttribute("part", "heads");
    const scroll = html("div", "scroll", this.#grid.element);
    this.#legend.element.setAttribute("part", "legend");
    this.#all.append(this.#about, scroll, this.#legend.element);
    this.#body.append(this.#all, this.#detail.element);
    this.#frame.append(this.#bar, this.#body);
    this.content.append(this.#frame);
    for (const name of ["heed-hover", "heed-lock", "heed-select"] as const)
      this.#detail.element.addEventListener(name, (event) => this.#tell(event));
  }

  /** @internal */
  protected override connected(signal: AbortSignal): void {
    super.connected(signal);
    this.#grid.connect(signal);
  }

  /** @internal */
  protected override update(changed: ReadonlySet<string>): void {
    const isOther = [...changed].some((name) => name !== "measured");
    const before = this.#shown;
    if (isOther) this.#shown = this.#look();
    const shown = this.#shown;
    this.#frame.hidden = shown === null;
    if (shown === null) {
      this.#clear();
      return;
    }
    const isNew = this.#results.forget(shown, before);
    if (this.#results.rows.length === 0) this.#grid.clear();
    this.#results.arrange(shown);
    this.#describe(shown);
    this.#drawGrid(shown);
    if (isOther) this.#detail.show(shown, this);
    this.work(isNew);
  }

  /** The data to show, from the properties; null without data. Throws if the properties do not fit together. */
  #look(): ShownHeads | null {
    const matrices = this.matrices;
    const [order, range, curve] = [
      this.taken<HeadOrder>("order"),
      this.taken<ColourRange>("range"),
      this.taken<ColourCurve>("curve"),
    ];
    this.taken("view");
    this.taken("mass");
    if (matrices === null) {
      this.endWork();
      return null;
    }
    const { rows, cols } = matrices;
    const words = this.words(rows, cols);
    const palette = this.#palette.of([range, curve, this.colours], () =>
      weightPalette(range, curve, this.colours),
    );
    return {
      ...{ matrices, words, order, palette },
      view: this.#chosenOf(matrices),
      ...{ hides: this.hides(rows, cols), mask: this.taken<ShownHeads["mask"]>("mask") },
      measure: order === "layer" ? "entropy" : order,
      isSelf: rows === cols && `${words.queries}` === `${words.keys}`,
      point: pointOf(this.taken("locale")),
      label: this.taken<string>("label") || usualLabel,
    };
  }

  /** The chosen head; the first one if a person chose a head that this data does not have. */
  #chosenOf(matrices: Matrices): MatrixView {
    const [layer, head] = [this.taken<number>("layer"), this.taken<number>("head")];
    const isLost = (name: "layer" | "head", index: number, count: number) =>
      this.isLost(name, index >= count, `a number below ${count}`, `${index}`);
    const isElsewhere =
      isLost("layer", layer, matrices.layers) || isLost("head", head, matrices.heads);
    if (isElsewhere) this.#select(0);
    return isElsewhere ? matrices.view(0, 0) : matrices.view(layer, head);
  }

  /** Releases all numbers. */
  #clear(): void {
    this.#grid.clear();
    this.#results.clear();
    this.#detail.clear();
    this.#menu.clear();
  }

  #describe(shown: ShownHeads): void {
    const { matrices, order, measure, palette, hides, point, label } = shown;
    this.#order.value = order;
    this.#view.value = this.view;
    this.#range.value = this.range;
    this.#bar.toggleAttribute("hidden", this.controls === "none");
    const { name, about } = patterns[measure];
    const count = matrices.layers * matrices.heads;
    const measured = this.#results.measured(shown);
    const isBusy = order !== "layer" && measured < count;
    const busy = `Measuring heads: ${measured} of ${count}.`;
    write(this.#about, isBusy ? busy : aboutGrid(this.#results.isByLayer, name));
    this.#about.title = about;
    this.#legend.show(palette, null, {
      ...{ hasHidden: hides !== undefined, point },
      more: this.controls === "none" ? [] : [this.#menu.element],
    });
    this.#menu.show(label, fileOf(`${label}, all heads`), {
      ...drawnContents(() => this.svgOfAll()),
      npy: () => npyBlob(this.npyOfAll()),
    });
  }

  #drawGrid(shown: ShownHeads): void {
    const { layers, heads } = shown.matrices;
    const isWide = this.width >= wide.least;
    this.#body.classList.toggle("wide", isWide);
    const room = (isWide ? (this.width - wide.gap) * wide.share : this.width) - besides;
    const lines = Math.ceil((heads * (sides.least + around)) / room);
    const perLine = Math.ceil(heads / lines);
    const side = Math.floor(room / perLine) - around;
    this.#grid.element.setAttribute("aria-label", `${shown.label}, ${layers * heads} heads`);
    this.#grid.draw({
      ...{ rows: this.#results.rows, lines, ink: this.ink, ratio: this.ratio },
      side: Math.max(sides.least, Math.min(sides.most, side)),
      selected: this.layer * heads + this.head,
      isWhole: this.isPrinting,
      picture: (index) => this.#results.picture(index, shown),
    });
  }

  /** @internal */
  protected override pick(): Job | null {
    return this.#shown && this.#results.pick(this.#shown, this.#grid.seen);
  }

  #select(index: HeadIndex): void {
    const heads = this.matrices?.heads ?? 1;
    this.setByPerson("layer", Math.floor(index / heads));
    this.setByPerson("head", index % heads);
    this.emit("heed-select", { layer: this.layer, head: this.head });
  }

  /** Sends the detail element's event with the layer and the head. */
  #tell(event: CustomEvent<Partial<CellDetail> | null>): void {
    event.stopPropagation();
    const { layer, head } = this;
    const detail = event.detail && { ...event.detail, layer, head };
    this.emit(event.type as "heed-select", detail as Partial<CellDetail>);
  }

  /**
   * All heads as a stand-alone SVG: their small pictures with the measure below each, sorted by
   * `order`. Heads that were never visible are computed first, in slices of time.
   *
   * @throws HeedError without numbers, or the error in `error`
   */
  async svgOfAll(): Promise<string> {
    needCanvas("svgOfAll");
    const shown = this.drawn(() => this.#shown);
    const { ink } = this;
    return gridSvg(await inSlices(this.#results.whole(shown)), ink);
  }

  /**
   * All heads as PNG, with twice the SVG's width and height.
   *
   * @throws HeedError without numbers, or the error in `error`
   */
  async pngOfAll(): Promise<Blob> {
    return pngOf(await this.svgOfAll());
  }

  /**
   * The weights of all heads as NPY: float32, [layers, heads, L, S].
   *
   * @throws HeedError without numbers, or the error in `error`
   */
  npyOfAll(): Bytes {
    const shown = this.drawn(() => this.#shown);
    const { layers, heads } = shown.matrices;
    return npyOfAll(
      Array.from({ length: layers * heads }, (_, index) => viewOf(shown, index)),
      [layers, heads],
    );
  }

  /** The element of the chosen head in its present state, for a file. */
  #saved(): HeedMatrix | HeedLines {
    return this.drawn(() => this.#shown && this.#detail.shown);
  }

  /**
   * The chosen head as a stand-alone SVG: its matrix, or its lines.
   *
   * @throws HeedError without numbers, or the error in `error`
   */
  svg(): string {
    return this.#saved().svg();
  }

  /**
   * The chosen head as PNG, with twice the SVG's width and height.
   *
   * @throws HeedError without numbers, or the error in `error`
   */
  async png(): Promise<Blob> {
    return this.#saved().png();
  }

  /**
   * The weights of the chosen head as CSV (RFC 4180), with the words of queries and keys. A
   * missing number (NaN) is an empty field.
   *
   * @throws HeedError without numbers, or the error in `error`
   */
  csv(): string {
    return this.#saved().csv();
  }

  /**
   * The weights of the chosen head as NPY: float32, [L, S].
   *
   * @throws HeedError without numbers, or the error in `error`
   */
  npy(): Bytes {
    return this.#saved().npy();
  }
}

/**
 * Creates a `<heed-heads>`. Registers it and its inner elements if they are not registered.
 *
 * @param options its properties; `data` of [L, S], [heads, L, S] or [layers, heads, L, S]
 * @throws ReferenceError where there is no document, as in Node
 * @example
 * ```ts
 * const weights = new Float32Array(2 * 4 * 3 * 3).fill(1 / 3);
 * const show = () => document.body.append(heads({ data: weights, shape: [2, 4, 3, 3] }));
 * console.log(typeof globalThis.document === "undefined" ? "no page here" : show()); // prints: no page here
 * ```
 */
export function heads(options: Partial<HeedHeads> = {}): HeedHeads {
  return make(HeedHeads, options);
}

declare global {
  interface HTMLElementTagNameMap {
    "heed-heads": HeedHeads;
  }
}
