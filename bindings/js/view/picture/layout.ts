/** The size of a picture's cells and of its labels, which does not depend on its numbers. */

export interface Cell {
  readonly row: number;
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

let canvas: CanvasRenderingContext2D | null = null;

/** A canvas context that measures text in the page's font. */
export function measuring(weight: string, size: number): CanvasRenderingContext2D | null {
  canvas ??= document.createElement("canvas").getContext("2d");
  if (canvas) canvas.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  return canvas;
}

/** A cache of widths, because every picture measures the same labels. */
const widths = new Map<string, number>();
const mostWidths = 4096;

/** The width of a label as the canvas will draw it, at 12 pixels. */
export function textWidth(text: string): number {
  const known = widths.get(text);
  if (known !== undefined) return known;
  // Labels of highlighted rows are bold: measure them so, so that nothing moves when a row is highlighted.
  const context = measuring("600", 12);
  if (!context) return text.length * 7;
  const { width } = context.measureText(text);
  if (widths.size === mostWidths) widths.clear();
  widths.set(text, width);
  return width;
}

const widestOf = new WeakMap<readonly string[], number>();

export function widest(labels: readonly string[]): number {
  const known = widestOf.get(labels) ?? Math.ceil(Math.max(0, ...labels.map(textWidth)));
  widestOf.set(labels, known);
  return known;
}

/** Whether column labels are vertical. Single characters never are; they are drawn smaller instead. */
export function labelsStand(labels: readonly string[], cellWidth: number): boolean {
  return widest(labels) > cellWidth - 2 && labels.some((label) => [...label].length > 1);
}

/** The space to the left of the cells: the axis title, the labels up to a limit, and a gap. */
export function leftOf(labels: Labels, limit = labelLimit): number {
  const { rowAxis, rows, rowsWidth = 0, chips = false } = labels;
  const gap = 10 + (chips ? 2 * chipPadding : 0);
  return (rowAxis ? 18 : 0) + (rows ? Math.max(rowsWidth, Math.min(limit, widest(rows))) + gap : 0);
}

function topOf(labels: Labels, cellWidth: number, limit: number): number {
  const standing = labels.cols && labelsStand(labels.cols, cellWidth);
  return (
    (labels.colAxis ? 18 : 0) +
    (labels.cols ? (standing ? Math.min(limit, widest(labels.cols)) + 10 : 20) : 0)
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
