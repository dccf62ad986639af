/**
 * A matrix of so many numbers that they are read in slices of time, and of more than a screen has pixels that they are
 * max-pooled, with a way from the cells that are drawn to those of the whole.
 */
import { cellOf, hidingPooled, pooling } from "../parts/pool.js";
import type { Job } from "../picture/job.js";
import type { Cell } from "../picture/layout.js";
import { at, type MatrixView, viewOn } from "../picture/view.js";
import { type Findings, findingIn, type Hides } from "./input.js";

/** So many numbers are read and drawn at once: that takes some 20 milliseconds. */
const few = 1 << 17;

/** The most cells along a side. */
const mostCells = 512;

export function isLarge({ rows, cols }: MatrixView): boolean {
  return rows * cols > few;
}

export class LargeMatrix {
  readonly whole: MatrixView;
  readonly hides: Hides | undefined;
  readonly kind: "weights" | "scores";
  /** The cells that are drawn; without numbers (NaN) until they are known. */
  small: MatrixView;
  /** The cells of which all that they stand for is hidden. */
  hidden: Hides | undefined;
  /** What there is to say about the numbers; null until all are read. */
  findings: Findings | null = null;
  /** How much is read, from 0 to 1, until it is drawn; then null. */
  done: number | null = 0;
  #last: { readonly drawn: Cell; readonly whole: Cell } | null = null;

  constructor(whole: MatrixView, hides: Hides | undefined, kind: "weights" | "scores") {
    this.whole = whole;
    this.hides = hides;
    this.kind = kind;
    const [rows, cols] = [Math.min(mostCells, whole.rows), Math.min(mostCells, whole.cols)];
    this.small = viewOn(new Float32Array(rows * cols).fill(Number.NaN), rows, cols);
  }

  /** How many rows and columns a cell stands for, at most. */
  get scale(): readonly [rows: number, cols: number] {
    const { whole, small } = this;
    return [Math.ceil(whole.rows / small.rows), Math.ceil(whole.cols / small.cols)];
  }

  /**
   * Reads the numbers.
   *
   * @param show called when there is more to show
   */
  *read(isCausal: boolean, show: () => void): Job {
    const { whole, hides, small, kind } = this;
    if (hides) this.hidden = yield* hidingPooled(hides, whole, small, isCausal);
    const job = pooling(whole, mostCells, mostCells, kind === "scores", hides, this.hidden);
    let step = job.next();
    for (; !step.done; step = job.next()) {
      this.done = step.value ?? this.done;
      show();
      yield step.value;
    }
    const { data, rows, cols } = step.value;
    this.small = viewOn(data, rows, cols);
    this.done = null;
    show();
    this.findings = yield* findingIn(whole, hides);
    show();
  }

  /** The drawn cell that stands for one of the whole. */
  drawn({ row, col }: Cell): Cell {
    const { whole, small } = this;
    // Cells share their last row and column with the next ones.
    if (this.#last?.whole.row === row && this.#last.whole.col === col) return this.#last.drawn;
    return {
      row: Math.floor((row * small.rows) / whole.rows),
      col: Math.floor((col * small.cols) / whole.cols),
    };
  }

  /** The first row that a drawn row stands for. */
  firstRow(row: number): number {
    return cellOf(row, this.whole.rows, this.small.rows)[0];
  }

  /** The cell of the whole whose number a drawn cell shows; the first one if none is known. */
  cell(drawn: Cell): Cell {
    const { whole, small, hides } = this;
    const [top, bottom] = cellOf(drawn.row, whole.rows, small.rows);
    const [left, right] = cellOf(drawn.col, whole.cols, small.cols);
    const number = at(small, drawn.row, drawn.col);
    const find = () => {
      for (let i = top; i < bottom; ++i)
        for (let j = left; j < right; ++j)
          if (Object.is(Math.fround(at(whole, i, j)), number) && !hides?.(i, j))
            return { row: i, col: j };
      return { row: top, col: left };
    };
    const found = find();
    this.#last = { drawn, whole: found };
    return found;
  }

  /** The words of the drawn rows or columns: those of the first that each stands for. */
  words(
    words: readonly string[] | undefined,
    side: "rows" | "cols",
  ): readonly string[] | undefined {
    const [size, cells] = [this.whole[side], this.small[side]];
    return words && Array.from({ length: cells }, (_, i) => words[cellOf(i, size, cells)[0]] ?? "");
  }
}
