/** Saves shaded tokens as a file, in the same layout as on the page. */
import {
  captionSvg,
  fileSvg,
  lineHeight,
  margin,
  narrowest,
  rectSvg,
  textSvg,
  wrapped,
} from "../picture/export.js";
import type { Ink } from "../picture/ink.js";

/**
 * Lists of tokens as a stand-alone SVG, below a title. The text is empty if they are not on the
 * page.
 *
 * @param ink the colours and the font of the file
 */
export function stripSvg(lists: readonly HTMLElement[], title: string, ink: Ink): string {
  const boxes = lists.map((list) => list.getBoundingClientRect());
  const [first, last] = [boxes[0], boxes.at(-1)];
  if (!first || !last || first.width === 0) return "";
  const zoom = first.width / ((lists[0] as HTMLElement).offsetWidth || first.width);
  const width = Math.max(Math.ceil(first.width / zoom), narrowest) + 2 * margin;
  const lines = wrapped(title, width - 2 * margin, ink);
  const top = margin + lines.length * lineHeight + 8;
  const content = lists.at(-1)?.scrollHeight ?? 0;
  const height = Math.ceil(top + (last.top - first.top) / zoom + content + margin);
  const parts = captionSvg(lines, ink);
  for (const list of lists) {
    for (const token of Array.from(list.children) as HTMLElement[]) {
      const { color, backgroundColor, fontSize } = getComputedStyle(token);
      for (const [i, box] of Array.from(token.getClientRects()).entries()) {
        const x = (box.left - first.left) / zoom + margin;
        const y = (box.top - first.top + list.scrollTop) / zoom + top;
        const [w, h] = [box.width / zoom, box.height / zoom];
        if (backgroundColor !== "rgba(0, 0, 0, 0)")
          parts.push(rectSvg(x, y, w, h, backgroundColor));
        // A token that is broken into two lines is written at its beginning.
        const words = (token.textContent ?? "").trim();
        const place = 'text-anchor="middle" dominant-baseline="central"';
        if (i === 0 && words !== "")
          parts.push(
            textSvg(x + w / 2, y + h / 2, words, color, `${place} font-size="${fontSize}"`),
          );
      }
    }
  }
  return fileSvg({ width, height }, parts, ink);
}
