/** Small pictures of heads in rows, with titles, measures and a legend, as a file. */
import type { Palette } from "./colour.js";
import {
  captionSvg,
  fileSvg,
  hiddenFill,
  legendHeight,
  lineHeight,
  margin,
  narrowest,
  rectSvg,
  scaleSvg,
  textSvg,
  wrapped,
} from "./export.js";
import { withPoint } from "./format.js";
import type { Ink } from "./ink.js";
import { widest } from "./layout.js";
import { imageOf } from "./paint.js";
import type { MatrixView } from "./view.js";

/** A small picture with the words below it. */
export interface GridItem {
  readonly view: MatrixView;
  readonly label: string;
  readonly value: string;
}

export interface GridFile {
  readonly caption: string;
  /** The meaning of the order and of the words below each picture. */
  readonly about: string;
  readonly rows: readonly { readonly title: string; readonly items: readonly GridItem[] }[];
  readonly palette: Palette;
  /** The decimal sign. */
  readonly point: string;
}

/** Describes the rows and the words below each head. */
export const aboutGrid = (byLayer: boolean, measure: string) =>
  byLayer
    ? `One row for each layer. Below each head: its number, and ${measure}.`
    : `Below each head: its layer and number, and ${measure}, the largest first.`;

const side = 68;
const gap = 10;
const words = 14;
/** The number of pictures in a line; a longer row has several lines. */
const perLine = 16;

/**
 * A small picture and the words below it. The cells are pixels of an image: with shapes, a file of
 * 144 heads would have 30 MB.
 */
function itemSvg(
  { view, label, value }: GridItem,
  { palette }: GridFile,
  [x, y]: readonly [number, number],
  { ink, faint, page, frame }: Ink,
): string[] {
  const place = `x="${x}" y="${y}"`;
  const size = `width="${side}" height="${side}" preserveAspectRatio="none"`;
  const below = y + side + words;
  return [
    rectSvg(x - 0.5, y - 0.5, side + 1, side + 1, frame),
    rectSvg(x, y, side, side, view.hides ? hiddenFill : page),
    `<image ${place} ${size} image-rendering="pixelated" href="${imageOf({ view, palette }, page)}"/>`,
    textSvg(x, below, label, ink, 'font-size="10"'),
    textSvg(x + side, below, value, faint, 'font-size="10" text-anchor="end"'),
  ];
}

/** All heads as a stand-alone SVG. */
export function gridSvg(file: GridFile, ink: Ink): string {
  const { caption, about, rows, palette, point } = file;
  const items = rows.flatMap(({ items }) => items);
  const titleWidth =
    widest(
      rows.map(({ title }) => title),
      ink.family,
    ) + gap;
  const most = Math.max(...rows.map(({ items }) => Math.min(perLine, items.length)));
  const width = Math.max(narrowest, titleWidth + most * (side + gap)) + 2 * margin;
  const lines = wrapped(caption, width - 2 * margin, ink);
  const aboutLines = wrapped(about, width - 2 * margin, ink);
  const parts = captionSvg(lines, ink);
  let top = margin + lines.length * lineHeight;
  for (const line of aboutLines) {
    parts.push(textSvg(margin, top + 12, line, ink.faint));
    top += lineHeight;
  }
  top += gap;
  for (const { title, items } of rows) {
    parts.push(textSvg(margin, top + 12, title, ink.faint));
    for (const [i, item] of items.entries()) {
      const x = margin + titleWidth + (i % perLine) * (side + gap);
      const y = top + Math.floor(i / perLine) * (side + words + gap);
      parts.push(...itemSvg(item, file, [x, y], ink));
    }
    top += Math.ceil(items.length / perLine) * (side + words + gap);
  }
  const ends = palette.ends.map((end) => withPoint(end, point)) as [string, string];
  const hasHidden = items.some(({ view }) => view.hides);
  const place = { left: margin + titleWidth, top: top + gap };
  parts.push(...scaleSvg(palette, ends, hasHidden, place, ink));
  return fileSvg({ width, height: top + legendHeight + margin }, parts, ink);
}
