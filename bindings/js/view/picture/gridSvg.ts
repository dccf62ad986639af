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
import { imageOf, type Still } from "./paint.js";
import type { MatrixView } from "./view.js";

/** A small picture with the words below it. */
export interface GridItem {
  readonly view: MatrixView;
  readonly label: string;
  readonly value: string;
}

export interface GridFile {
  readonly caption: string;
  /** What the order and the words below each picture mean. */
  readonly about: string;
  readonly rows: readonly { readonly title: string; readonly items: readonly GridItem[] }[];
  readonly palette: Palette;
  readonly isHidden: Still["isHidden"];
  /** The decimal sign. */
  readonly point: string;
}

type Hides = NonNullable<Still["isHidden"]>;

const side = 60;
const gap = 10;
const words = 14;
const titleWidth = 24;
/** A row of more has several lines. */
const perLine = 16;

/** The hidden cells of all pictures, which are the same in each, as a shape. */
function hiddenSvg({ view: { rows, cols } }: GridItem, isHidden: Hides): string {
  const [width, height] = [side / cols, side / rows];
  let path = "";
  for (let i = 0; i < rows; ++i) {
    for (let j = 0; j < cols; ++j) {
      const first = j;
      while (j < cols && isHidden(i, j)) ++j;
      const wide = (j - first) * width;
      if (wide > 0) path += `M${first * width} ${i * height}h${wide}v${height}h${-wide}z`;
    }
  }
  return `<defs><path id="hides" d="${path}" fill="${hiddenFill}"/></defs>`;
}

/** A small picture and the words below it. Its cells are pixels of an image: as shapes, 144 heads would have 30 MB. */
function itemSvg(
  { view, label, value }: GridItem,
  { palette, isHidden }: GridFile,
  [x, y]: readonly [number, number],
  { ink, faint, page, frame }: Ink,
): string[] {
  const place = `x="${x}" y="${y}"`;
  const size = `width="${side}" height="${side}" preserveAspectRatio="none"`;
  const below = y + side + words;
  return [
    rectSvg(x - 0.5, y - 0.5, side + 1, side + 1, frame),
    rectSvg(x, y, side, side, page),
    ...(isHidden ? [`<use ${place} href="#hides"/>`] : []),
    `<image ${place} ${size} image-rendering="pixelated" href="${imageOf({ view, palette, isHidden })}"/>`,
    textSvg(x, below, label, ink, 'font-size="11"'),
    textSvg(x + side, below, value, faint, 'font-size="11" text-anchor="end"'),
  ];
}

/** All of it as a stand-alone SVG. */
export function gridSvg(file: GridFile, ink: Ink): string {
  const { caption, about, rows, palette, isHidden, point } = file;
  const most = Math.max(...rows.map(({ items }) => Math.min(perLine, items.length)));
  const width = Math.max(narrowest, titleWidth + most * (side + gap)) + 2 * margin;
  const lines = wrapped(caption, width - 2 * margin);
  const aboutLines = wrapped(about, width - 2 * margin);
  const parts = captionSvg(lines, ink);
  const [first] = rows.flatMap(({ items }) => items);
  if (first && isHidden) parts.push(hiddenSvg(first, isHidden));
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
  const place = { left: margin + titleWidth, top: top + gap };
  parts.push(...scaleSvg(palette, ends, isHidden !== undefined, place, ink));
  return fileSvg({ width, height: top + legendHeight + margin }, parts, ink);
}
