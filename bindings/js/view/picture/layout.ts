/** The sizes of a picture's cells and labels, which do not depend on its numbers. */

import { contextOf } from "./page.js";

/** A cell of a matrix. */
export interface Cell {
  /** The index of the query, from 0. */
  readonly row: number;
  /** The index of the key, from 0. */
  readonly col: number;
}

/** A row, a column or, with both indices, a cell. */
export interface Area {
  readonly row?: number | undefined;
  readonly col?: number | undefined;
}

/** Whether both are the same area, of the same matrix; null is no area. */
export function isSame(
  a: (Area & { readonly matrix?: string }) | null,
  b: (Area & { readonly matrix?: string }) | null,
): boolean {
  return a?.row === b?.row && a?.col === b?.col && a?.matrix === b?.matrix;
}

export interface Labels {
  readonly rows?: readonly string[];
  readonly cols?: readonly string[];
  /** The least width of the rows' labels, for pictures above each other whose columns are aligned. */
  readonly rowsWidth?: number;
  /** The titles of the two axes. */
  readonly rowAxis?: string;
  readonly colAxis?: string;
  /** Whether labels have a frame, like tokens in a row. */
  readonly chips?: boolean;
  /** The font of labels and numbers; the font of the page's body by default. */
  readonly family?: string;
}

/** The titles of the axes of a matrix of tokens by tokens. */
export const tokenAxes = { rowAxis: "queries attend", colAxis: "keys are attended to" } as const;

/** The positions and sizes of all parts, in CSS pixels. */
export interface Geometry {
  readonly rows: number;
  readonly cols: number;
  readonly cellWidth: number;
  readonly cellHeight: number;
  /** The space for labels, to the left of the cells and above them. */
  readonly left: number;
  readonly top: number;
}

/** The largest size of a cell, which is enough for three decimals. */
const cell = { width: 72, height: 36 };

/** Rows are high enough for readable labels, unless the picture would be higher than the limit. */
const row = 14;
const height = 560;

const topHeight = 220;
const labelLimit = 88;

/** The space between the frame of a chip and its label. */
export const chipPadding = 5;

export function px(size: number): string {
  return `${size}px`;
}

/**
 * The title of an axis and its position. The title has as many of its words as fit, at least one.
 * It begins where the matrix begins, or earlier if it would end beyond the picture.
 *
 * @param written the title with its arrow
 * @param room the least position of the title, the beginning of the matrix, and the largest end of
 *   the title
 * @param width returns the width of a drawn text
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

/** The font of the page. It is read once, because reading a computed style forces a layout. */
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
  // Labels of highlighted rows are bold, so all are measured in bold, and nothing moves when a row is highlighted.
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

/** If cells are smaller than their labels, only every n-th one has a label. */
export function labelStep(cellSize: number, labelSize: number): number {
  return Math.ceil(labelSize / cellSize);
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

/**
 * The cell size for matrices next to each other in `width` pixels, with `cols` columns in total,
 * each at least `least` pixels wide.
 */
export function cellsFor(width: number, cols: number, rows: number, least = 1): CellSize {
  const cellWidth = Math.max(least, Math.min(cell.width, Math.floor((width / cols) * 4) / 4));
  return {
    width: cellWidth,
    height: Math.min(cell.height, Math.max(cellWidth, Math.min(row, height / rows))),
  };
}

/** The cell size of a matrix above another one: the same width, and less height if it has many rows. */
export function topCellsFor(below: CellSize, rows: number): CellSize {
  return {
    width: below.width,
    height: Math.min(below.height, Math.max(2, Math.floor(topHeight / rows))),
  };
}
