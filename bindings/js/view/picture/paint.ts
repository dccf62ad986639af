/**
 * Paints one matrix on a canvas: cells, numbers where they fit, labels along its sides, and
 * highlights. It keeps a copy without highlights, so that a new highlight does not redraw
 * everything.
 */

import { colourOf, inkOn, largestIn, type Palette, pixelsOf } from "./colour.js";
import { decimalsIn, type Numbered, numberIn, numberSize } from "./decimals.js";
import type { Ink } from "./ink.js";
import { drawLabels, drawStrongLabels } from "./labels.js";
import { type Area, type Geometry, heightOf, widthOf } from "./layout.js";
import { contextOf } from "./page.js";
import { at, type MatrixView } from "./view.js";

/** A picture without its highlights. A large one is drawn once and kept while the pointer moves over it. */
export interface Still extends Numbered {
  readonly palette: Palette;
  /** The cells that were edited; each has a marked corner. */
  readonly marked: readonly Area[];
}

export interface Picture extends Still {
  /** The picture without highlights: the same object until a part of it changes. */
  readonly still: Still;
  /** The selected query, with a thin outline. */
  readonly selected: Area | null;
  readonly highlights: readonly Area[];
  readonly active: Area | null;
}

let scratch: HTMLCanvasElement | null = null;

/** A canvas with one pixel for each cell. All pictures share this canvas. */
function onePixelEach(
  { rows, cols }: Pick<Geometry, "rows" | "cols">,
  pixels: Uint32Array<ArrayBuffer>,
): HTMLCanvasElement {
  scratch ??= document.createElement("canvas");
  scratch.width = cols;
  scratch.height = rows;
  const image = new ImageData(new Uint8ClampedArray(pixels.buffer), cols, rows);
  contextOf(scratch)?.putImageData(image, 0, 0);
  return scratch;
}

/**
 * Draws one pixel for each cell, and stretches the result: the cost depends only on the number of
 * cells, such as 512 × 512. A pixel that is 0 is transparent.
 */
function stretch(
  context: CanvasRenderingContext2D,
  g: Geometry,
  pixels: Uint32Array<ArrayBuffer>,
): void {
  // Cells that are smaller than a pixel are averaged: without smoothing, some would not be drawn.
  context.imageSmoothingEnabled = Math.min(g.cellWidth, g.cellHeight) < 1;
  const [width, height] = [g.cols * g.cellWidth, g.rows * g.cellHeight];
  context.drawImage(onePixelEach(g, pixels), g.left, g.top, width, height);
}

type Coloured = Pick<Still, "palette"> & { readonly view: MatrixView };

/** One pixel for each cell. The pixels of hidden cells and of cells without a number (NaN) are transparent. */
function pixelsIn({ view, palette }: Coloured): Uint32Array<ArrayBuffer> {
  const { rows, cols, hides } = view;
  const pixels = new Uint32Array(rows * cols);
  const pixelOf = pixelsOf(palette);
  const largestOfRow = largestIn(palette.within, view);
  for (let i = 0, k = 0; i < rows; ++i) {
    const largest = largestOfRow(i);
    for (let j = 0; j < cols; ++j, ++k) {
      const value = at(view, i, j);
      if (!Number.isNaN(value) && !hides?.(i, j)) pixels[k] = pixelOf(value, largest);
    }
  }
  return pixels;
}

/**
 * A matrix as the data URL of a PNG with one pixel for each cell. The pixels of hidden cells are
 * transparent.
 *
 * @param page the colour of cells without a number
 */
export function imageOf(coloured: Coloured, page: string): string {
  const { view } = coloured;
  const canvas = onePixelEach(view, pixelsIn(coloured));
  const context = contextOf(canvas) as CanvasRenderingContext2D;
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = page;
  context.fillRect(0, 0, view.cols, view.rows);
  for (let i = 0; i < view.rows; ++i)
    for (let j = 0; j < view.cols; ++j) if (view.hides?.(i, j)) context.clearRect(j, i, 1, 1);
  return canvas.toDataURL();
}

function drawCells(context: CanvasRenderingContext2D, { view, ...still }: Still): void {
  if (view) stretch(context, still.geometry, pixelsIn({ ...still, view }));
}

/**
 * Hatches the hidden cells, which have neither a colour nor a number. Nothing else may be drawn
 * before, because the compositing would change it.
 */
function drawHidden(context: CanvasRenderingContext2D, still: Still, ink: Ink): void {
  const { geometry: g, view } = still;
  if (!view?.hides) return;
  const pixels = new Uint32Array(g.rows * g.cols);
  for (let i = 0, k = 0; i < g.rows; ++i)
    for (let j = 0; j < g.cols; ++j, ++k) if (view.hides(i, j)) pixels[k] = 0xffffffff;
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

/** Draws thin lines in the page's colour between cells that are large enough to be distinguished. */
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

function drawNumbers(context: CanvasRenderingContext2D, still: Still, ink: Ink): void {
  const { geometry: g, view, palette, point } = still;
  const decimals = decimalsIn(still);
  if (!view || decimals === null) return;
  context.font = `${numberSize(g.cellHeight)}px ${ink.family}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const largestOfRow = largestIn(palette.within, view);
  for (let i = 0; i < g.rows; ++i) {
    const largest = largestOfRow(i);
    for (let j = 0; j < g.cols; ++j) {
      const value = at(view, i, j);
      if (view.hides?.(i, j) || Number.isNaN(value)) continue;
      context.fillStyle = inkOn(colourOf(palette, value, largest));
      context.fillText(
        numberIn(value, decimals, point),
        g.left + (j + 0.5) * g.cellWidth,
        g.top + (i + 0.5) * g.cellHeight + 0.5,
      );
    }
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

/** Draws the marks of cells. `beyond` enlarges the corners by the width that an outline covers. */
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
function drawStill(context: CanvasRenderingContext2D, still: Still, ink: Ink): void {
  const { geometry: g } = still;
  if (g.rows > 0 && g.cols > 0) {
    drawHidden(context, still, ink);
    drawCells(context, still);
  }
  drawGrid(context, still, ink);
  drawNumbers(context, still, ink);
  drawMarks(context, still, still.marked, ink);
  // The frame shows the border of a matrix of zeros, because zero has the colour of the page.
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
function drawHighlights(context: CanvasRenderingContext2D, picture: Picture, ink: Ink): void {
  const { geometry: g, selected, highlights, active, marked } = picture;
  const areas = [selected, active, ...highlights].filter((area) => area !== null);
  drawStrongLabels(context, picture, areas, ink);
  if (selected) outline(context, g, selected, ink, 1);
  for (const area of highlights) outline(context, g, area, ink, 2);
  if (!active) return;
  outline(context, g, active, ink, 3);
  const covered = marked.filter(({ row, col }) => row === active.row && col === active.col);
  drawMarks(context, picture, covered, ink, 4);
}

/** A canvas with more pixels than this (4 bytes each) is drawn at a lower resolution. */
const mostPixels = 8 * 1024 * 1024;

function canvasSizeOf({ still: { geometry } }: Picture): { width: number; height: number } {
  return { width: Math.ceil(widthOf(geometry)), height: Math.ceil(heightOf(geometry)) };
}

/** Clears a canvas and scales it to CSS pixels. */
function clear(
  canvas: HTMLCanvasElement,
  { width, height }: { width: number; height: number },
  ratio: number,
): CanvasRenderingContext2D | null {
  const [columns, rows] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = contextOf(canvas);
  // Setting the size of a canvas, even to the same value, allocates new memory.
  if (canvas.width !== columns || canvas.height !== rows) {
    canvas.width = columns;
    canvas.height = rows;
  } else {
    context?.setTransform(1, 0, 0, 1, 0, 0);
    context?.clearRect(0, 0, columns, rows);
  }
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

export class Surface {
  #drawn: readonly unknown[] = [];
  #still: HTMLCanvasElement | null = null;

  /** Draws the picture. With `isLive` the highlights will change, so a copy without them is kept. */
  draw(
    canvas: HTMLCanvasElement,
    picture: Picture,
    { ink, ratio: wanted, isLive }: { ink: Ink; ratio: number; isLive: boolean },
  ): void {
    const size = canvasSizeOf(picture);
    const ratio = Math.min(wanted, Math.sqrt(mostPixels / (size.width * size.height)));
    const now = [picture.still, ink, ratio, isLive];
    const isSame = now.every((each, i) => each === this.#drawn[i]);
    this.#drawn = now;
    const context = clear(canvas, size, ratio);
    if (!context || canvas.width * canvas.height === 0) return;
    if (isSame && this.#still) {
      context.drawImage(this.#still, 0, 0, canvas.width / ratio, canvas.height / ratio);
    } else {
      drawStill(context, picture.still, ink);
      if (isLive) this.#keep(canvas);
      else this.#still = null;
    }
    drawHighlights(context, picture, ink);
  }

  #keep(canvas: HTMLCanvasElement): void {
    this.#still ??= document.createElement("canvas");
    const { width, height } = canvas;
    clear(this.#still, { width, height }, 1)?.drawImage(canvas, 0, 0);
  }
}
