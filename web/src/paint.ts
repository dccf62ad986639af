/** Draws one matrix on a canvas: cells, numbers where they fit, tokens along its sides, and what is lit. */
import { inkOn, type Palette } from "./colour";
import { format } from "./format";
import { labelsStand } from "./layout";
import { at, type View } from "./view";

/** A row, a column, or with both a cell. */
export interface Light {
  readonly row?: number | undefined;
  readonly col?: number | undefined;
}

export interface Labels {
  readonly rows?: readonly string[];
  readonly cols?: readonly string[];
  /** The words along each side that say what rows and columns do. */
  readonly rowAxis?: string;
  readonly colAxis?: string;
}

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

/** The page's own colours and type, read from its style sheet. */
export interface Ink {
  readonly ink: string;
  readonly faint: string;
  readonly page: string;
  readonly frame: string;
  readonly hidden: string;
  readonly hatch: string;
  readonly family: string;
}

export interface Picture {
  readonly geometry: Geometry;
  readonly view: View | null;
  readonly palette: Palette;
  readonly labels: Labels;
  readonly isHidden: ((row: number, col: number) => boolean) | undefined;
  /** The selected query, marked quietly. */
  readonly selected: Light | null;
  readonly lights: readonly Light[];
  /** Cells that were set by hand: each has a corner of ink. */
  readonly marked?: readonly Light[];
  readonly active: Light | null;
}

const labelSize = 12;
const smallestLabel = 7;

export function widthOf(geometry: Geometry): number {
  return geometry.left + geometry.cols * geometry.cellWidth;
}

export function heightOf(geometry: Geometry): number {
  return geometry.top + geometry.rows * geometry.cellHeight;
}

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

/** The cells as one pixel each, to be stretched: a 512 × 512 map costs no more than its pixels. Hidden ones, and those without a number (NaN), stay clear. */
export function cellBitmap(
  view: View,
  palette: Palette,
  isHidden: Picture["isHidden"],
): HTMLCanvasElement | null {
  if (view.rows === 0 || view.cols === 0) return null;
  const canvas = document.createElement("canvas");
  canvas.width = view.cols;
  canvas.height = view.rows;
  const context = canvas.getContext("2d");
  if (!context) return null;
  const image = context.createImageData(view.cols, view.rows);
  for (let i = 0, p = 0; i < view.rows; ++i) {
    let largest = 0;
    for (let j = 0; j < view.cols; ++j) largest = Math.max(largest, at(view, i, j) || 0);
    for (let j = 0; j < view.cols; ++j, p += 4) {
      const value = at(view, i, j);
      if (isHidden?.(i, j) || Number.isNaN(value)) continue;
      const [r, g, b] = palette.colour(value, largest);
      image.data[p] = r;
      image.data[p + 1] = g;
      image.data[p + 2] = b;
      image.data[p + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** What the mask hides is neither a colour nor a number: it is hatched. */
function drawHatching(
  context: CanvasRenderingContext2D,
  { geometry: g, isHidden }: Picture,
  ink: Ink,
): void {
  if (!isHidden) return;
  const hidden = new Path2D();
  // Neighbours in a row are one rectangle: a mask of 512 tokens is then some hundred of them.
  for (let i = 0; i < g.rows; ++i) {
    for (let j = 0, from = 0; j <= g.cols; ++j) {
      if (j < g.cols && isHidden(i, j)) continue;
      const [x, y] = [g.left + from * g.cellWidth, g.top + i * g.cellHeight];
      if (j > from) hidden.rect(x, y, (j - from) * g.cellWidth, g.cellHeight);
      from = j + 1;
    }
  }
  context.save();
  context.clip(hidden);
  context.fillStyle = ink.hidden;
  context.fill(hidden);
  const height = g.rows * g.cellHeight;
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
function drawGrid(context: CanvasRenderingContext2D, { geometry: g }: Picture, ink: Ink): void {
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

/** As many decimals as fit into a cell for every number of the matrix, or null if not even one does. */
function decimalsThatFit(
  context: CanvasRenderingContext2D,
  { geometry: g, view, isHidden }: Picture,
): number | null {
  if (!view || g.cellHeight < 15 || g.cellWidth < 24) return null;
  let decimals = 3;
  for (let i = 0; i < g.rows; ++i) {
    for (let j = 0; j < g.cols; ++j) {
      if (isHidden?.(i, j)) continue;
      const value = at(view, i, j);
      while (context.measureText(format(value, decimals)).width > g.cellWidth - 6) {
        if (--decimals === 0) return null;
      }
    }
  }
  return decimals;
}

function drawNumbers(context: CanvasRenderingContext2D, picture: Picture, ink: Ink): void {
  const { geometry: g, view, palette, isHidden } = picture;
  context.font = `${Math.min(12, g.cellHeight * 0.7)}px ${ink.family}`;
  const decimals = decimalsThatFit(context, picture);
  if (!view || decimals === null) return;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let i = 0; i < g.rows; ++i) {
    let largest = 0;
    for (let j = 0; j < g.cols; ++j) largest = Math.max(largest, at(view, i, j) || 0);
    for (let j = 0; j < g.cols; ++j) {
      const value = at(view, i, j);
      if (isHidden?.(i, j) || Number.isNaN(value)) continue;
      context.fillStyle = inkOn(palette.colour(value, largest));
      context.fillText(
        format(value, decimals),
        g.left + (j + 0.5) * g.cellWidth,
        g.top + (i + 0.5) * g.cellHeight + 0.5,
      );
    }
  }
}

/** Where rows are too low for their words, every so many keeps its label, and so do those that are lit. */
function labelStep(cellSize: number): number {
  return Math.max(1, Math.ceil(smallestLabel / cellSize));
}

function drawLabels(context: CanvasRenderingContext2D, picture: Picture, ink: Ink): void {
  const { geometry: g, labels, selected, lights, active } = picture;
  const marked = (axis: "row" | "col", index: number) =>
    [...lights, ...(active ? [active] : [])].some((light) => light[axis] === index);
  const font = (size: number, bold: boolean) => `${bold ? "600 " : ""}${size}px ${ink.family}`;
  context.textBaseline = "middle";

  const rowSize = Math.max(smallestLabel, Math.min(labelSize, g.cellHeight));
  for (const [i, label] of (labels.rows ?? []).entries()) {
    const strong = selected?.row === i || marked("row", i);
    if (!strong && i % labelStep(g.cellHeight) !== 0) continue;
    context.font = font(rowSize, strong);
    context.fillStyle = strong ? ink.ink : ink.faint;
    context.textAlign = "right";
    context.fillText(label, g.left - 6, g.top + (i + 0.5) * g.cellHeight + 0.5);
  }

  context.font = font(labelSize, false);
  // Column labels lie flat while they fit over their cells, else they stand.
  const stand = labelsStand(labels.cols ?? [], g.cellWidth);
  const colSize = Math.max(smallestLabel, Math.min(labelSize, g.cellWidth));
  for (const [j, label] of (labels.cols ?? []).entries()) {
    const strong = selected?.col === j || marked("col", j);
    if (!strong && j % labelStep(g.cellWidth) !== 0) continue;
    context.font = font(colSize, strong);
    context.fillStyle = strong ? ink.ink : ink.faint;
    context.save();
    context.translate(g.left + (j + 0.5) * g.cellWidth, g.top - (stand ? 5 : 11));
    if (stand) context.rotate(-Math.PI / 2);
    context.textAlign = stand ? "left" : "center";
    context.fillText(label, 0, stand ? 0.5 : 0);
    context.restore();
  }

  context.font = font(11, false);
  context.fillStyle = ink.faint;
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

function outline(
  context: CanvasRenderingContext2D,
  g: Geometry,
  light: Light,
  ink: Ink,
  width: number,
): void {
  const { row, col } = light;
  if ((row !== undefined && row >= g.rows) || (col !== undefined && col >= g.cols)) return;
  const x = g.left + (col ?? 0) * g.cellWidth;
  const y = g.top + (row ?? 0) * g.cellHeight;
  const w = col === undefined ? g.cols * g.cellWidth : g.cellWidth;
  const h = row === undefined ? g.rows * g.cellHeight : g.cellHeight;
  const inset = width / 2;
  // A line of the page's colour around the ink keeps the outline visible on cells of any colour.
  for (const [colour, extra] of [
    [ink.page, 2],
    [ink.ink, 0],
  ] as const) {
    context.strokeStyle = colour;
    context.lineWidth = width + extra;
    context.strokeRect(x + inset, y + inset, Math.max(1, w - width), Math.max(1, h - width));
  }
}

function drawMarks(context: CanvasRenderingContext2D, { geometry: g, marked }: Picture, ink: Ink) {
  const size = Math.max(2, Math.min(8, g.cellWidth / 3, g.cellHeight / 3));
  for (const { row = 0, col = 0 } of marked ?? []) {
    const [right, top] = [g.left + (col + 1) * g.cellWidth, g.top + row * g.cellHeight];
    context.beginPath();
    context.moveTo(right - size, top);
    context.lineTo(right, top);
    context.lineTo(right, top + size);
    context.fillStyle = ink.ink;
    context.fill();
  }
}

/** `cells` is what `cellBitmap` made of the picture; it stays the same while only the lights change. */
export function drawMatrix(
  context: CanvasRenderingContext2D,
  picture: Picture,
  cells: HTMLCanvasElement | null,
  ink: Ink,
): void {
  const { geometry: g, selected, lights, active } = picture;
  if (cells) {
    context.imageSmoothingEnabled = false;
    context.drawImage(cells, g.left, g.top, g.cols * g.cellWidth, g.rows * g.cellHeight);
  }
  drawHatching(context, picture, ink);
  drawGrid(context, picture, ink);
  drawNumbers(context, picture, ink);
  drawMarks(context, picture, ink);
  // The frame tells where a matrix of near-zero numbers ends: zero has the colour of the page.
  context.strokeStyle = ink.frame;
  context.lineWidth = 1;
  context.strokeRect(
    g.left + 0.5,
    g.top + 0.5,
    g.cols * g.cellWidth - 1,
    g.rows * g.cellHeight - 1,
  );
  drawLabels(context, picture, ink);
  if (selected) outline(context, g, selected, ink, 1);
  for (const light of lights) outline(context, g, light, ink, 2);
  if (active) outline(context, g, active, ink, 3);
}
