/** Shaded tokens as they stand on the page, as a file. */
import { wrapped, xmlOf } from "../picture/export.js";
import type { Ink } from "../picture/ink.js";
import { svgElement, svgNames } from "./svg.js";

const margin = 16;
const lineHeight = 20;
const narrowest = 320;

/**
 * Lists of tokens as a stand-alone SVG, below a title. It is empty if they are not on the page.
 *
 * @param ink the colours and the font of the file
 */
export function stripSvg(
  lists: readonly HTMLElement[],
  title: string,
  { ink, page, family }: Pick<Ink, "ink" | "page" | "family">,
): string {
  const boxes = lists.map((list) => list.getBoundingClientRect());
  const [first, last] = [boxes[0], boxes.at(-1)];
  if (!first || !last || first.width === 0) return "";
  const zoom = first.width / ((lists[0] as HTMLElement).offsetWidth || first.width);
  const width = Math.max(Math.ceil(first.width / zoom), narrowest) + 2 * margin;
  const lines = wrapped(title, width - 2 * margin);
  const top = margin + lines.length * lineHeight + 8;
  const content = lists.at(-1)?.scrollHeight ?? 0;
  const height = Math.ceil(top + (last.top - first.top) / zoom + content + margin);
  const file = svgElement("svg", {
    ...{ xmlns: svgNames, width, height, viewBox: `0 0 ${width} ${height}` },
    ...{ "font-family": family, "font-size": 12 },
  });
  file.append(svgElement("rect", { width, height, fill: page }));
  const write = (words: string, attributes: Record<string, string | number>) => {
    const text = svgElement("text", { fill: ink, ...attributes });
    text.textContent = words;
    file.append(text);
  };
  for (const [i, line] of lines.entries())
    write(line, { x: margin, y: margin + 12 + i * lineHeight, "font-weight": 600 });
  for (const list of lists) {
    for (const token of Array.from(list.children) as HTMLElement[]) {
      const { color, backgroundColor, fontSize } = getComputedStyle(token);
      for (const [i, box] of Array.from(token.getClientRects()).entries()) {
        const x = (box.left - first.left) / zoom + margin;
        const y = (box.top - first.top + list.scrollTop) / zoom + top;
        const [w, h] = [box.width / zoom, box.height / zoom];
        if (backgroundColor !== "rgba(0, 0, 0, 0)")
          file.append(svgElement("rect", { x, y, width: w, height: h, fill: backgroundColor }));
        // A token that breaks is written at its beginning.
        const size = Number.parseFloat(fontSize);
        const words = (token.textContent ?? "").trim();
        if (i === 0 && words !== "")
          write(words, {
            ...{ x: x + w / 2, y: y + h / 2, "text-anchor": "middle" },
            ...{ "dominant-baseline": "central", fill: color, "font-size": size },
          });
      }
    }
  }
  return xmlOf(new XMLSerializer().serializeToString(file));
}
