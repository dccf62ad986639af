/** `<heed-matrix>`: the weights or the scores of one head, with an explanation of each number. */

import { describe, refuse } from "../../core/error.js";
import { html } from "../parts/html.js";
import { Kept } from "../parts/kept.js";
import { Legend } from "../parts/legend.js";
import { MatrixCanvas, summaryOf } from "../parts/matrixCanvas.js";
import { contentsOf, numbersOf, type Saved, savedSvg } from "../parts/saveMenu.js";
import { notesOf } from "../picture/decimals.js";
import { withPoint } from "../picture/format.js";
import { type Area, type Cell, isSame } from "../picture/layout.js";
import type { Picture, Still } from "../picture/paint.js";
import type { MatrixView } from "../picture/view.js";
import { fileOf } from "./attends.js";
import { type Explained, formulaOf, placeOf } from "./explain.js";
import {
  type Findings,
  findingsIn,
  type Matrices,
  matricesOf,
  type Numbers,
  notesAbout,
  type Shaped,
} from "./input.js";
import { isLarge, LargeMatrix } from "./large.js";
import { MatrixElement, matrixRules, type ShownMatrix } from "./matrixElement.js";
import { pictureOf } from "./matrixPicture.js";
import { isTouch } from "./readout.js";
import { make } from "./registry.js";
import { cell, choice, numbers } from "./rules.js";
import { matrixSheet } from "./sheet.js";

const usualLabels = { weights: "Attention weights", scores: "Attention scores" };

/** The content of the picture, without the highlights of the pointer. */
interface Shown extends ShownMatrix {
  readonly still: Still;
  readonly saved: Saved;
  readonly summary: string;
  /** The facts for the notes; null until all numbers of a large matrix are read. */
  readonly findings: Findings | null;
  /** The reader of a large matrix, whose picture is max-pooled; null for a smaller matrix. */
  readonly large: LargeMatrix | null;
}

/** A picture with its highlights: the cell that is pointed at or locked, its row and column, and the selected row. */
function withHighlights(still: Still, active: Cell | null, row: number | null): Picture {
  const highlights: Area[] = active ? [{ row: active.row }, { col: active.col }] : [];
  return { ...still, still, highlights, active, selected: row === null ? null : { row } };
}

/**
 * `<heed-matrix>`: a matrix of weights or scores with the words of its queries (rows) and keys
 * (columns). Pointing at a cell shows its number and, if the scores are known, its softmax. A click
 * or Enter locks the cell, Escape releases it; a click on a row's word selects the row. If `data`
 * has several heads, `layer` and `head` choose one.
 *
 * @example
 * ```ts
 * console.log(HeedMatrix.tag); // prints: heed-matrix
 * if (globalThis.document) {
 *   const element = matrix({ data: [[1, 0], [0.25, 0.75]], tokens: ["I", "see"], mask: "causal" });
 *   element.addEventListener("heed-hover", ({ detail }) => console.log(detail?.value));
 *   document.body.append(element);
 * }
 * ```
 */
export class HeedMatrix extends MatrixElement<Shown> {
  /** The name of the element in markup. */
  static override readonly tag = "heed-matrix";
  /** @internal */
  static override readonly rules = {
    ...matrixRules,
    kind: choice("weights", "scores"),
    ...{ scores: numbers, locked: cell },
  };
  /** @internal */
  static override readonly sheet = matrixSheet;

  /** The kind of `data`: shares of attention, whose rows add up to 1, or signed scores before the softmax. */
  declare kind: "weights" | "scores";
  /** The scores from which the weights were computed, in the shape of `data`. */
  declare scores: Numbers | null;
  /** The locked cell; null if there is none. */
  declare locked: Cell | null;
  /** The selected row, from 0; null if there is none. */
  declare row: number | null;

  #hover: Cell | null = null;
  #isByKeyboard = false;
  #large: LargeMatrix | null = null;
  readonly #scores = new Kept<Matrices>();
  readonly #canvas = html("canvas");
  readonly #matrix = new MatrixCanvas(this.#canvas);
  readonly #legend = new Legend();

  /** @internal */
  protected override build(): void {
    this.#canvas.setAttribute("part", "matrix");
    this.#legend.element.setAttribute("part", "legend");
    this.content.append(this.#canvas, this.#legend.element, this.readout.element);
  }

  /** @internal */
  protected override connected(signal: AbortSignal): void {
    super.connected(signal);
    signal.addEventListener("abort", () => {
      this.#matrix.disconnect();
      // A matrix that was not read completely is read again when the element is connected again.
      if (this.#large?.findings === null) this.#endReading();
    });
  }

  /** @internal */
  protected override release(): void {
    this.#point(null, "pointer");
    this.#lock(null);
  }

  /** @internal */
  protected override update(changed: ReadonlySet<string>): void {
    const isOther = [...changed].some(
      (name) => !["hover", "locked", "row", "progress"].includes(name),
    );
    if (isOther) this.shown = this.#look();
    const shown = this.shown;
    for (const part of Array.from(this.content.children))
      part.toggleAttribute("hidden", shown === null);
    if (shown === null) return;
    if (isOther) this.#describe(shown);
    if (this.isOutside("locked", shown.view)) this.#lock(null);
    if (this.isOutside("row", shown.view)) this.select(null);
    const { rows, cols } = shown.view;
    const locked = this.taken<Cell | null>("locked");
    const row = this.taken<number | null>("row");
    const isInside = this.#hover && this.#hover.row < rows && this.#hover.col < cols;
    const active = locked ?? (isInside ? this.#hover : null);
    const { large, still } = shown;
    const whole = (cell: Cell) => large?.cell(cell) ?? cell;
    const drawn = (cell: Cell) => large?.drawn(cell) ?? cell;
    this.#matrix.show({
      picture: withHighlights(
        still,
        active && drawn(active),
        row === null ? null : drawn({ row, col: 0 }).row,
      ),
      ...{ summary: shown.summary, ink: this.ink, ratio: this.ratio },
      actions: {
        point: (cell, by) => this.#point(cell && whole(cell), by),
        press: (cell) => this.#lock(isSame(whole(cell), this.locked) ? null : whole(cell)),
        selectRow: (drawn) => {
          const first = large?.firstRow(drawn) ?? drawn;
          this.select(first === row ? null : first);
        },
      },
    });
    this.#read(shown, active, locked !== null);
  }

  /**
   * The content of the picture, from the properties; null without data. Throws if the properties do
   * not fit together.
   */
  #look(): Shown | null {
    const kind = this.taken<Explained["kind"]>("kind");
    const shown = this.basis(kind, usualLabels[kind]);
    if (shown === null) {
      this.#large = null;
      this.#scores.clear();
      this.#matrix.clear();
      return null;
    }
    const { matrices, view, words, point, label } = shown;
    const { rows, cols } = matrices;
    const { queries, keys } = words;
    const scores = this.#scoresFor(matrices);
    const large = isLarge(view) ? this.#largeOf(view, kind) : null;
    if (!large) this.#endReading();
    const still = pictureOf(
      large?.small ?? view,
      large ? { queries: large.words(queries, "rows"), keys: large.words(keys, "cols") } : words,
      {
        ...{ kind, point, theme: this.colours, width: this.width, family: this.ink.family },
        ...{ range: this.taken("range"), curve: this.taken("curve") },
      },
    );
    const findings = large ? large.findings : findingsIn(view);
    const sentence = summaryOf(label, rows, cols, findings?.range);
    const summary = withPoint(`${sentence} Arrow keys move. Enter keeps a cell.`, point);
    const saved = { file: fileOf(label), caption: label, rows: queries, cols: keys };
    return { ...shown, scores, still, saved, summary, findings, large };
  }

  #endReading(): void {
    this.#large = null;
    this.endWork();
  }

  /** The reader of a large matrix: the same object until the matrix or its mask changes. */
  #largeOf(view: MatrixView, kind: Explained["kind"]): LargeMatrix {
    if (this.#large?.whole === view && this.#large.kind === kind) return this.#large;
    const large = new LargeMatrix(view, kind);
    this.#large = large;
    const show = () => this.requestUpdate(large.done === null ? "read" : "progress");
    this.begin(large.read(this.mask === "causal", show));
    return large;
  }

  /** The scores of the matrix that is shown. */
  #scoresFor(data: Matrices): MatrixView | null {
    const parts = this.taken<readonly Shaped[] | null>("scores");
    if (parts === null) return null;
    const shape = this.taken<readonly number[] | null>("shape");
    const matrices = this.#scores.of([parts, shape], () => matricesOf("scores", parts, shape));
    const [expected, got] = [data, matrices].map(({ layers, heads, rows, cols }) =>
      describe([layers, heads, rows, cols]),
    ) as [string, string];
    if (expected !== got) throw refuse("shape", "scores", `${expected}, as data has`, got);
    return matrices.view(this.layer, this.head);
  }

  /** Shows the legend, the save menu and the notes. */
  #describe({ still, saved, view, kind, point, findings, large }: Shown): void {
    const picture = withHighlights(still, null, null);
    this.menu.show(saved.caption, saved.file, {
      ...contentsOf(picture, large ? { ...saved, ...still.labels } : saved, () => this.ink),
      ...numbersOf(view, saved.rows, saved.cols),
    });
    const [rows, cols] = large?.scale ?? [1, 1];
    const most = kind === "weights" ? "the largest" : "the one farthest from 0";
    this.#legend.show(still.palette, large && large.done !== null ? null : (still.view ?? view), {
      hasHidden: still.view?.hides !== undefined,
      notes: large && rows * cols > 1 ? [`a cell is ${most} of ${rows} × ${cols}`] : notesOf(still),
      more: this.controls === "none" ? [] : [this.menu.element],
      point,
    });
    const notes = findings ? notesAbout(findings, kind === "weights") : [];
    this.showNotes(notes.map((note) => withPoint(note, point)));
  }

  /** Shows the readout, which is read aloud when the keyboard moves the cursor. */
  #read(shown: Shown, active: Cell | null, isLocked: boolean): void {
    const done = shown.large?.done ?? null;
    const usual = isTouch()
      ? "Tap a cell to see its number."
      : "Point at a cell to see its number; a click keeps it.";
    const hint = done === null ? usual : `Reading the numbers: ${Math.round(100 * done)} %`;
    this.readout.show(active && placeOf(shown.words, active), {
      ...{ hint, isKept: isLocked, isHeard: this.#isByKeyboard },
      formula: active ? formulaOf(shown, active) : "",
    });
  }

  #point(cell: Cell | null, by: "pointer" | "keyboard"): void {
    this.#isByKeyboard = by === "keyboard";
    if (isSame(this.#hover, cell)) return;
    this.#hover = cell;
    this.emit("heed-hover", this.detail(cell));
    // If a cell is locked, the keyboard's cursor moves the lock.
    if (by === "keyboard" && cell && this.locked) this.#lock(cell);
    this.requestUpdate("hover");
    // The next key press counts from this cell, and may come before the next frame.
    if (by === "keyboard") this.updateNow();
  }

  #lock(cell: Cell | null): void {
    if (isSame(this.locked, cell)) return;
    this.setByPerson("locked", cell);
    this.emit("heed-lock", this.detail(cell));
  }

  /**
   * The picture as a stand-alone SVG, with its labels in full, its caption and its legend.
   *
   * @throws HeedError without numbers, or the error in `error`
   */
  svg(): string {
    const { still, saved, large } = this.saved();
    const words = large ? { ...saved, ...still.labels } : saved;
    return savedSvg(withHighlights(still, null, null), words, this.ink);
  }
}

/**
 * Creates a `<heed-matrix>`, and registers it if it is not registered.
 *
 * @param options its properties; `data` of [L, S], [heads, L, S] or [layers, heads, L, S]
 * @throws ReferenceError where there is no document, as in Node
 * @example
 * ```ts
 * const show = () => document.body.append(matrix({ data: [[1, 0], [0.25, 0.75]], tokens: ["I", "see"] }));
 * console.log(typeof globalThis.document === "undefined" ? "no page here" : show()); // prints: no page here
 * ```
 */
export function matrix(options: Partial<HeedMatrix> = {}): HeedMatrix {
  return make(HeedMatrix, options);
}

declare global {
  interface HTMLElementTagNameMap {
    "heed-matrix": HeedMatrix;
  }
}
