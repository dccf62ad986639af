/** An element that shows one matrix of `data`: the matrix of `layer` and `head`. */

import { refuse } from "../../core/error.js";
import { Kept } from "../parts/kept.js";
import { pngOf } from "../parts/raster.js";
import { SaveMenu } from "../parts/saveMenu.js";
import { csvOf } from "../picture/csv.js";
import { type Bytes, npyOf } from "../picture/export.js";
import { pointOf } from "../picture/format.js";
import type { Job } from "../picture/job.js";
import type { Cell } from "../picture/layout.js";
import { at, type MatrixView } from "../picture/view.js";
import type { CellDetail } from "./events.js";
import type { Explained } from "./explain.js";
import type { Matrices } from "./input.js";
import { Readout } from "./readout.js";
import { place, type Rule } from "./rules.js";
import { SlicedElement } from "./sliced.js";

/** The content of the picture of one matrix, and the source of the matrix. */
export interface ShownMatrix extends Explained {
  readonly matrices: Matrices;
  /** The title of the picture. */
  readonly label: string;
}

/** The properties that all elements of one matrix share. */
export const matrixRules = {
  ...{ layer: place(0), head: place(0), row: place(null) },
} satisfies Record<string, Rule>;

export abstract class MatrixElement<Shown extends ShownMatrix> extends SlicedElement {
  /** Which layer of `data` is shown, from 0. */
  declare layer: number;
  /** Which head of the layer is shown, from 0. */
  declare head: number;

  /** @internal The content of the picture, without the highlights of the pointer; null without data. */
  protected shown: Shown | null = null;

  /** @internal */
  protected readonly menu = new SaveMenu();
  /** @internal */
  protected readonly readout = new Readout();
  #job: Job | null = null;
  readonly #view = new Kept<MatrixView>();

  /** @internal Starts to read the numbers, without a pause if they are few. Earlier results are out of date. */
  protected begin(job: Job, size?: number): void {
    this.#job = job;
    this.work(true, size);
  }

  /** @internal */
  protected override pick(): Job | null {
    const job = this.#job;
    this.#job = null;
    return job;
  }

  /** @internal */
  protected override endWork(): void {
    this.#job = null;
    super.endWork();
  }

  /**
   * @internal The content that all elements of one matrix share; null without data. Throws if the properties do not fit
   * together.
   *
   * @param usual the default label
   */
  protected basis(kind: Explained["kind"], usual: string): ShownMatrix | null {
    const { matrices } = this;
    if (matrices === null) {
      this.menu.clear();
      this.#view.clear();
      this.endWork();
      return null;
    }
    const { rows, cols } = matrices;
    return {
      ...{ kind, matrices, view: this.viewOf(matrices), scores: null },
      words: this.words(rows, cols),
      point: pointOf(this.taken("locale")),
      label: this.taken<string>("label") || usual,
    };
  }

  /**
   * @internal The matrix of `layer` and `head` with its mask: the same object until one of these changes. Throws a
   * HeedError if there is none.
   */
  protected viewOf(matrices: Matrices): MatrixView {
    const [layer, head] = [this.taken<number>("layer"), this.taken<number>("head")];
    for (const [name, index, count] of [
      ["layer", layer, matrices.layers],
      ["head", head, matrices.heads],
    ] as const)
      if (index >= count) throw refuse("option", name, `a number below ${count}`, `${index}`);
    const [view, hides] = [matrices.view(layer, head), this.hides(matrices.rows, matrices.cols)];
    return this.#view.of([view, hides], () => ({ ...view, hides }));
  }

  /** @internal The detail of an event about a cell. */
  protected detail(cell: Cell | null): CellDetail | null {
    if (cell === null || this.shown === null) return null;
    const { matrices, view } = this.shown;
    const hasHeads = matrices.layers * matrices.heads > 1;
    const head = hasHeads ? { layer: this.layer, head: this.head } : {};
    const { row, col } = cell;
    return { ...head, row, col, value: at(view, row, col) };
  }

  /** @internal Whether `row` or `locked` is outside this matrix, if a person chose it. Throws if a program chose it. */
  protected isOutside(name: "row" | "locked", { rows, cols }: MatrixView): boolean {
    const value = this.taken<Cell | number | null>(name);
    if (typeof value === "number")
      return this.isLost(name, value >= rows, `a row of ${rows}`, `${value}`);
    const { row, col } = value ?? { row: 0, col: 0 };
    const isOutside = row >= rows || col >= cols;
    return this.isLost(name, isOutside, `a cell of [${rows}, ${cols}]`, `[${row}, ${col}]`);
  }

  /** @internal Sets `row` to a person's choice. */
  protected select(row: number | null): void {
    this.setByPerson("row", row);
    this.emit("heed-select", row === null ? {} : { row });
  }

  /** @internal The present content of the picture, for a file. */
  protected saved(): Shown {
    return this.drawn(() => this.shown);
  }

  /** The picture as a stand-alone SVG. */
  abstract svg(): string;

  /**
   * The picture as PNG, with twice the SVG's width and height.
   *
   * @throws HeedError without numbers, or the error in `error`
   */
  async png(): Promise<Blob> {
    return pngOf(this.svg());
  }

  /**
   * The numbers as CSV (RFC 4180), with the words of queries and keys. A
   * missing number (NaN) is an empty field.
   *
   * @throws HeedError without numbers, or the error in `error`
   */
  csv(): string {
    const { view, words } = this.saved();
    return csvOf(view, words.queries, words.keys);
  }

  /**
   * The numbers as NPY: float32, [L, S].
   *
   * @throws HeedError without numbers, or the error in `error`
   */
  npy(): Bytes {
    return npyOf(this.saved().view);
  }
}
