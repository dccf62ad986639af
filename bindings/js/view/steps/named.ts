/** A matrix of <heed-steps> with its symbol, and its legend with the save menu. */

import { describe, refuse } from "../../core/error.js";
import {
  type AreaOf,
  type AttentionMatrix,
  attentionMatrices,
  attentionPalette,
  type CellOf,
} from "../parts/attention.js";
import { hasSizeNote } from "../parts/figures.js";
import { html, spanOf } from "../parts/html.js";
import { Kept } from "../parts/kept.js";
import { Legend } from "../parts/legend.js";
import { type MatrixActions, MatrixCanvas, summaryOf } from "../parts/matrixCanvas.js";
import { partOf, type UnfoldingOf } from "../parts/moments.js";
import { contentsOf, SaveMenu } from "../parts/saveMenu.js";
import type { ColourCurve, ColourRange, Theme } from "../picture/colour.js";
import { notesOf } from "../picture/decimals.js";
import { withPoint } from "../picture/format.js";
import type { Ink } from "../picture/ink.js";
import {
  type Area,
  type CellSize,
  cellsFor,
  geometryOf,
  type Labels,
  leftOf,
  px,
  tokenAxes,
} from "../picture/layout.js";
import type { Picture, Still } from "../picture/paint.js";
import { at, type Hides, rangeOf, transposed } from "../picture/view.js";
import { type Play, type StepsStage, targets } from "./scene.js";

/** The look that all matrices of the element share. */
export interface StepsLook {
  readonly theme: Theme;
  readonly range: ColourRange;
  readonly curve: ColourCurve;
  readonly ink: Ink;
  readonly ratio: number;
  /** The decimal sign. */
  readonly point: string;
  /** The title of the whole computation, with which captions begin. */
  readonly label: string;
  readonly hasMenus: boolean;
}

/** The content that is shown at a moment. */
export interface Shown {
  readonly unfolding: UnfoldingOf<AttentionMatrix> | null;
  readonly highlights: readonly AreaOf<AttentionMatrix>[];
  readonly active: CellOf<AttentionMatrix> | null;
}

export interface NamedActions {
  point(cell: CellOf<AttentionMatrix> | null, by: "pointer" | "keyboard"): void;
  press(cell: CellOf<AttentionMatrix>): void;
  selectRow(row: number): void;
}

/** The place and the orientation of a matrix in its figure. */
interface Stand {
  readonly cell: CellSize;
  readonly labels: Labels;
  /** Whether the matrix is drawn transposed. */
  readonly flip: boolean;
  readonly decimals?: number;
}

/** Matrices with hidden cells. */
const ofMask: readonly AttentionMatrix[] = ["masked", "exponentials", "weights"];

const turned = ({ row, col }: Area): Area => ({ row: col, col: row });

/** The symbol of a matrix, such as QKᵀ, in the colour of the matrix's role. */
function symbolOf(name: AttentionMatrix, flip = false): HTMLElement {
  const { symbol, ...kind } = attentionMatrices[name];
  const [base, power] = symbol.split("^");
  const span = spanOf("role" in kind ? `symbol role-${kind.role}` : "symbol", base);
  if (power) span.append(html("sup", "", power));
  if (flip) span.append("ᵀ");
  return span;
}

/** The picture of a matrix without highlights, complete or partly computed. */
function stillOf(
  name: AttentionMatrix,
  { cell, labels, flip, decimals }: Stand,
  play: Play,
  { theme, range, curve, point, ink }: StepsLook,
  unfolding: Shown["unfolding"] = null,
): Still {
  const { attended, row: shownRow } = play;
  const whole = attended.views[name];
  const part = unfolding?.targets.includes(name) ? unfolding : null;
  const { masked } = attended.views;
  const isHidden: Hides = (row, col) =>
    at(masked, name === "exponentials" ? shownRow : row, col) === Number.NEGATIVE_INFINITY &&
    (!part || part.isMade(name, row, col));
  const hides = play.isMasked && ofMask.includes(name) ? isHidden : undefined;
  const made = { ...(part ? partOf(whole, name, part) : whole), hides };
  const view = flip ? transposed(made) : made;
  return {
    geometry: geometryOf(view.rows, view.cols, cell, labels),
    ...{ view, labels: { ...labels, family: ink.family }, marked: [], decimals, point },
    palette: attentionPalette(name, whole, { theme, range, curve }),
  };
}

export class NamedMatrix {
  readonly element: HTMLElement = html("div", "named-matrix");
  /** The legend, which the figure places separately. */
  readonly legend: HTMLElement = html("div", "named-legend");
  readonly #note = spanOf("faint number");
  readonly #matrix: MatrixCanvas;
  readonly #legend = new Legend();
  readonly #menu = new SaveMenu();
  readonly #name: AttentionMatrix;
  readonly #stand: Stand;
  #summary = "";
  readonly #still = new Kept<Still>();
  readonly #described = new Kept<void>();

  constructor(name: AttentionMatrix, stand: Stand) {
    this.#name = name;
    this.#stand = stand;
    const title = html("div", "matrix-name");
    title.style.paddingLeft = px(leftOf(stand.labels));
    title.append(symbolOf(name, stand.flip), this.#note);
    const canvas = html("canvas");
    this.#matrix = new MatrixCanvas(canvas);
    this.element.dataset.matrix = name;
    this.element.append(title, canvas);
    this.legend.append(symbolOf(name, stand.flip), this.#legend.element);
  }

  /** @param note the text after the symbol, instead of the size */
  show(
    play: Play,
    look: StepsLook,
    shown: Shown,
    actions: NamedActions,
    note?: readonly (Node | string)[],
  ): void {
    const [name, { flip, cell }] = [this.#name, this.#stand];
    const whole = play.attended.views[name];
    const { rows } = attentionMatrices[name];
    const unfolding = shown.unfolding?.targets.includes(name) ? shown.unfolding : null;
    const still = this.#still.of([play, look, unfolding], () =>
      stillOf(name, this.#stand, play, look, unfolding),
    );
    this.#described.of([play, look], () => this.#describe(play, look));
    const width = (flip ? whole.rows : whole.cols) * cell.width;
    const size = hasSizeNote(width) ? `${still.geometry.rows} × ${still.geometry.cols}` : "";
    this.#note.replaceChildren(...(note ?? [size]));
    const area = ({ row, col }: Area) => (flip ? turned({ row, col }) : { row, col });
    const upright = ({ row, col }: { row: number; col: number }) => ({
      matrix: name,
      ...(flip ? { row: col, col: row } : { row, col }),
    });
    const ofThis = shown.highlights.filter(({ matrix }) => matrix === name);
    const picture: Picture = {
      ...{ ...still, still },
      selected: rows === "query" ? { row: play.row } : null,
      highlights: ofThis.map(area),
      active: shown.active?.matrix === name ? area(shown.active) : null,
    };
    const own: MatrixActions = {
      point: (cell, by) => actions.point(cell && upright(cell), by),
      press: (cell) => actions.press(upright(cell)),
      ...(rows === "query" && { selectRow: (row: number) => actions.selectRow(row) }),
    };
    this.#matrix.show({
      ...{ picture, ink: look.ink, ratio: look.ratio, actions: own },
      summary: this.#summary,
    });
  }

  /** Sets the legend, the save menu and the words for screen readers, for the complete matrix. */
  #describe(play: Play, look: StepsLook): void {
    const still = stillOf(this.#name, this.#stand, play, look);
    const whole = play.attended.views[this.#name];
    const range = rangeOf(still.view ?? whole);
    const { title } = attentionMatrices[this.#name];
    const summary = summaryOf(title, whole.rows, whole.cols, range);
    this.#summary = `${withPoint(summary, look.point)} Arrow keys move. Enter keeps a cell.`;
    const { picture, saved } = savedOf(this.#name, play, look, still, this.#stand.flip);
    this.#menu.show(
      saved.caption,
      saved.file,
      contentsOf(picture, saved, () => look.ink),
    );
    this.#legend.show(still.palette, still.view, {
      hasHidden: still.view?.hides !== undefined,
      notes: notesOf(still),
      more: look.hasMenus ? [this.#menu.element] : [],
      point: look.point,
    });
  }

  disconnect(): void {
    this.#matrix.disconnect();
  }
}

/** The words of a matrix's rows and columns; none for a side that is not of queries or keys. */
function wordsOf(name: AttentionMatrix, { queries, keys }: Play): Pick<Labels, "rows" | "cols"> {
  const { rows, cols } = attentionMatrices[name];
  const words = (side: string) => (side === "query" ? queries : side === "key" ? keys : undefined);
  const [ofRows, ofCols] = [rows, cols].map(words);
  return { ...(ofRows && { rows: ofRows }), ...(ofCols && { cols: ofCols }) };
}

/**
 * The settings of a matrix that is saved: with all its labels and a caption.
 *
 * @param isFlipped whether the picture shows the transposed matrix
 */
function savedOf(
  name: AttentionMatrix,
  play: Play,
  { label }: StepsLook,
  still: Still,
  isFlipped = false,
) {
  const { title, symbol, rows, cols } = attentionMatrices[name];
  const isPairs = rows === "query" && cols === "key";
  const own = wordsOf(name, play);
  const [ofRows, ofCols] = isFlipped ? [own.cols, own.rows] : [own.rows, own.cols];
  const labels: Labels = { ...still.labels, ...(isPairs && tokenAxes) };
  const picture: Picture = {
    ...{ ...still, still, labels },
    ...{ selected: null, highlights: [], active: null },
  };
  const caption = [label, `${title} (${symbol})`].filter((part) => part !== "").join(": ");
  return {
    picture,
    saved: { file: name, caption, rows: ofRows, cols: ofCols, plays: "cells" as const },
  };
}

/**
 * A complete matrix, for a file.
 *
 * @param name by default the matrix that the stage computes, or Q
 */
export function completeMatrix(
  name: AttentionMatrix | undefined,
  play: Play,
  stage: StepsStage,
  look: StepsLook,
  width: number,
) {
  const chosen = name ?? (stage === "inputs" ? "q" : targets[stage]);
  if (!Object.hasOwn(attentionMatrices, chosen))
    throw refuse("option", "matrix", Object.keys(attentionMatrices).join(", "), describe(chosen));
  const { rows, cols } = play.attended.views[chosen];
  const labels = wordsOf(chosen, play);
  const cell = cellsFor(width - leftOf(labels), cols, rows);
  const still = stillOf(chosen, { cell, labels, flip: false }, play, look);
  return { ...savedOf(chosen, play, look, still), view: play.attended.views[chosen] };
}
