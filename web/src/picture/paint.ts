/** Draws one matrix on a canvas: cells, numbers where they fit, labels along its sides, and highlights. */

import { format } from "../shared/format";
import { colourOf, inkOn, largestIn, type Palette, pixelsOf } from "./colour";
import { type Geometry, heightOf, type Labels, labelsStand, widthOf } from "./layout";
import { at, type View } from "./view";

/** A row, a column or, with both, a cell. */
export interface Area {
  readonly row?: number | undefined;
  readonly col?: number | undefined;
}

/** The page's colours and font, read from its style sheet. */
export interface Ink {
  readonly ink: string;
  readonly faint: string;
  readonly page: string;
  readonly frame: string;
  readonly hidden: string;
  readonly hatch: string;
  readonly family: string;
}

/** A picture without its highlights; a large one is drawn once and kept while the pointer moves over it. */
export interface Still {
  readonly geometry: Geometry;
  readonly view: View | null;
  readonly palette: Palette;
  readonly labels: Labels;
  readonly isHidden: ((row: number, col: number) => boolean) | undefined;
  /** Cells that were edited; each has a marked corner. */
  readonly marked: readonly Area[];
}

export interface Picture extends Still {
  /** The same object until something in it changes. */
  readonly still: Still;
  /** The selected query, with a thin outline. */
  readonly selected: Area | null;
  readonly highlights: readonly Area[];
  readonly active: Area | null;
}

const labelSize = 12;
const smallestLabel = 7;
/** The room for the words along a side. */
const axisSize = 15;

export function inkOf(element: Element): Ink {
  const style = getComputedStyle(element);
  const value = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: value("--ink"),
    faint: value("--faint"),
    page: value("--page"),
    frame: value("--frame"),
    hidden: value("--hidden"),
    hatch: value("--hatch"),
    family: style.fontFamily,
  };
}

let scratch: HTMLCanvasElement | null = null;

/**
 * Draws one pixel for each cell, stretched: a 512 × 512 map costs no more than its pixels. Those that are 0 stay clear.
 */
function stretch(
  context: CanvasRenderingContext2D,
  g: Geometry,
  pixels: Uint32Array<ArrayBuffer>,
): void {
  const { rows, cols } = g;
  scratch ??= document.createElement("canvas");
  scratch.width = cols;
  scratch.height = rows;
  const image = new ImageData(new Uint8ClampedArray(pixels.buffer), cols, rows);
  scratch.getContext("2d")?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(scratch, g.left, g.top, cols * g.cellWidth, rows * g.cellHeight);
}

/** Cells that are hidden, and those without a number (NaN), stay clear. */
function drawCells(context: CanvasRenderingContext2D, still: Still): void {
  const { geometry: g, view, palette, isHidden } = still;
  if (!view) return;
  const pixels = new Uint32Array(g.rows * g.cols);
  const pixelOf = pixelsOf(palette);
  const largestOfRow = largestIn(palette.within, view);
  for (let i = 0, k = 0; i < g.rows; ++i) {
    const largest = largestOfRow(i);
    for (let j = 0; j < g.cols; ++j, ++k) {
      const value = at(view, i, j);
      if (!Number.isNaN(value) && !isHidden?.(i, j)) pixels[k] = pixelOf(value, largest);
    }
  }
  stretch(context, g, pixels);
}

/** What the mask hides is neither a colour nor a number: it is hatched. Nothing else is drawn yet. */
function drawHidden(context: CanvasRenderingContext2D, still: Still, ink: Ink): void {
  const { geometry: g, isHidden } = still;
  if (!isHidden) return;
  const pixels = new Uint32Array(g.rows * g.cols);
  for (let i = 0, k = 0; i < g.rows; ++i)
    for (let j = 0; j < g.cols; ++j, ++k) if (isHidden(i, j)) pixels[k] = 0xffffffff;
  stretch(context, g, pixels);
  const height = g.rows * g.cellHeight;
  context.save();
  context.globalCompositeOperation = "source-in";
  context.fillStyle = ink.hidden;
  context.fillRect(g.left, g.top, g.cols * g.cellWidth, height);
  context.globalCompositeOperation = "source-atop";
  context.beginPath();
  for (let x = g.left - height; x < widthOf(g); x += Math.max(3, Math.min(6, g.cellWidth / 4))) {
    context.moveTo(x, heightOf(g));
    context.lineTo(x + height, g.top);
  }
  context.lineWidth = 1;
  context.strokeStyle = ink.hatch;
  context.stroke();
  context.restore();
}

/** Thin lines of the page's colour between cells that are large enough to be told apart. */
function drawGrid(context: CanvasRenderingContext2D, { geometry: g }: Still, ink: Ink): void {
  if (Math.min(g.cellWidth, g.cellHeight) < 9) return;
  context.beginPath();
  for (let i = 1; i < g.rows; ++i) {
    context.moveTo(g.left, g.top + i * g.cellHeight);
    context.lineTo(widthOf(g), g.top + i * g.cellHeight);
  }
  for (let j = 1; j < g.cols; ++j) {
    context.moveTo(g.left + j * g.cellWidth, g.top);
    context.lineTo(g.left + j * g.cellWidth, heightOf(g));
  }
  context.lineWidth = 1;
  context.strokeStyle = ink.page;
  context.stroke();
}

/** The number of decimals that fit into a cell for every number of the matrix, or null if not even one fits. */
export function decimalsThatFit(
  context: CanvasRenderingContext2D,
  { geometry: g, view, isHidden }: Still,
): number | null {
  if (!view) return null;
  // All digits have the same width, so most widths are already known.
  const widths = new Map<string, number>();
  const widthOfText = (text: string): number => {
    const shape = text.replace(/\d/g, "0");
    const known = widths.get(shape) ?? context.measureText(shape).width;
    widths.set(shape, known);
    return known;
  };
  let decimals = 3;
  for (let i = 0; i < g.rows; ++i) {
    for (let j = 0; j < g.cols; ++j) {
      if (isHidden?.(i, j)) continue;
      const value = at(view, i, j);
      while (widthOfText(format(value, decimals)) > g.cellWidth - 6) {
        if (--decimals === 0) return null;
      }
    }
  }
  return decimals;
}

function drawNumbers(context: CanvasRenderingContext2D, still: Still, ink: Ink): void {
  const { geometry: g, view, palette, isHidden } = still;
  // Setting a font takes longer than drawing a small picture.
  if (g.cellHeight < 15 || g.cellWidth < 24) return;
  context.font = `${Math.min(12, g.cellHeight * 0.7)}px ${ink.family}`;
  const decimals = decimalsThatFit(context, still);
  if (!view || decimals === null) return;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const largestOfRow = largestIn(palette.within, view);
  for (let i = 0; i < g.rows; ++i) {
    const largest = largestOfRow(i);
    for (let j = 0; j < g.cols; ++j) {
      const value = at(view, i, j);
      if (isHidden?.(i, j) || Number.isNaN(value)) continue;
      context.fillStyle = inkOn(colourOf(palette, value, largest));
      context.fillText(
        format(value, decimals),
        g.left + (j + 0.5) * g.cellWidth,
        g.top + (i + 0.5) * g.cellHeight + 0.5,
      );
    }
  }
}

/** If rows are too low for all labels, only every n-th row has one, and so do highlighted rows. */
function labelStep(cellSize: number): number {
  return Math.max(1, Math.ceil(smallestLabel / cellSize));
}

function fontOf(ink: Ink, size: number, isStrong = false): string {
  return `${isStrong ? "600 " : ""}${size}px ${ink.family}`;
}

/** Column labels are vertical if they do not fit over their cells. */
function standOf({ labels, geometry: g }: Still): boolean {
  return labelsStand(labels.cols ?? [], g.cellWidth);
}

/** Font sizes of labels. */
function rowLabelSize(g: Geometry): number {
  return Math.max(smallestLabel, Math.min(labelSize, g.cellHeight));
}
function colLabelSize(g: Geometry): number {
  return Math.max(smallestLabel, Math.min(labelSize, g.cellWidth));
}

function drawRowLabel(context: CanvasRenderingContext2D, still: Still, row: number): void {
  const { geometry: g, labels } = still;
  context.textBaseline = "middle";
  context.textAlign = "right";
  context.fillText(labels.rows?.[row] ?? "", g.left - 6, g.top + (row + 0.5) * g.cellHeight + 0.5);
}

function drawColLabel(
  context: CanvasRenderingContext2D,
  { geometry: g, labels }: Still,
  col: number,
  stand: boolean,
): void {
  context.save();
  context.textBaseline = "middle";
  context.translate(g.left + (col + 0.5) * g.cellWidth, g.top - (stand ? 5 : 11));
  if (stand) context.rotate(-Math.PI / 2);
  context.textAlign = stand ? "left" : "center";
  context.fillText(labels.cols?.[col] ?? "", 0, stand ? 0.5 : 0);
  context.restore();
}

function drawLabels(context: CanvasRenderingContext2D, still: Still, ink: Ink): void {
  const { geometry: g, labels } = still;
  const { rows = [], cols = [] } = labels;
  context.fillStyle = ink.faint;
  if (rows.length > 0) context.font = fontOf(ink, rowLabelSize(g));
  for (let i = 0; i < rows.length; i += labelStep(g.cellHeight)) drawRowLabel(context, still, i);
  const stand = standOf(still);
  if (cols.length > 0) context.font = fontOf(ink, colLabelSize(g));
  for (let j = 0; j < cols.length; j += labelStep(g.cellWidth))
    drawColLabel(context, still, j, stand);

  if (labels.rowAxis || labels.colAxis) context.font = fontOf(ink, 11);
  if (labels.colAxis) {
    context.textAlign = "left";
    context.fillText(`${labels.colAxis} →`, g.left, 7);
  }
  if (labels.rowAxis) {
    context.save();
    context.translate(7, g.top);
    context.rotate(-Math.PI / 2);
    context.textAlign = "right";
    context.fillText(`← ${labels.rowAxis}`, 0, 0);
    context.restore();
  }
}

/** Draws the labels of highlighted rows and columns in bold, over the normal ones. */
function drawStrongLabels(context: CanvasRenderingContext2D, picture: Picture, ink: Ink): void {
  const { geometry: g, labels, selected, highlights, active } = picture;
  if (!labels.rows && !labels.cols) return;
  const areas = [selected, active, ...highlights].filter((area) => area !== null);
  const indices = (axis: "row" | "col", count: number) =>
    new Set(areas.map((area) => area[axis] ?? count).filter((index) => index < count));
  // The titles of the axes are outside the labels.
  const [left, top] = [labels.rowAxis ? axisSize : 0, labels.colAxis ? axisSize : 0];
  context.fillStyle = ink.ink;

  const rowSize = rowLabelSize(g);
  context.font = fontOf(ink, rowSize, true);
  for (const row of indices("row", labels.rows?.length ?? 0)) {
    const height = rowSize + 2;
    const y = g.top + (row + 0.5) * g.cellHeight - height / 2;
    context.clearRect(left, y, g.left - left - 2, height);
    drawRowLabel(context, picture, row);
  }

  const stand = standOf(picture);
  const colSize = colLabelSize(picture.geometry);
  context.font = fontOf(ink, colSize, true);
  for (const col of indices("col", labels.cols?.length ?? 0)) {
    const width = stand ? colSize + 2 : g.cellWidth;
    const x = g.left + (col + 0.5) * g.cellWidth - width / 2;
    context.clearRect(x, top, width, g.top - top - 2);
    drawColLabel(context, picture, col, stand);
  }
}

function outline(
  context: CanvasRenderingContext2D,
  g: Geometry,
  area: Area,
  ink: Ink,
  width: number,
): void {
  const { row, col } = area;
  if ((row !== undefined && row >= g.rows) || (col !== undefined && col >= g.cols)) return;
  const x = g.left + (col ?? 0) * g.cellWidth;
  const y = g.top + (row ?? 0) * g.cellHeight;
  const w = col === undefined ? g.cols * g.cellWidth : g.cellWidth;
  const h = row === undefined ? g.rows * g.cellHeight : g.cellHeight;
  const inset = width / 2;
  // A line in the page's colour around the ink keeps the outline visible on any cell.
  for (const [colour, extra] of [
    [ink.page, 2],
    [ink.ink, 0],
  ] as const) {
    context.strokeStyle = colour;
    context.lineWidth = width + extra;
    context.strokeRect(x + inset, y + inset, Math.max(1, w - width), Math.max(1, h - width));
  }
}

/** `beyond` enlarges the corners by the width that an outline covers. */
function drawMarks(
  context: CanvasRenderingContext2D,
  { geometry: g }: Still,
  marked: readonly Area[],
  ink: Ink,
  beyond = 0,
) {
  const size = Math.max(2, Math.min(8, g.cellWidth / 3, g.cellHeight / 3)) + beyond;
  for (const { row = 0, col = 0 } of marked) {
    const [right, top] = [g.left + (col + 1) * g.cellWidth, g.top + row * g.cellHeight];
    context.beginPath();
    context.moveTo(right - size, top);
    context.lineTo(right, top);
    context.lineTo(right, top + size);
    context.fillStyle = ink.ink;
    context.fill();
  }
}

/** Draws a picture without highlights on a cleared canvas. */
export function drawStill(context: CanvasRenderingContext2D, still: Still, ink: Ink): void {
  const { geometry: g } = still;
  if (g.rows > 0 && g.cols > 0) {
    drawHidden(context, still, ink);
    drawCells(context, still);
  }
  drawGrid(context, still, ink);
  drawNumbers(context, still, ink);
  drawMarks(context, still, still.marked, ink);
  // The frame shows where a matrix of zeros ends, because zero has the colour of the page.
  context.strokeStyle = ink.frame;
  context.lineWidth = 1;
  context.strokeRect(
    g.left + 0.5,
    g.top + 0.5,
    g.cols * g.cellWidth - 1,
    g.rows * g.cellHeight - 1,
  );
  drawLabels(context, still, ink);
}

/** Draws the highlights over the picture. */
export function drawHighlights(
  context: CanvasRenderingContext2D,
  picture: Picture,
  ink: Ink,
): void {
  const { geometry: g, selected, highlights, active, marked } = picture;
  drawStrongLabels(context, picture, ink);
  if (selected) outline(context, g, selected, ink, 1);
  for (const area of highlights) outline(context, g, area, ink, 2);
  if (!active) return;
  outline(context, g, active, ink, 3);
  const covered = marked.filter(({ row, col }) => row === active.row && col === active.col);
  drawMarks(context, picture, covered, ink, 4);
}
