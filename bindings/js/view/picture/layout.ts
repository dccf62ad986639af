/** The size of a picture's cells and of its labels, which does not depend on its numbers. */

import { contextOf } from "./page.js";

/** A cell of a matrix. */
export interface Cell {
  /** The place of its query, from 0. */
  readonly row: number;
  /** The place of its key, from 0. */
  readonly col: number;
}

/** A row, a column or, with both, a cell. */
export interface Area {
  readonly row?: number | undefined;
  readonly col?: number | undefined;
}

export interface Labels {
  readonly rows?: readonly string[];
  readonly cols?: readonly string[];
  /** The least width of the rows' labels, for pictures whose columns stand above each other. */
  readonly rowsWidth?: number;
  /** The titles of the two axes. */
  readonly rowAxis?: string;
  readonly colAxis?: string;
  /** Whether labels have a frame, as tokens in a row have. */
  readonly chips?: boolean;
  /** The font of labels and numbers; that of the page's body by default. */
  readonly family?: string;
}

/** The titles of the axes of a matrix of tokens by tokens. */
export const tokenAxes = { rowAxis: "queries attend", colAxis: "keys are attended to" } as const;

/** Where everything is, in CSS pixels. */
export interface Geometry {
  readonly rows: number;
  readonly cols: number;
  readonly cellWidth: number;
  readonly cellHeight: number;
  /** The space for labels, to the left of the cells and above them. */
  readonly left: number;
  readonly top: number;
}

/** A cell of this size shows three decimals, so cells are never larger. */
const cell = { width: 72, height: 36 };

/** Rows are high enough for readable labels, unless the picture would become higher than this. */
const row = 14;
const height = 560;

const topHeight = 220;
const labelLimit = 88;

/** Between the frame of a chip and its label. */
export const chipPadding = 5;

export function px(size: number): string {
  return `${size}px`;
}

/**
 * The title of an axis, or as many of its words as there is room for, at least one, and where it begins: at its matrix, or before it
 * if it would end beyond the picture.
 *
 * @param written the title with its arrow
 * @param room where it may begin, where the matrix does, and where it must end
 * @param width of a text, as it is drawn
 */
export function axisTitle(
  axis: string,
  written: (words: string) => string,
  [least, start, end]: readonly [number, number, number],
  width: (text: string) => number,
): { readonly words: string; readonly place: number } {
  const all = axis.split(" ");
  const titles = all.map((_, i) => written(i === 0 ? axis : `${all.slice(0, -i).join(" ")}…`));
  const [first = ""] = all;
  const words = titles.find((title) => width(title) <= end - least) ?? first;
  return { words, place: Math.max(least, Math.min(start, end - width(words))) };
}

/** The titles of rows and columns with arrows. */
export const titledRows = (words: string) => `← ${words}`;
export const titledCols = (words: string) => `${words} →`;

let canvas: CanvasRenderingContext2D | null = null;
let bodyFamily: string | null = null;

/** The font of the page, read once, because reading a computed style forces a layout. */
function familyOfBody(): string {
  bodyFamily ??= getComputedStyle(document.body).fontFamily;
  return bodyFamily;
}

/** A canvas context that measures text in a font, by default the page's. */
export function measuring(
  weight: string,
  size: number,
  family = familyOfBody(),
): CanvasRenderingContext2D | null {
  canvas ??= contextOf(document.createElement("canvas"));
  if (canvas) canvas.font = `${weight} ${size}px ${family}`;
  return canvas;
}

/** A cache of widths by font, because every picture measures the same labels. */
const widths = new Map<string, Map<string, number>>();
const mostWidths = 4096;

/** The width of a label as the canvas will draw it, at 12 pixels. */
export function textWidth(text: string, family = familyOfBody()): number {
  const ofFont = widths.get(family) ?? new Map<string, number>();
  widths.set(family, ofFont);
  const known = ofFont.get(text);
  if (known !== undefined) return known;
  // Labels of highlighted rows are bold: measure them so, so that nothing moves when a row is highlighted.
  const context = measuring("600", 12, family);
  if (!context) return text.length * 7;
  const { width } = context.measureText(text);
  if (ofFont.size === mostWidths) ofFont.clear();
  ofFont.set(text, width);
  return width;
}

const widestOf = new WeakMap<readonly string[], { family: string; width: number }>();

export function widest(labels: readonly string[], family = familyOfBody()): number {
  const known = widestOf.get(labels);
  if (known?.family === family) return known.width;
  const most = labels.reduce((most, label) => Math.max(most, textWidth(label, family)), 0);
  const width = Math.ceil(most);
  widestOf.set(labels, { family, width });
  return width;
}

/** Whether column labels are vertical. Single characters never are; they are drawn smaller instead. */
export function labelsStand({ cols = [], family }: Labels, cellWidth: number): boolean {
  return widest(cols, family) > cellWidth - 2 && cols.some((label) => [...label].length > 1);
}

/** The space to the left of the cells: the axis title, the labels up to a limit, and a gap. */
export function leftOf(labels: Labels, limit = labelLimit): number {
  const { rowAxis, rows, rowsWidth = 0, chips = false, family } = labels;
  const gap = 10 + (chips ? 2 * chipPadding : 0);
  const width = rows && Math.max(rowsWidth, Math.min(limit, widest(rows, family)));
  return (rowAxis ? 18 : 0) + (width === undefined ? 0 : width + gap);
}

function topOf(labels: Labels, cellWidth: number, limit: number): number {
  const { cols, colAxis, family } = labels;
  const standing = labelsStand(labels, cellWidth);
  return (
    (colAxis ? 18 : 0) + (cols ? (standing ? Math.min(limit, widest(cols, family)) + 10 : 20) : 0)
  );
}

export function geometryOf(
  rows: number,
  cols: number,
  cell: CellSize,
  labels: Labels,
  limit = labelLimit,
): Geometry {
  return {
    rows,
    cols,
    cellWidth: cell.width,
    cellHeight: cell.height,
    left: leftOf(labels, limit),
    top: topOf(labels, cell.width, limit),
  };
}

export function widthOf(geometry: Geometry): number {
  return geometry.left + geometry.cols * geometry.cellWidth;
}

export function heightOf(geometry: Geometry): number {
  return geometry.top + geometry.rows * geometry.cellHeight;
}

export interface CellSize {
  readonly width: number;
  readonly height: number;
}

/** Cells for matrices of `cols` columns in all that stand side by side in `width` pixels. */
export function cellsFor(width: number, cols: number, rows: number): CellSize {
  const cellWidth = Math.max(1, Math.min(cell.width, Math.floor((width / cols) * 4) / 4));
  return {
    width: cellWidth,
    height: Math.min(cell.height, Math.max(cellWidth, Math.min(row, height / rows))),
  };
}

/** Cells of a matrix above another one: as wide as those below, and lower if it has many rows. */
export function topCellsFor(below: CellSize, rows: number): CellSize {
  return {
    width: below.width,
    height: Math.min(below.height, Math.max(2, Math.floor(topHeight / rows))),
  };
}
