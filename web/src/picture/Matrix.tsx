/** A heat map on a canvas, with a cell cursor for pointer and keyboard. It does not know what its numbers mean. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Theme } from "./colour";
import { heightOf, px, widthOf } from "./layout";
import type { Picture } from "./paint";
import { Surface } from "./surface";
import { usePixelRatio } from "./usePixelRatio";

export interface Cell {
  readonly row: number;
  readonly col: number;
}

export interface MatrixActions {
  point(cell: Cell | null, by: "pointer" | "keyboard"): void;
  press(cell: Cell): void;
  selectRow?: ((row: number) => void) | undefined;
  /** If given, dragging and the space bar hide and show cells. */
  paint?: ((cell: Cell, hidden: boolean) => void) | undefined;
}

interface Props {
  picture: Picture;
  theme: Theme;
  /** For screen readers: what the matrix is, its size and its range. */
  summary: string;
  /** Without these the matrix is not interactive. */
  actions?: MatrixActions;
}

const moves: Record<string, (cell: Cell, last: Cell) => Cell> = {
  ArrowUp: ({ row, col }) => ({ row: row - 1, col }),
  ArrowDown: ({ row, col }) => ({ row: row + 1, col }),
  ArrowLeft: ({ row, col }) => ({ row, col: col - 1 }),
  ArrowRight: ({ row, col }) => ({ row, col: col + 1 }),
  Home: ({ row }) => ({ row, col: 0 }),
  End: ({ row }, last) => ({ row, col: last.col }),
};

export function Matrix({ picture, theme, summary, actions }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  /** The last cell of the keyboard's cursor, and what a drag paints; neither affects the drawing, so they are refs. */
  const cursor = useRef<Cell>({ row: 0, col: 0 });
  const painting = useRef<boolean | null>(null);
  const { geometry, isHidden, active } = picture;
  const width = Math.ceil(widthOf(geometry));
  const height = Math.ceil(heightOf(geometry));

  const isLive = actions !== undefined;
  const surface = useRef<Surface>(null);
  surface.current ??= new Surface();
  const ratio = usePixelRatio();
  useLayoutEffect(() => {
    if (canvas.current) surface.current?.draw(canvas.current, picture, { theme, ratio, isLive });
  }, [picture, theme, ratio, isLive]);

  /** The cell under the pointer, without a column to the left of the cells and without a row above them. */
  const hit = ({ offsetX, offsetY }: MouseEvent) => {
    const row = Math.floor((offsetY - geometry.top) / geometry.cellHeight);
    const col = Math.floor((offsetX - geometry.left) / geometry.cellWidth);
    return {
      row: row >= 0 && row < geometry.rows ? row : undefined,
      col: col >= 0 && col < geometry.cols ? col : undefined,
    };
  };
  const cellAt = (event: MouseEvent): Cell | null => {
    const { row, col } = hit(event);
    return row === undefined || col === undefined ? null : { row, col };
  };

  if (!actions) {
    return (
      <canvas
        ref={canvas}
        class="matrix"
        style={{ width: px(width), height: px(height) }}
        role="img"
        aria-label={summary}
      />
    );
  }
  const { point, press, selectRow, paint } = actions;

  const onPointerMove = (event: PointerEvent) => {
    const cell = cellAt(event);
    if (cell && painting.current !== null) paint?.(cell, painting.current);
    if (cell?.row !== active?.row || cell?.col !== active?.col) point(cell, "pointer");
  };
  const onPointerDown = (event: PointerEvent) => {
    const cell = cellAt(event);
    if (!paint || !cell || event.button !== 0) return;
    canvas.current?.setPointerCapture(event.pointerId);
    painting.current = !isHidden?.(cell.row, cell.col);
    paint(cell, painting.current);
  };
  const stopPainting = () => {
    painting.current = null;
  };
  const onClick = (event: MouseEvent) => {
    const { row, col } = hit(event);
    if (row === undefined) return;
    if (col === undefined) selectRow?.(row);
    else if (!paint) press({ row, col });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = { row: geometry.rows - 1, col: geometry.cols - 1 };
    const now = {
      row: Math.min(active?.row ?? cursor.current.row, last.row),
      col: Math.min(active?.col ?? cursor.current.col, last.col),
    };
    const move = moves[event.key];
    if (move) {
      const next = move(now, last);
      cursor.current = {
        row: Math.max(0, Math.min(last.row, next.row)),
        col: Math.max(0, Math.min(last.col, next.col)),
      };
      point(cursor.current, "keyboard");
    } else if (event.key === " " && paint) {
      paint(now, !isHidden?.(now.row, now.col));
    } else if (event.key === "Enter" || event.key === " ") {
      press(now);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a canvas is no control until it is given a role
    <canvas
      ref={canvas}
      class={paint ? "matrix alive painted" : "matrix alive"}
      style={{ width: px(width), height: px(height) }}
      role="application"
      aria-roledescription="heat map"
      aria-label={summary}
      data-left={geometry.left}
      data-top={geometry.top}
      tabIndex={0}
      onPointerMove={onPointerMove}
      onPointerDown={onPointerDown}
      onPointerUp={stopPainting}
      onPointerCancel={stopPainting}
      onPointerLeave={() => point(null, "pointer")}
      onClick={onClick}
      onKeyDown={onKeyDown}
      onFocus={(event: FocusEvent) => {
        if ((event.target as Element).matches(":focus-visible")) point(cursor.current, "keyboard");
      }}
      onBlur={() => point(null, "keyboard")}
    />
  );
}
