/** Computes the small picture of each head in `<heed-heads>`, and the measure below the picture. */

import type { GridRow, HeadIndex } from "../parts/headGrid.js";
import { measuringHead, type PatternName, patternNames, patterns } from "../parts/measures.js";
import { hidingPooled, pooling, type SmallWeights } from "../parts/pool.js";
import type { Palette } from "../picture/colour.js";
import { formatShort, withPoint } from "../picture/format.js";
import { aboutGrid, type GridFile, type GridItem } from "../picture/gridSvg.js";
import type { Job } from "../picture/job.js";
import { type Hides, type MatrixView, viewOn } from "../picture/view.js";
import type { Sides } from "./explain.js";
import type { Matrices, Shaped } from "./input.js";

/** The largest number of cells along a side of a small picture. */
const mostCells = 48;

export const orders = ["layer", ...patternNames] as const;

/** The order of heads: by layer, or by a measure of each head in descending order. */
export type HeadOrder = (typeof orders)[number];

/** The results for one head; empty for a head that was never visible. */
interface Known {
  small: SmallWeights | null;
  readonly measures: Partial<Record<PatternName, number | null>>;
}

/** The heads that are shown, and how. */
export interface ShownHeads {
  readonly matrices: Matrices;
  readonly view: MatrixView;
  readonly words: Sides;
  readonly hides: Hides | undefined;
  readonly mask: "causal" | Shaped | null;
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
): readonly GridRow[] {
  const all = known.map((_, index) => index);
  const score = (index: HeadIndex) => {
    const value = (measure && known[index]?.measures[measure]) ?? Number.NEGATIVE_INFINITY;
    return Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value;
  };
  if (measure) all.sort((a, b) => score(b) - score(a) || a - b);
  return Array.from({ length: layers }, (_, row) => ({
    heads: all.slice(row * heads, (row + 1) * heads),
    title: measure ? "" : `${row + 1}`,
  }));
}

/** The number of a head, after the number of its layer if the row does not show the layer. */
const labelOf = (index: HeadIndex, heads: number, byLayer: boolean) =>
  `${byLayer ? "" : `${Math.floor(index / heads) + 1}.`}${(index % heads) + 1}`;

/** The text of the measure below a head. `value` is undefined before it is computed, and null if there is none. */
function valueWords(value: number | null | undefined, point: string): string {
  if (value === undefined) return "…";
  return value === null || Number.isNaN(value) ? "–" : withPoint(formatShort(value), point);
}

/** The weights of a head, with their mask. */
export function viewOf({ matrices, hides }: ShownHeads, index: HeadIndex): MatrixView {
  const view = matrices.view(Math.floor(index / matrices.heads), index % matrices.heads);
  return { ...view, hides };
}

export class HeadResults {
  #known: readonly Known[] = [];
  /** The rows of heads, from top to bottom; empty until they are arranged. */
  rows: readonly GridRow[] = [];
  #sortedBy: HeadOrder | null = null;
  /** Which cells of all small pictures are hidden; undefined until it is computed, null without a mask. */
  #hidden: Hides | null | undefined = undefined;
  readonly #drawn: (index: HeadIndex) => void;
  readonly #found: () => void;

  /**
   * @param drawn called with a head whose picture or measure was computed
   * @param found called after a result that changes other heads too: the hidden cells, or a measure by which the heads
   *   are sorted
   */
  constructor(drawn: (index: HeadIndex) => void, found: () => void) {
    this.#drawn = drawn;
    this.#found = found;
  }

  /** Whether the rows are the layers. */
  get isByLayer(): boolean {
    return this.#sortedBy === "layer";
  }

  /**
   * Deletes the results of heads that were computed from other numbers or with another mask.
   *
   * @returns whether the running job is out of date
   */
  forget(shown: ShownHeads, before: ShownHeads | null): boolean {
    const { matrices, hides, isSelf } = shown;
    if (before?.matrices === matrices && before.hides === hides && before.isSelf === isSelf)
      return false;
    this.clear();
    this.#hidden = hides ? undefined : null;
    this.#known = Array.from({ length: matrices.layers * matrices.heads }, () => ({
      small: null,
      measures: {},
    }));
    return true;
  }

  clear(): void {
    this.#sortedBy = null;
    this.rows = [];
    this.#known = [];
  }

  /** The number of heads for which the chosen measure is computed. */
  measured({ measure }: ShownHeads): number {
    return this.#known.filter(({ measures }) => measures[measure] !== undefined).length;
  }

  /** Arranges the rows of heads: by layer, or sorted when all heads are measured. */
  arrange(shown: ShownHeads): void {
    const { order, measure, matrices } = shown;
    const isSorted = order !== "layer" && this.measured(shown) === this.#known.length;
    // The heads keep their order until all are measured.
    const by = order === "layer" || isSorted ? order : (this.#sortedBy ?? "layer");
    if (by === this.#sortedBy && this.rows.length > 0) return;
    this.#sortedBy = by;
    this.rows = rowsOf(this.#known, matrices, isSorted ? measure : null);
  }

  /** The small picture of a head, and the words below it. */
  picture(index: HeadIndex, { matrices, palette, measure, point }: ShownHeads) {
    const { heads } = matrices;
    const [layer, head] = [Math.floor(index / heads) + 1, (index % heads) + 1];
    const { small = null, measures = {} } = this.#known[index] ?? {};
    return {
      ...{ small, palette, hides: this.#hidden ?? undefined },
      ...{ name: `layer ${layer}, head ${head}`, about: patterns[measure].name },
      label: labelOf(index, heads, this.isByLayer),
      value: valueWords(measures[measure], point),
    };
  }

  /**
   * The next computation; null if there is none.
   *
   * @param seen the visible heads
   */
  pick(shown: ShownHeads, seen: readonly HeadIndex[]): Job | null {
    if (this.#hidden === undefined) return this.#hide(shown);
    const { measure, order } = shown;
    const isUnknown = (index: HeadIndex) => this.#known[index]?.measures[measure] === undefined;
    const blank = seen.find((index) => this.#known[index]?.small === null);
    if (blank !== undefined) return this.#pool(shown, blank);
    const next = seen.find(isUnknown);
    if (next !== undefined) return this.#measure(shown, next);
    const rest = order === "layer" ? -1 : this.#known.findIndex((_, index) => isUnknown(index));
    return rest < 0 ? null : this.#measure(shown, rest);
  }

  /** Computes which cells of all small pictures are hidden; null if there is no mask. */
  *#hiding({ matrices, hides, mask }: ShownHeads): Job<Hides | null> {
    const small = {
      rows: Math.min(mostCells, matrices.rows),
      cols: Math.min(mostCells, matrices.cols),
    };
    return hides ? yield* hidingPooled(hides, matrices, small, mask === "causal") : null;
  }

  *#hide(shown: ShownHeads): Job {
    this.#hidden = yield* this.#hiding(shown);
    this.#found();
  }

  *#pool(shown: ShownHeads, index: HeadIndex): Job {
    const view = viewOf(shown, index);
    const small = yield* pooling(view, mostCells, mostCells, false, this.#hidden);
    (this.#known[index] as Known).small = small;
    this.#drawn(index);
  }

  *#measure(shown: ShownHeads, index: HeadIndex): Job {
    const { measure, isSelf, order } = shown;
    const value = yield* measuringHead(viewOf(shown, index), measure, isSelf);
    (this.#known[index] as Known).measures[measure] = value;
    this.#drawn(index);
    if (order !== "layer") this.#found();
  }

  /** All heads with the measure below them, in the order of the page. Computes the heads that were never visible. */
  whole(shown: ShownHeads): Job<GridFile> {
    // Copies, because the numbers may change meanwhile.
    const known = this.#known.map(({ small, measures }) => ({ small, measures: { ...measures } }));
    return this.#whole(shown, known, this.#hidden);
  }

  *#whole(
    shown: ShownHeads,
    known: readonly Known[],
    hidden: Hides | null | undefined,
  ): Job<GridFile> {
    const { measure, isSelf, matrices, order, point, label, palette } = shown;
    const hides = (hidden === undefined ? yield* this.#hiding(shown) : hidden) ?? undefined;
    const items: GridItem[] = [];
    const byLayer = order === "layer";
    for (const [index, { small, measures }] of known.entries()) {
      const view = viewOf(shown, index);
      const pooled = small ?? (yield* pooling(view, mostCells, mostCells, false, hides));
      measures[measure] ??= yield* measuringHead(view, measure, isSelf);
      items.push({
        view: { ...viewOn(pooled.data, pooled.rows, pooled.cols), hides },
        label: labelOf(index, matrices.heads, byLayer),
        value: valueWords(measures[measure], point),
      });
    }
    const rows = rowsOf(known, matrices, byLayer ? null : measure).map(({ heads, title }) => ({
      title,
      items: heads.map((index) => items[index] as GridItem),
    }));
    const about = aboutGrid(byLayer, patterns[measure].name);
    return { caption: label, about, rows, palette, point };
  }
}
