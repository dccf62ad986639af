/**
 * A matrix on a canvas: its picture, its size, and a cell cursor for pointer and keyboard. This
 * class does not depend on the meaning of the numbers.
 */

import { format } from "../picture/format.js";
import type { Ink } from "../picture/ink.js";
import { type Cell, heightOf, px, widthOf } from "../picture/layout.js";
import { type Picture, Surface } from "../picture/paint.js";
import type { Extremes } from "../picture/view.js";

/** The actions of a person on a matrix. */
export interface MatrixActions {
  point(cell: Cell | null, by: "pointer" | "keyboard"): void;
  press(cell: Cell): void;
  selectRow?: ((row: number) => void) | undefined;
  /** If given, dragging and the space bar hide and show cells. */
  paint?: ((cell: Cell, hidden: boolean) => void) | undefined;
}

interface ShownMatrix {
  readonly picture: Picture;
  /** A sentence for screen readers with the title of the matrix, its size and its range. */
  readonly summary: string;
  readonly ink: Ink;
  /** The number of screen pixels in a CSS pixel. */
  readonly ratio: number;
  /** Without these the matrix is not interactive. */
  readonly actions?: MatrixActions | undefined;
}

/**
 * A sentence about a matrix, for screen readers.
 *
 * @param range the range of the visible numbers; undefined if there are no numbers yet
 */
export function summaryOf(
  title: string,
  rows: number,
  cols: number,
  range: Extremes | undefined,
): string {
  const size = `${title}, ${rows} rows and ${cols} columns`;
  if (range === undefined) return `${size}.`;
  return range
    ? `${size}, from ${format(range[0])} to ${format(range[1])}.`
    : `${size}, all hidden.`;
}

const moves: Readonly<Record<string, (cell: Cell) => Cell>> = {
  ArrowUp: ({ row, col }) => ({ row: row - 1, col }),
  ArrowDown: ({ row, col }) => ({ row: row + 1, col }),
  ArrowLeft: ({ row, col }) => ({ row, col: col - 1 }),
  ArrowRight: ({ row, col }) => ({ row, col: col + 1 }),
  Home: ({ row }) => ({ row, col: 0 }),
  End: ({ row }) => ({ row, col: Number.POSITIVE_INFINITY }),
};

const clamped = (index: number, last: number) => Math.max(0, Math.min(last, index));

export class MatrixCanvas {
  readonly #canvas: HTMLCanvasElement;
  readonly #zoom: () => number;
  #surface = new Surface();
  #connection: AbortController | null = null;
  #shown: ShownMatrix | null = null;
  /** The last cell of the keyboard's cursor, and the value that a drag paints. */
  #cursor: Cell = { row: 0, col: 0 };
  #painting: boolean | null = null;

  /**
   * @param zoom the CSS pixels of the window in one of the canvas, changed by zoom or by a
   *   transform as on slides
   */
  constructor(
    canvas: HTMLCanvasElement,
    zoom = () => canvas.getBoundingClientRect().width / canvas.offsetWidth || 1,
  ) {
    this.#canvas = canvas;
    this.#zoom = zoom;
  }

  /** Adds the listeners when the matrix first has actions: most thumbnails never have any. */
  #listen(): void {
    this.#connection = new AbortController();
    const { signal } = this.#connection;
    const on = <Name extends keyof HTMLElementEventMap>(
      name: Name,
      listen: (event: HTMLElementEventMap[Name], actions: MatrixActions) => void,
    ) =>
      this.#canvas.addEventListener(
        name,
        (event) => {
          if (this.#shown?.actions) listen(event, this.#shown.actions);
        },
        { signal },
      );
    on("pointermove", (event, actions) => this.#move(event, actions));
    on("pointerdown", (event, actions) => this.#startPainting(event, actions));
    for (const name of ["pointerup", "pointercancel"] as const)
      on(name, () => {
        this.#painting = null;
      });
    on("pointerleave", (_, { point }) => point(null, "pointer"));
    on("click", (event, actions) => this.#click(event, actions));
    on("keydown", (event, actions) => this.#press(event, actions));
    on("focus", (_, { point }) => {
      if (this.#canvas.matches(":focus-visible")) point(this.#current, "keyboard");
    });
    on("blur", (_, { point }) => point(null, "keyboard"));
  }

  /** Draws the changes. */
  show(shown: ShownMatrix): void {
    const before = this.#shown;
    this.#shown = shown;
    const { picture, ink, ratio, summary, actions } = shown;
    const isLive = actions !== undefined;
    if (isLive && this.#connection === null) this.#listen();
    const isSameKind =
      (before?.actions !== undefined) === isLive &&
      (before?.actions?.paint === undefined) === (actions?.paint === undefined);
    const isSame = before !== null && isSameKind && before.summary === summary;
    if (!isSame || before.picture.geometry !== picture.geometry)
      this.#describe(picture, summary, actions);
    const isSameDrawing =
      before?.picture === picture && before.ink === ink && before.ratio === ratio;
    if (!isSame || !isSameDrawing)
      this.#surface.draw(this.#canvas, picture, { ink, ratio, isLive });
  }

  /** Releases the numbers. */
  clear(): void {
    this.#shown = null;
    this.#surface = new Surface();
  }

  /** Removes the listeners. They are added again when the matrix is shown again. */
  disconnect(): void {
    this.#connection?.abort();
    this.#connection = null;
  }

  #describe({ geometry }: Picture, summary: string, actions: MatrixActions | undefined): void {
    const canvas = this.#canvas;
    const look = actions ? (actions.paint ? "matrix alive painted" : "matrix alive") : "matrix";
    canvas.className = look;
    canvas.style.width = px(Math.ceil(widthOf(geometry)));
    canvas.style.height = px(Math.ceil(heightOf(geometry)));
    const attributes = {
      role: actions ? "application" : "img",
      "aria-label": summary,
      ...{ "aria-roledescription": actions && "heat map", tabindex: actions && "0" },
      ...{ "data-left": actions && geometry.left, "data-top": actions && geometry.top },
    };
    for (const [name, value] of Object.entries(attributes)) {
      if (value === undefined) canvas.removeAttribute(name);
      else if (canvas.getAttribute(name) !== `${value}`) canvas.setAttribute(name, `${value}`);
    }
  }

  get #picture(): Picture {
    return (this.#shown as ShownMatrix).picture;
  }

  /** The cell of the keyboard's cursor: the active cell or, without one, the last. */
  get #current(): Cell {
    const { active } = this.#picture;
    const { row, col } = this.#cursor;
    return this.#within({ row: active?.row ?? row, col: active?.col ?? col });
  }

  /** The nearest cell of the matrix, which may be smaller than before. */
  #within({ row, col }: Cell): Cell {
    const { rows, cols } = this.#picture.geometry;
    return { row: clamped(row, rows - 1), col: clamped(col, cols - 1) };
  }

  /** The cell under the pointer. Its row or column is undefined outside the cells. */
  #hit({ clientX, clientY }: MouseEvent): { row: number | undefined; col: number | undefined } {
    const { geometry } = this.#picture;
    const { left, top } = this.#canvas.getBoundingClientRect();
    const zoom = this.#zoom();
    const row = Math.floor(((clientY - top) / zoom - geometry.top) / geometry.cellHeight);
    const col = Math.floor(((clientX - left) / zoom - geometry.left) / geometry.cellWidth);
    return {
      row: row >= 0 && row < geometry.rows ? row : undefined,
      col: col >= 0 && col < geometry.cols ? col : undefined,
    };
  }

  #cellAt(event: MouseEvent): Cell | null {
    const { row, col } = this.#hit(event);
    return row === undefined || col === undefined ? null : { row, col };
  }

  #move(event: PointerEvent, { point, paint }: MatrixActions): void {
    const cell = this.#cellAt(event);
    const { active } = this.#picture;
    if (cell && this.#painting !== null) paint?.(cell, this.#painting);
    if (cell?.row !== active?.row || cell?.col !== active?.col) point(cell, "pointer");
  }

  #startPainting(event: PointerEvent, { paint }: MatrixActions): void {
    const cell = this.#cellAt(event);
    if (!paint || !cell || event.button !== 0) return;
    this.#canvas.setPointerCapture(event.pointerId);
    this.#painting = !this.#picture.view?.hides?.(cell.row, cell.col);
    paint(cell, this.#painting);
  }

  #click(event: MouseEvent, { press, selectRow, paint }: MatrixActions): void {
    const { row, col } = this.#hit(event);
    if (row === undefined) return;
    if (col === undefined) selectRow?.(row);
    else if (!paint) press({ row, col });
  }

  #press(event: KeyboardEvent, { point, press, paint }: MatrixActions): void {
    const now = this.#current;
    const move = moves[event.key];
    if (move) {
      this.#cursor = this.#within(move(now));
      point(this.#cursor, "keyboard");
    } else if (event.key === " " && paint) {
      paint(now, !this.#picture.view?.hides?.(now.row, now.col));
    } else if (event.key === "Enter" || event.key === " ") {
      press(now);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
