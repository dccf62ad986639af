/**
 * A matrix as a heat map: builds its picture, shows it on a canvas with a cell cursor for pointer and keyboard, and puts
 * its name, legend and save menu around it. It does not know what its numbers mean.
 */

import {
  type Area,
  type Cell,
  type CellSize,
  format,
  type Geometry,
  geometryOf,
  heightOf,
  inkIn,
  type Labels,
  type MatrixView,
  notesOf,
  type Palette,
  type Picture,
  px,
  rangeOf,
  Surface,
  widthOf,
} from "heed/view/parts";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useShell } from "../shared/shell";
import { placeIn } from "../shared/zoom";
import { Legend } from "./Legend";
import { type Saved, SaveMatrix } from "./SaveMenu";
import { usePixelRatio } from "./usePixelRatio";

export interface PictureOf {
  /** Null until there are numbers; the matrix takes up its space meanwhile. */
  readonly view: MatrixView | null;
  readonly rows: number;
  readonly cols: number;
  readonly palette: Palette;
  readonly cell: CellSize;
  readonly labels?: Labels;
  /** The cells that a mask hides; must be memoised. */
  readonly isHidden?: ((row: number, col: number) => boolean) | undefined;
  /** The selected row or column, with a thin outline. */
  readonly selected?: Area | null;
  /** The sources of the active cell. */
  readonly highlights?: readonly Area[];
  /** Cells that were edited. */
  readonly marked?: readonly Area[];
  /** The cell that is pointed at or locked. */
  readonly active?: Area | null;
  /** The most decimals of its numbers. */
  readonly decimals?: number | undefined;
}

const noLabels: Labels = {};

export function usePicture({
  view,
  rows,
  cols,
  palette,
  cell,
  labels = noLabels,
  isHidden,
  selected = null,
  highlights = [],
  marked = [],
  active = null,
  decimals,
}: PictureOf): Picture {
  const geometry = geometryOf(rows, cols, cell, labels);
  // Pointing at a cell changes only a few pictures on the page, and only their highlights.
  const still = useMemo(
    () => ({ geometry, view, palette, labels, isHidden, marked, decimals }),
    [
      view,
      palette,
      isHidden,
      decimals,
      JSON.stringify(geometry),
      textOf(labels),
      JSON.stringify(marked),
    ],
  );
  return useMemo(
    () => ({ ...still, still, selected, highlights, active }),
    [still, JSON.stringify([selected, highlights, active])],
  );
}

/** Caches the text by which long lists of labels are compared. */
const texts = new WeakMap<readonly string[], string>();

function textOf({ rows, cols, rowAxis, colAxis, chips = false }: Labels): string {
  return [rows, cols, [rowAxis ?? "", colAxis ?? "", `${chips}`]]
    .map((words) => {
      if (!words) return "";
      const text = texts.get(words) ?? JSON.stringify(words);
      texts.set(words, text);
      return text;
    })
    .join();
}

/** A sentence about a matrix, for screen readers. */
function summaryOf(title: string, view: MatrixView | null, rows: number, cols: number): string {
  const size = `${title}, ${rows} rows and ${cols} columns`;
  if (!view) return `${size}.`;
  const range = rangeOf(view);
  return range
    ? `${size}, from ${format(range[0])} to ${format(range[1])}.`
    : `${size}, all hidden.`;
}

export interface MatrixActions {
  point(cell: Cell | null, by: "pointer" | "keyboard"): void;
  press(cell: Cell): void;
  selectRow?: ((row: number) => void) | undefined;
  /** If given, dragging and the space bar hide and show cells. */
  paint?: ((cell: Cell, hidden: boolean) => void) | undefined;
}

interface MatrixProps {
  picture: Picture;
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

export function Matrix({ picture, summary, actions }: MatrixProps) {
  const { theme } = useShell();
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
    if (!canvas.current) return;
    const ink = inkIn(theme, canvas.current);
    surface.current?.draw(canvas.current, picture, { ink, ratio, isLive });
  }, [picture, theme, ratio, isLive]);

  /** The cell under the pointer, without a column to the left of the cells and without a row above them. */
  const hit = (event: MouseEvent) => {
    const { x, y } = placeIn(event);
    const row = Math.floor((y - geometry.top) / geometry.cellHeight);
    const col = Math.floor((x - geometry.left) / geometry.cellWidth);
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

/** Covers the cells of the rows from `from` on, without drawing the picture anew. */
function Cover({ geometry, from }: { geometry: Geometry; from: number }) {
  const { rows, cols, left, top, cellWidth, cellHeight } = geometry;
  const style = {
    ...{ left: px(left + 1), top: px(top + from * cellHeight) },
    ...{ width: px(cols * cellWidth - 2), height: px(Math.max(0, (rows - from) * cellHeight - 1)) },
  };
  return <div class="matrix-cover" style={style} />;
}

export interface HeatMapProps {
  /** Its name in the code and in tests. */
  name: string;
  /** A description for screen readers and the save menu. */
  title: string;
  /** The heading above it: its letter, or by default the title. */
  symbol?: ComponentChildren;
  /** A few words after the heading; by default its size. */
  note?: ComponentChildren;
  picture: Picture;
  /** Without these the matrix is not interactive. */
  actions?: MatrixActions;
  /** What Enter and the space bar do, for screen readers. */
  hint?: string;
  /** How it is saved; without this, or with `hasLegend` false, there is no menu. */
  saved?: Saved;
  hasLegend?: boolean;
  /** Rows from this one on are covered, because they are not computed yet. */
  covered?: number;
}

export function HeatMap({
  name,
  title,
  symbol = title,
  note,
  picture,
  actions,
  hint = "Enter keeps a cell.",
  saved,
  hasLegend = true,
  covered,
}: HeatMapProps) {
  const { view, geometry } = picture;
  const { rows, cols, left } = geometry;
  const summary = useMemo(() => summaryOf(title, view, rows, cols), [title, view, rows, cols]);
  return (
    <div class="named-matrix" data-matrix={name}>
      <div class="matrix-name" style={{ paddingLeft: px(left) }}>
        <span>{symbol}</span>
        <span class="faint number">{note ?? `${rows} × ${cols}`}</span>
      </div>
      <div class="matrix-place">
        <Matrix
          picture={picture}
          summary={actions ? `${summary} Arrow keys move. ${hint}` : summary}
          {...(actions && { actions })}
        />
        {covered !== undefined && <Cover geometry={geometry} from={covered} />}
      </div>
      {hasLegend && (
        <div class="legends" style={{ paddingLeft: px(left) }}>
          <MatrixLegend title={title} picture={picture} {...(saved && { saved })} />
        </div>
      )}
    </div>
  );
}

/** The legend and the save menu of a matrix. */
export function MatrixLegend({
  title,
  symbol,
  picture,
  saved,
}: {
  title: string;
  /** A label, needed if several legends are side by side. */
  symbol?: ComponentChildren;
  picture: Picture;
  saved?: Saved;
}) {
  const notes = useMemo(() => notesOf(picture.still), [picture.still]);
  return (
    <Legend
      palette={picture.palette}
      view={picture.view}
      name={symbol}
      hasHidden={picture.isHidden !== undefined}
    >
      {notes.map((note) => (
        <span key={note}>{note}</span>
      ))}
      {saved && <SaveMatrix title={title} picture={picture} saved={saved} />}
    </Legend>
  );
}
