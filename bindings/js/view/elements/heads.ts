/** `<heed-heads>`: every head of every layer as a small picture, and one of them in detail. */

import { html, optionOf, write } from "../parts/html.js";
import { Kept } from "../parts/kept.js";
import { Legend } from "../parts/legend.js";
import { measuringHead, type PatternName, patternNames, patterns } from "../parts/measures.js";
import { hidingPooled, pooling, type SmallWeights } from "../parts/pool.js";
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
import { formatShort, pointOf, withPoint } from "../picture/format.js";
import { aboutGrid, type GridFile, type GridItem, gridSvg } from "../picture/gridSvg.js";
import type { Job } from "../picture/job.js";
import { type MatrixView, viewOn } from "../picture/view.js";
import { fileOf } from "./attends.js";
import type { CellDetail } from "./events.js";
import type { Sides } from "./explain.js";
import { around, HeadGrid, type HeadIndex } from "./headGrid.js";
import type { Hides, Matrices } from "./input.js";
import { HeedLines } from "./lines.js";
import { HeedMatrix } from "./matrix.js";
import { make } from "./registry.js";
import { choice, place } from "./rules.js";
import { barSheet, headsSheet, matrixSheet } from "./sheet.js";
import { SlicedElement, share } from "./sliced.js";

const usualLabel = "Attention heads";

/** The largest number of cells along a side of a small picture. */
const mostCells = 48;

/** The side of a small picture, in pixels. */
const sides = { least: 34, most: 60 };

/**
 * From this width on, the chosen head is to the right of the small pictures. They then take this
 * share of the width.
 */
const wide = { least: 880, share: 0.42, gap: 24 };

/** The width of a layer's number before its heads and of a scroll bar after them, in pixels. */
const besides = 24 + 16;

const orders = ["layer", ...patternNames] as const;

/** The order of heads: by layer, or by a measure of each head in descending order. */
export type HeadOrder = (typeof orders)[number];

/** The results for one head; empty for a head that was never visible. */
interface Known {
  small: SmallWeights | null;
  readonly measures: Partial<Record<PatternName, number | null>>;
}

interface Shown {
  readonly matrices: Matrices;
  readonly view: MatrixView;
  readonly words: Sides;
  readonly hides: Hides | undefined;
  readonly palette: Palette;
  readonly order: HeadOrder;
  /** The measure below each small picture. */
  readonly measure: PatternName;
  readonly isSelf: boolean;
  readonly point: string;
  readonly label: string;
}

/** The rows of heads: one row for each layer, or rows of equal length sorted by a measure. */
function rowsOf(
  known: readonly Known[],
  { layers, heads }: Matrices,
  measure: PatternName | null,
): readonly (readonly HeadIndex[])[] {
  const all = known.map((_, index) => index);
  const score = (index: HeadIndex) => {
    const value = (measure && known[index]?.measures[measure]) ?? Number.NEGATIVE_INFINITY;
    return Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value;
  };
  if (measure) all.sort((a, b) => score(b) - score(a) || a - b);
  return Array.from({ length: layers }, (_, row) => all.slice(row * heads, (row + 1) * heads));
}

/** The number of a head, after the number of its layer if the row does not show the layer. */
const labelOf = (index: HeadIndex, heads: number, byLayer: boolean) =>
  `${byLayer ? "" : `${Math.floor(index / heads) + 1}.`}${(index % heads) + 1}`;

/**
 * The text of the measure below a head: undefined if it is not computed yet, null if it has no
 * value.
 */
function valueWords(value: number | null | undefined, point: string): string {
  if (value === undefined) return "…";
  return value === null || Number.isNaN(value) ? "–" : withPoint(formatShort(value), point);
}

const titled = (words: string) => words.replace(/^./, (first) => first.toUpperCase());

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

  #shown: Shown | null = null;
  #known: readonly Known[] = [];
  #rows: readonly (readonly HeadIndex[])[] = [];
  #sortedBy: HeadOrder | null = null;
  readonly #palette = new Kept<Palette>();
  /**
   * Which cells of all small pictures are hidden; undefined until it is computed, null without a
   * mask.
   */
  #hidden: Hides | null | undefined = undefined;
  #detail: HeedMatrix | HeedLines | null = null;
  #given = new Map<string, unknown>();
  readonly #grid = new HeadGrid(
    (index) => this.#select(index),
    () => this.work(false),
  );
  readonly #order = html("select");
  readonly #view = html("select");
  readonly #range = html("select");
  readonly #bar = html("div", "bar");
  readonly #about = html("p", "about faint");
  readonly #all = html("div", "all");
  readonly #legend = new Legend();
  readonly #menu = new SaveMenu(undefined, "all heads");
  readonly #title = html("h3");
  readonly #one = html("div", "one");
  readonly #frame = html("div");
  readonly #body = html("div", "body");

  /** @internal */
  protected override build(): void {
    const choose = (
      select: HTMLSelectElement,
      name: "order" | "view" | "range",
      words: string,
      choices: readonly (readonly [value: string, words: string])[],
    ) => {
      for (const [value, words] of choices) select.add(optionOf(words, value));
      select.addEventListener("change", () => Object.assign(this, { [name]: select.value }));
      return html("label", "", `${words} `, select);
    };
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
    this.#one.setAttribute("part", "head");
    this.#one.append(this.#title);
    this.#body.append(this.#all, this.#one);
    this.#frame.append(this.#bar, this.#body);
    this.content.append(this.#frame);
    for (const name of ["heed-hover", "heed-lock", "heed-select"] as const)
      this.#one.addEventListener(name, (event) => this.#tell(event));
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
    const isNew = this.#forget(shown, before);
    this.#arrange(shown);
    this.#describe(shown);
    this.#drawGrid(shown);
    if (isOther) this.#drawDetail(shown);
    this.work(isNew);
  }

  /**
   * The data to show, from the properties; null without data. Throws if the properties do not fit
   * together.
   */
  #look(): Shown | null {
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
      hides: this.hides(rows, cols),
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

  /**
   * Deletes the results of heads that were computed from other numbers or with another mask.
   *
   * @returns whether the running job is out of date
   */
  #forget(shown: Shown, before: Shown | null): boolean {
    const { matrices, hides } = shown;
    const isOtherMask = before?.hides !== hides || before?.matrices !== matrices;
    if (isOtherMask) {
      this.#hidden = hides ? undefined : null;
      for (const known of this.#known) known.small = null;
    }
    if (before?.matrices === matrices && before.isSelf === shown.isSelf) return isOtherMask;
    this.#grid.clear();
    this.#sortedBy = null;
    this.#rows = [];
    this.#known = Array.from({ length: matrices.layers * matrices.heads }, () => ({
      small: null,
      measures: {},
    }));
    return true;
  }

  /** Releases all numbers. */
  #clear(): void {
    this.#grid.clear();
    this.#known = [];
    if (this.#detail) this.#detail.data = null;
    this.#given.delete("view");
    this.#menu.clear();
  }

  #viewOf({ matrices }: Shown, index: HeadIndex): MatrixView {
    const layer = Math.floor(index / matrices.heads);
    return matrices.view(layer, index % matrices.heads);
  }

  /** The number of heads for which the chosen measure is computed. */
  #measured({ measure }: Shown): number {
    return this.#known.filter(({ measures }) => measures[measure] !== undefined).length;
  }

  /** Arranges the rows of heads: by layer, or sorted when all heads are measured. */
  #arrange(shown: Shown): void {
    const { order, measure, matrices } = shown;
    const isSorted = order !== "layer" && this.#measured(shown) === this.#known.length;
    // The heads keep their order until all are measured.
    const by = order === "layer" || isSorted ? order : (this.#sortedBy ?? "layer");
    if (by === this.#sortedBy && this.#rows.length > 0) return;
    this.#sortedBy = by;
    this.#rows = rowsOf(this.#known, matrices, isSorted ? measure : null);
  }

  #describe(shown: Shown): void {
    const { order, measure, palette, hides, point, label } = shown;
    this.#order.value = order;
    this.#view.value = this.view;
    this.#range.value = this.range;
    this.#bar.toggleAttribute("hidden", this.controls === "none");
    const { name, about } = patterns[measure];
    const count = this.#known.length;
    const isBusy = order !== "layer" && this.#measured(shown) < count;
    const below = aboutGrid(this.#sortedBy === "layer", name);
    const words = isBusy ? `Measuring heads: ${this.#measured(shown)} of ${count}.` : below;
    write(this.#about, words);
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

  #drawGrid(shown: Shown): void {
    const { matrices, palette, measure, point, label } = shown;
    const { heads } = matrices;
    const isWide = this.width >= wide.least;
    this.#body.classList.toggle("wide", isWide);
    const room = (isWide ? (this.width - wide.gap) * wide.share : this.width) - besides;
    const lines = Math.ceil((heads * (sides.least + around)) / room);
    const perLine = Math.ceil(heads / lines);
    const side = Math.floor(room / perLine) - around;
    const byLayer = this.#sortedBy === "layer";
    this.#grid.element.setAttribute("aria-label", `${label}, ${this.#known.length} heads`);
    this.#grid.draw({
      ...{ rows: this.#rows, perLine, ink: this.ink, ratio: this.ratio },
      titles: byLayer ? this.#rows.map((_, layer) => `${layer + 1}`) : [],
      side: Math.max(sides.least, Math.min(sides.most, side)),
      selected: this.layer * heads + this.head,
      picture: (index) => {
        const [layer, head] = [Math.floor(index / heads) + 1, (index % heads) + 1];
        const { small = null, measures = {} } = this.#known[index] ?? {};
        const hidden = this.#hidden ?? undefined;
        return {
          ...{ small, palette, hides: hidden },
          ...{ name: `layer ${layer}, head ${head}`, about: patterns[measure].name },
          label: labelOf(index, heads, byLayer),
          value: valueWords(measures[measure], point),
        };
      },
    });
  }

  /** Shows the chosen head in detail, in a separate element. */
  #drawDetail({ view, hides, words, label }: Shown): void {
    const kind = this.view === "lines" ? HeedLines : HeedMatrix;
    if (!(this.#detail instanceof kind)) {
      this.#detail?.remove();
      this.#detail = kind === HeedLines ? make(HeedLines, {}) : make(HeedMatrix, {});
      this.#given.clear();
      this.#one.append(this.#detail);
    }
    const name = `layer ${this.layer + 1}, head ${this.head + 1}`;
    this.#title.textContent = titled(name);
    const { data, offset, rows, cols } = view;
    if (this.#given.get("view") !== view)
      Object.assign(this.#detail, {
        data: data.subarray(offset, offset + rows * cols),
        shape: [rows, cols],
      });
    this.#given.set("view", view);
    // The same mask object may hide other cells when it is set again.
    if (this.#given.get("hides") !== hides) this.#given.delete("mask");
    this.#given.set("hides", hides);
    const properties = {
      ...{ queries: words.queries ?? null, keys: words.keys ?? null, roles: words.roles ?? null },
      mask: this.mask,
      ...{ range: this.range, curve: this.curve, controls: this.controls, locale: this.locale },
      label: `${label}: ${name}`,
      ...(kind === HeedLines && { mass: this.mass }),
    };
    // A person's change in the detail element is kept as long as the property here does not change.
    for (const [key, value] of Object.entries(properties)) {
      if (this.#given.has(key) && this.#given.get(key) === value) continue;
      this.#given.set(key, value);
      Object.assign(this.#detail, { [key]: value });
    }
  }

  /** @internal */
  protected override pick(): Job | null {
    const shown = this.#shown;
    if (!shown) return null;
    if (this.#hidden === undefined) return this.#hide(shown);
    const { measure, order } = shown;
    const isUnknown = (index: HeadIndex) => this.#known[index]?.measures[measure] === undefined;
    const { seen } = this.#grid;
    const blank = seen.find((index) => this.#known[index]?.small === null);
    if (blank !== undefined) return this.#pool(shown, blank);
    const next = seen.find(isUnknown);
    if (next !== undefined) return this.#measure(shown, next);
    const rest = order === "layer" ? -1 : this.#known.findIndex((_, index) => isUnknown(index));
    return rest < 0 ? null : this.#measure(shown, rest);
  }

  /** Computes which cells of all small pictures are hidden; null if there is no mask. */
  *#hiding({ matrices, hides }: Shown): Job<Hides | null> {
    const small = {
      rows: Math.min(mostCells, matrices.rows),
      cols: Math.min(mostCells, matrices.cols),
    };
    return hides ? yield* hidingPooled(hides, matrices, small, this.mask === "causal") : null;
  }

  *#hide(shown: Shown): Job {
    this.#hidden = yield* this.#hiding(shown);
    // Redraws the small pictures that are drawn already.
    this.requestUpdate("measured");
  }

  *#pool(shown: Shown, index: HeadIndex): Job {
    const view = this.#viewOf(shown, index);
    const small = yield* pooling(view, mostCells, mostCells, false, shown.hides, this.#hidden);
    (this.#known[index] as Known).small = small;
    this.#grid.update(index);
  }

  *#measure(shown: Shown, index: HeadIndex): Job {
    const { measure, isSelf, order } = shown;
    const value = yield* measuringHead(this.#viewOf(shown, index), measure, isSelf);
    (this.#known[index] as Known).measures[measure] = value;
    this.#grid.update(index);
    if (order !== "layer") this.requestUpdate("measured");
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
   * All heads with the measure below them, in the order of the page. Computes the heads that were
   * never visible.
   */
  *#whole(shown: Shown, known: readonly Known[], hidden: Hides | null | undefined): Job<GridFile> {
    const { measure, isSelf, matrices, order, point, label, palette } = shown;
    const isHidden = (hidden === undefined ? yield* this.#hiding(shown) : hidden) ?? undefined;
    const items: GridItem[] = [];
    const byLayer = order === "layer";
    for (const [index, { small, measures }] of known.entries()) {
      const view = this.#viewOf(shown, index);
      const pooled =
        small ?? (yield* pooling(view, mostCells, mostCells, false, shown.hides, isHidden));
      measures[measure] ??= yield* measuringHead(view, measure, isSelf);
      items.push({
        view: viewOn(pooled.data, pooled.rows, pooled.cols),
        label: labelOf(index, matrices.heads, byLayer),
        value: valueWords(measures[measure], point),
        isHidden,
      });
    }
    const rows = rowsOf(known, matrices, byLayer ? null : measure).map((row, i) => ({
      title: byLayer ? `${i + 1}` : "",
      items: row.map((index) => items[index] as GridItem),
    }));
    const about = aboutGrid(byLayer, patterns[measure].name);
    return { caption: label, about, rows, palette, point };
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
    // Copies, because the element's data may change during the export.
    const known = this.#known.map(({ small, measures }) => ({ small, measures: { ...measures } }));
    const whole = await inSlices(this.#whole(shown, known, this.#hidden));
    return gridSvg(whole, ink);
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
      this.#known.map((_, index) => this.#viewOf(shown, index)),
      [layers, heads],
    );
  }

  /** The element of the chosen head in its present state, for a file. */
  #saved(): HeedMatrix | HeedLines {
    return this.drawn(() => this.#shown && this.#detail);
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
   * The weights of the chosen head as CSV (RFC 4180), with the words of queries and keys.
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
