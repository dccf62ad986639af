/**
 * A matrix that is too large to be read in one frame: its numbers are read in slices of time. If it
 * has more cells than the picture can show, it is max-pooled. This class converts between the cells
 * of the picture and the cells of the matrix.
 */
import { cellOf, hidingPooled, pooling } from "../parts/pool.js";
import type { Job } from "../picture/job.js";
import type { Cell } from "../picture/layout.js";
import { at, type MatrixView, viewOn } from "../picture/view.js";
import { type Findings, findingIn } from "./input.js";

/** Up to this many numbers are read and drawn without a pause, which takes some 20 milliseconds. */
const few = 1 << 17;

/** The largest number of cells along a side of the picture. */
const mostCells = 512;

export function isLarge({ rows, cols }: MatrixView): boolean {
  return rows * cols > few;
}

export class LargeMatrix {
  readonly whole: MatrixView;
  readonly kind: "weights" | "scores";
  /**
   * The cells of the picture; NaN until they are computed. A cell is hidden if all cells of the matrix that it covers
   * are hidden.
   */
  small: MatrixView;
  /** The facts for the notes; null until all numbers are read. */
  findings: Findings | null = null;
  /** The share of the numbers that is read, from 0 to 1; null when the cells are drawn. */
  done: number | null = 0;
  #last: { readonly drawn: Cell; readonly whole: Cell } | null = null;

  constructor(whole: MatrixView, kind: "weights" | "scores") {
    this.whole = whole;
    this.kind = kind;
    const [rows, cols] = [Math.min(mostCells, whole.rows), Math.min(mostCells, whole.cols)];
    this.small = viewOn(new Float32Array(rows * cols).fill(Number.NaN), rows, cols);
  }

  /** The largest numbers of rows and columns of the matrix that one cell of the picture covers. */
  get scale(): readonly [rows: number, cols: number] {
    const { whole, small } = this;
    return [Math.ceil(whole.rows / small.rows), Math.ceil(whole.cols / small.cols)];
  }

  /**
   * Reads the numbers.
   *
   * @param show called when there are more results to show
   */
  *read(isCausal: boolean, show: () => void): Job {
    const { whole, small, kind } = this;
    const hides = whole.hides && (yield* hidingPooled(whole.hides, whole, small, isCausal));
    this.small = { ...small, hides };
    const job = pooling(whole, mostCells, mostCells, kind === "scores", hides);
    let step = job.next();
    for (; !step.done; step = job.next()) {
      this.done = step.value ?? this.done;
      show();
      yield step.value;
    }
    const { data, rows, cols } = step.value;
    this.small = { ...viewOn(data, rows, cols), hides };
    this.done = null;
    show();
    this.findings = yield* findingIn(whole);
    show();
  }

  /** The cell of the picture that covers a cell of the matrix. */
  drawn({ row, col }: Cell): Cell {
    const { whole, small } = this;
    // Adjacent cells of the picture may share a row or a column, so the last result of `cell` is kept.
    if (this.#last?.whole.row === row && this.#last.whole.col === col) return this.#last.drawn;
    return {
      row: Math.floor((row * small.rows) / whole.rows),
      col: Math.floor((col * small.cols) / whole.cols),
    };
  }

  /** The first row of the matrix that a row of the picture covers. */
  firstRow(row: number): number {
    return cellOf(row, this.whole.rows, this.small.rows)[0];
  }

  /**
   * The cell of the matrix whose number a cell of the picture shows; the first one that it covers
   * if there is no such cell.
   */
  cell(drawn: Cell): Cell {
    const { whole, small } = this;
    const [top, bottom] = cellOf(drawn.row, whole.rows, small.rows);
    const [left, right] = cellOf(drawn.col, whole.cols, small.cols);
    const number = at(small, drawn.row, drawn.col);
    const find = () => {
      for (let i = top; i < bottom; ++i)
        for (let j = left; j < right; ++j)
          if (Object.is(Math.fround(at(whole, i, j)), number) && !whole.hides?.(i, j))
            return { row: i, col: j };
      return { row: top, col: left };
    };
    const found = find();
    this.#last = { drawn, whole: found };
    return found;
  }

  /** The words of the picture's rows or columns: each has the word of the first row or column it covers. */
  words(
    words: readonly string[] | undefined,
    side: "rows" | "cols",
  ): readonly string[] | undefined {
    const [size, cells] = [this.whole[side], this.small[side]];
    return words && Array.from({ length: cells }, (_, i) => words[cellOf(i, size, cells)[0]] ?? "");
  }
}
