/** Saves a matrix as it is drawn, with its tokens, caption and legend: SVG, PNG made from it, and the numbers as CSV or NPY. */
import { colourOf, css, inkOn } from "./colour";
import { format } from "./format";
import type { Ink, Still } from "./paint";
import { heightOf, widthOf } from "./paint";
import { at, entries, largestOf, type View } from "./view";

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

const margin = 16;
const captionSize = 28;
const legend = 40;

/** The matrix as a document of its own, in the colours of the page. */
export function svgOf(picture: Still, caption: string, ink: Ink): string {
  const { geometry: g, view, palette, isHidden, labels } = picture;
  if (!view) return "";
  const parts: string[] = [];
  const text = (x: number, y: number, words: string, more = "") =>
    parts.push(`<text x="${x}" y="${y}" fill="${ink.ink}" ${more}>${escapeXml(words)}</text>`);
  const rect = (x: number, y: number, w: number, h: number, fill: string) =>
    parts.push(`<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${fill}"/>`);

  const width = Math.max(widthOf(g), 320) + 2 * margin;
  const height = heightOf(g) + captionSize + legend + 2 * margin;
  const left = margin + g.left;
  const top = margin + captionSize + g.top;
  text(margin, margin + 12, caption, 'font-weight="600"');
  if (labels.colAxis) text(left, margin + captionSize + 8, `${labels.colAxis} →`);

  for (let i = 0; i < g.rows; ++i) {
    const y = top + i * g.cellHeight;
    const largest = largestOf(view, i);
    for (let j = 0; j < g.cols; ++j) {
      const x = left + j * g.cellWidth;
      const value = at(view, i, j);
      const colour = colourOf(palette, value, largest);
      rect(x, y, g.cellWidth, g.cellHeight, isHidden?.(i, j) ? "url(#hidden)" : css(colour));
      if (isHidden?.(i, j) || g.cellWidth < 38 || g.cellHeight < 15) continue;
      parts.push(
        `<text x="${x + g.cellWidth / 2}" y="${y + g.cellHeight / 2 + 4}" text-anchor="middle" ` +
          `fill="${inkOn(colour)}">${format(value, g.cellWidth >= 46 ? 3 : 2)}</text>`,
      );
    }
    const label = labels.rows?.[i];
    if (label) text(left - 6, y + g.cellHeight / 2 + 4, label, 'text-anchor="end"');
  }
  for (const [j, label] of (labels.cols ?? []).entries()) {
    const x = left + (j + 0.5) * g.cellWidth;
    text(x + 4, top - 5, label, `transform="rotate(-90 ${x + 4} ${top - 5})"`);
  }

  const legendY = top + g.rows * g.cellHeight + 16;
  const colourStops = 24;
  for (let i = 0; i < colourStops; ++i)
    rect(left + i * 5, legendY, 5.5, 8, css(palette.legend(i / (colourStops - 1))));
  text(left, legendY + 22, palette.ends[0]);
  text(left + colourStops * 5, legendY + 22, palette.ends[1], 'text-anchor="end"');

  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">
<defs><pattern id="hidden" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" fill="${ink.hidden}"/><rect width="1" height="6" fill="${ink.hatch}"/></pattern></defs>
<rect width="${width}" height="${height}" fill="${ink.page}"/>
${parts.join("\n")}
</svg>
`;
}

export function pngOf(svg: string): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = url;
  const ratio = 2;
  return image
    .decode()
    .then(() => {
      const canvas = document.createElement("canvas");
      canvas.width = image.width * ratio;
      canvas.height = image.height * ratio;
      canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
      return new Promise<Blob>((resolve, reject) =>
        canvas.toBlob(
          (blob) => (blob ? resolve(blob) : reject(new Error("the browser made no image"))),
          "image/png",
        ),
      );
    })
    .finally(() => URL.revokeObjectURL(url));
}

/** The fewest digits that give back the same 32-bit float. */
function shortest(value: number): string {
  let digits = 6;
  while (digits < 9 && Math.fround(Number(value.toPrecision(digits))) !== value) ++digits;
  return String(Number(value.toPrecision(digits)));
}

/** RFC 4180: every label is quoted, and a quote inside it doubled. */
export function csvOf(
  view: View,
  rows: readonly string[] | undefined,
  cols: readonly string[] | undefined,
): string {
  const quoted = (text: string) => `"${text.replace(/"/g, '""')}"`;
  const header = ["", ...Array.from({ length: view.cols }, (_, j) => cols?.[j] ?? String(j + 1))]
    .map(quoted)
    .join(",");
  const lines = Array.from({ length: view.rows }, (_, i) =>
    [
      quoted(rows?.[i] ?? String(i + 1)),
      ...Array.from({ length: view.cols }, (_, j) => shortest(at(view, i, j))),
    ].join(","),
  );
  return `${[header, ...lines].join("\r\n")}\r\n`;
}

/** NPY 1.0, NumPy's own format: a header padded so that the numbers start at a multiple of 64, then float32 row by row. */
export function npyOf(view: View): Uint8Array<ArrayBuffer> {
  const dictionary = `{'descr': '<f4', 'fortran_order': False, 'shape': (${view.rows}, ${view.cols}), }`;
  const before = 10;
  const start = Math.ceil((before + dictionary.length + 1) / 64) * 64;
  const header = `${dictionary.padEnd(start - before - 1)}\n`;
  const bytes = new Uint8Array(start + 4 * view.rows * view.cols);
  const memory = new DataView(bytes.buffer);
  bytes.set([0x93, ...new TextEncoder().encode("NUMPY"), 1, 0]);
  memory.setUint16(8, header.length, true);
  bytes.set(new TextEncoder().encode(header), before);
  let place = start;
  for (const value of entries(view)) {
    memory.setFloat32(place, value, true);
    place += 4;
  }
  return bytes;
}

export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
