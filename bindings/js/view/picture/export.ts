/** Saves a matrix: as an SVG, still or animated, or a PNG with labels, caption and legend, and its numbers as NPY. */

import { colourOf, css, endsIn, inkOn, largestIn, type Palette } from "./colour.js";
import { decimalsOfSize, notesOf, numberIn } from "./decimals.js";
import { withPoint } from "./format.js";
import type { Ink } from "./ink.js";
import {
  axisTitle,
  type Geometry,
  geometryOf,
  type Labels,
  labelStep,
  labelsStand,
  textWidth,
  titledCols,
  titledRows,
  widthOf,
} from "./layout.js";
import { appearing } from "./moving.js";
import { npyHeader } from "./npyHeader.js";
import type { Still } from "./paint.js";
import { at, type MatrixView } from "./view.js";

/**
 * Text for an XML file: characters that XML 1.0 forbids, such as most control characters, become
 * U+FFFD. Half of a surrogate pair is kept here, because the encoding as UTF-8 replaces it.
 */
export function xmlOf(text: string): string {
  return text.replace(/[^\t\n\r -\ufffd]/g, "\ufffd");
}

function escapeXml(text: string): string {
  return xmlOf(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** The margin of all files, in pixels. */
export const margin = 16;
export const lineHeight = 16;
export const legendHeight = 40;
export const narrowest = 320;
const colourStops = 24;
const stopWidth = 5;
const scaleWidth = colourStops * stopWidth;
const fontSize = 12;
/** The largest side, in pixels, up to which the cells of a matrix grow for their labels. */
const grownSide = 1536;

/** Words of an SVG. `x` and `y` are a point on their baseline. */
export function textSvg(x: number, y: number, words: string, fill: string, more = ""): string {
  return `<text x="${x}" y="${y}" fill="${fill}" ${more}>${escapeXml(words)}</text>`;
}

export function rectSvg(x: number, y: number, w: number, h: number, fill: string): string {
  return `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${fill}"/>`;
}

/** The fill of a hidden cell. */
export const hiddenFill = "url(#hidden)";

/** Lines of a caption, at the top of a file. */
export function captionSvg(lines: readonly string[], { ink }: Ink): string[] {
  return lines.map((line, i) =>
    textSvg(margin, margin + 12 + i * lineHeight, line, ink, 'font-weight="600"'),
  );
}

/** A scale of colours with its two ends, and the mark of hidden cells. `top` and `left` are the scale's position. */
export function scaleSvg(
  { legend }: Palette,
  [low, high]: readonly [string, string],
  hasHidden: boolean,
  { left, top }: Corner,
  { ink, family }: Ink,
): string[] {
  const stops = Array.from({ length: colourStops }, (_, i) => {
    const colour = css(legend(i / (colourStops - 1)));
    return rectSvg(left + i * stopWidth, top, stopWidth + 0.5, 8, colour);
  });
  const [right, below] = [left + scaleWidth, top + 22];
  return [
    ...stops,
    textSvg(left, below, low, ink),
    textWidth(high, family) < scaleWidth / 2
      ? textSvg(right, below, high, ink, 'text-anchor="end"')
      : textSvg(left + textWidth(low, family) + 16, below, `to ${high}`, ink),
    ...(hasHidden
      ? [rectSvg(right + 16, top, 12, 8, hiddenFill), textSvg(right + 34, top + 8, "hidden", ink)]
      : []),
  ];
}

/** A stand-alone SVG made of parts, with the pattern of hidden cells. */
export function fileSvg(
  { width, height }: { width: number; height: number },
  parts: readonly string[],
  { page, hidden, hatch, family }: Ink,
  style = "",
): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escapeXml(family)}" font-size="${fontSize}">
<defs><pattern id="hidden" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" fill="${hidden}"/><rect width="1" height="6" fill="${hatch}"/></pattern></defs>
${style && `<style>${style}</style>\n`}<rect width="${width}" height="${height}" fill="${page}"/>
${parts.join("\n")}
</svg>
`;
}

/** Wraps words into lines no wider than `width`. */
export function wrapped(words: string, width: number, { family }: Ink): string[] {
  const lines: string[] = [];
  for (const word of words.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && textWidth(longer, family) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/**
 * An animation of the earlier states of a picture. It shows no numbers, because they would change
 * too fast to be read.
 */
export interface Film {
  /** The cells of the picture, and the style that changes them. */
  cells(
    still: Still,
    corner: Corner,
  ): { readonly style: string; readonly groups: readonly string[] };
  /** The text at the end of the legend, placed by its right end and its baseline. */
  names(right: number, y: number, fill: string): readonly string[];
}

/**
 * How a matrix is animated: its rows appear one by one; or also the cells of its first row; or its
 * earlier states (a film).
 */
export type Playing = "rows" | "cells" | Film;

export type Corner = Pick<Geometry, "left" | "top">;

/**
 * Returns a function that draws a cell as SVG; `corner` is the position of the first cell. A hidden
 * cell is hatched.
 */
export function rectOf({ view, geometry: g }: Still, { left, top }: Corner) {
  return (row: number, col: number, fill: string, id = "") => {
    const [x, y] = [left + col * g.cellWidth, top + row * g.cellHeight];
    const place = `x="${x}" y="${y}" width="${g.cellWidth}" height="${g.cellHeight}"`;
    return view?.hides?.(row, col)
      ? `<rect ${place} fill="${hiddenFill}"/>`
      : `<rect ${id}${place} fill="${fill}"/>`;
  };
}

/** The cells as SVG, row by row: "" for a cell without a number. */
function cellsOf(still: Still, corner: Corner, decimals: number | null): string[] {
  const { view, palette, geometry: g, point } = still;
  if (!view) return [];
  const rect = rectOf(still, corner);
  const largestOfRow = largestIn(palette.within, view);
  const cells: string[] = [];
  for (let i = 0; i < g.rows; ++i) {
    const largest = largestOfRow(i);
    for (let j = 0; j < g.cols; ++j) {
      const value = at(view, i, j);
      // A number that is not computed yet has no colour.
      const isEmpty = Number.isNaN(value) && !view.hides?.(i, j);
      const colour = colourOf(palette, value, largest);
      const words =
        decimals === null || isEmpty || view.hides?.(i, j) ? "" : numberIn(value, decimals, point);
      const x = corner.left + (j + 0.5) * g.cellWidth;
      const y = corner.top + (i + 0.5) * g.cellHeight + 4;
      const number = `<text x="${x}" y="${y}" text-anchor="middle" fill="${inkOn(colour)}">${words}</text>`;
      cells.push(isEmpty ? "" : rect(i, j, css(colour)) + (words && number));
    }
  }
  return cells;
}

/** The cells in the groups in which they appear, and the style that animates them. */
function groupsOf(
  picture: Still,
  corner: Corner,
  decimals: number | null,
  playing: Playing | null,
): ReturnType<Film["cells"]> {
  if (typeof playing === "object" && playing) return playing.cells(picture, corner);
  const { rows, cols } = picture.geometry;
  const cells = cellsOf(picture, corner, decimals);
  const rowsOfCells = Array.from({ length: rows }, (_, i) =>
    cells.slice(i * cols, (i + 1) * cols).join("\n"),
  );
  if (playing === null) return { style: "", groups: rowsOfCells };
  const first = playing === "cells" ? cells.slice(0, cols) : rowsOfCells.slice(0, 1);
  const turns = [...first, ...rowsOfCells.slice(1)];
  return {
    style: appearing(turns.length),
    groups: turns.map((cells, turn) => `<g data-plays="${turn}">${cells}</g>`),
  };
}

/** The titles and the labels of rows and columns. */
function labelsSvg(
  labels: Labels,
  { left, top }: Corner,
  { top: above, rows, cellWidth, cellHeight }: Geometry,
  { ink, family }: Ink,
): string[] {
  const parts: string[] = [];
  const text = (x: number, y: number, words: string, more = "") =>
    parts.push(textSvg(x, y, words, ink, more));
  // A file is wide enough for the title of the columns, but its rows may be few.
  if (labels.colAxis) text(left, top - above + 8, titledCols(labels.colAxis));
  if (labels.rowAxis) {
    const room = [top - above, top, Math.ceil(top + rows * cellHeight + legendHeight)] as const;
    const widthIn = (words: string) => textWidth(words, family);
    const { words, place } = axisTitle(labels.rowAxis, titledRows, room, widthIn);
    const turned = `text-anchor="end" transform="rotate(-90 ${margin + 9} ${place})"`;
    text(margin + 9, place, words, turned);
  }
  for (const [i, label] of (labels.rows ?? []).entries())
    if (label && i % labelStep(cellHeight, lineHeight) === 0)
      text(left - 6, top + (i + 0.5) * cellHeight + 4, label, 'text-anchor="end"');
  const stand = labelsStand(labels, cellWidth);
  for (const [j, label] of (labels.cols ?? []).entries()) {
    if (j % labelStep(cellWidth, lineHeight) !== 0) continue;
    const x = left + (j + 0.5) * cellWidth;
    if (stand) text(x + 4, top - 5, label, `transform="rotate(-90 ${x + 4} ${top - 5})"`);
    else text(x, top - 7, label, 'text-anchor="middle"');
  }
  return parts;
}

/**
 * The geometry of a file. Its cells are as large as labels, unless the matrix would be larger than a
 * limit. Labels are not shortened.
 */
function savedGeometry({ geometry: g, labels }: Still): Geometry {
  const grown = (size: number, count: number) =>
    Math.max(size, Math.min(lineHeight, grownSide / count));
  const size = { width: grown(g.cellWidth, g.cols), height: grown(g.cellHeight, g.rows) };
  return geometryOf(g.rows, g.cols, size, labels, Infinity);
}

/**
 * The matrix as a stand-alone SVG, with the colours of the page and the number of decimals that
 * fits. With `playing`, it is animated in an endless loop.
 */
export function svgOf(
  picture: Still,
  caption: string,
  ink: Ink,
  playing: Playing | null = null,
): string {
  const g = savedGeometry(picture);
  const still = { ...picture, geometry: g };
  const { view, palette, labels } = still;
  if (!view) return "";
  const film = typeof playing === "object" ? playing : null;
  const decimals = film ? null : decimalsOfSize(still, fontSize);
  const notes = [palette.curve, ...notesOf(still, decimals)].filter(Boolean).join(", ");
  const notesLeft = g.left + scaleWidth + (view.hides ? 80 : 16);
  const noted = notesLeft + textWidth(notes, ink.family) + 16;
  const width = Math.ceil(Math.max(widthOf(g), narrowest, noted) + 2 * margin);
  const lines = wrapped(caption, width - 2 * margin, ink);
  const [left, top] = [margin + g.left, margin + lines.length * lineHeight + 12 + g.top];
  const corner = { left, top };
  const legend = { left, top: top + g.rows * g.cellHeight + margin };
  const height = Math.ceil(legend.top + legendHeight);
  const { style, groups } = groupsOf(still, corner, decimals, playing);
  const ends = endsIn(palette, view).map((end) => withPoint(end, still.point));
  const parts = [
    ...captionSvg(lines, ink),
    ...groups,
    ...labelsSvg(labels, corner, g, ink),
    ...scaleSvg(palette, ends as [string, string], view.hides !== undefined, legend, ink),
    ...(film?.names(width - margin, legend.top + 22, ink.ink) ?? []),
    notes && textSvg(margin + notesLeft, legend.top + 8, notes, ink.ink),
  ];
  return fileSvg({ width, height }, parts, ink, style);
}

/** A Uint8Array with its own ArrayBuffer, in a form that TypeScript before 5.7 also accepts. */
export type Bytes = ReturnType<Uint8Array["slice"]>;

/**
 * Writes NPY 1.0, NumPy's own format: a header padded so that the numbers start at a multiple of 64
 * bytes, then float32 row by row.
 *
 * @param views matrices of the same size, in the order of the axes
 * @param axes the size of each axis before the rows
 */
export function npyOfAll(views: readonly MatrixView[], axes: readonly number[]): Bytes {
  const { rows = 0, cols = 0 } = views[0] ?? {};
  const header = npyHeader("<f4", [...axes, rows, cols]);
  const bytes = new Uint8Array(header.length + 4 * views.length * rows * cols);
  const memory = new DataView(bytes.buffer);
  bytes.set(header);
  let place = header.length;
  for (const view of views)
    for (let i = 0; i < rows; ++i)
      for (let j = 0; j < cols; ++j, place += 4) memory.setFloat32(place, at(view, i, j), true);
  return bytes;
}

/** One matrix as NPY. */
export function npyOf(view: MatrixView): Bytes {
  return npyOfAll([view], []);
}

export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
