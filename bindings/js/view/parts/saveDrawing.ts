/** A drawing of lines and marks as it is on the page, with its title and legend, as a file. */
import { wrapped, xmlOf } from "../picture/export.js";
import type { Ink } from "../picture/ink.js";
import { textWidth } from "../picture/layout.js";
import { svgElement, svgNames } from "./svg.js";

const margin = 16;
const lineHeight = 20;
const narrowest = 480;

/** Properties that style sheets set and that must be copied into the file. */
const styles = [
  ...["fill", "stroke", "stroke-width", "stroke-dasharray", "paint-order"],
  ...["opacity", "fill-opacity", "stroke-opacity", "text-anchor", "dominant-baseline"],
  ...["font-size", "font-family", "font-weight", "visibility"],
];

function styledCopy(original: Element): Element {
  const copy = original.cloneNode(true) as Element;
  const [from, to] = [original, copy].map((root) => [
    root,
    ...Array.from(root.querySelectorAll("*")),
  ]);
  for (const [i, element] of (from ?? []).entries()) {
    const computed = getComputedStyle(element);
    const target = to?.[i];
    target?.removeAttribute("class");
    for (const name of styles) {
      const value = computed.getPropertyValue(name);
      if (value) target?.setAttribute(name, value);
    }
  }
  return copy;
}

/** The width of a legend's mark and of the gap after it; 0 without a mark. */
function markWidth(entry: HTMLElement): number {
  const mark = entry.querySelector("svg");
  return mark ? mark.clientWidth + 6 : 0;
}

/** Places the entries of a legend one after the other, in rows that end before `right`. */
function flowed(entries: readonly HTMLElement[], right: number) {
  let [row, end] = [0, margin];
  return entries.map((entry) => {
    const width = markWidth(entry) + textWidth(entry.textContent?.trim() ?? "");
    if (end > margin && end + width > right) {
      row += 1;
      end = margin;
    }
    const left = end;
    end += width + 20;
    return { entry, left, row };
  });
}

/**
 * The largest picture within a part of the page and its overlays, with legend and axis labels, as a stand-alone SVG. It
 * is empty if there is no picture on the page.
 *
 * @param part the element that contains the picture
 * @param ink the colours and the font of the file
 */
export function drawingSvg(
  part: ParentNode,
  title: string,
  { ink, page, family }: Pick<Ink, "ink" | "page" | "family">,
): string {
  const area = (svg: SVGElement) => {
    const { clientWidth, clientHeight } = svg;
    return clientWidth * clientHeight;
  };
  const all = Array.from(part.querySelectorAll("svg"));
  const largest = Math.max(...all.map(area));
  const pictures = all.filter((svg) => area(svg) === largest);
  const [picture] = pictures;
  const entries = Array.from(part.querySelectorAll<HTMLElement>(".curve-legend > span"));
  const axes = part.querySelector(".curve-axes")?.textContent ?? "";
  if (!picture || largest === 0) return "";
  const drawn = { width: picture.clientWidth, height: picture.clientHeight };
  const width = Math.max(drawn.width, narrowest) + 2 * margin;
  const legend = flowed(entries, width - margin);
  const lines = wrapped(title, width - 2 * margin);
  const legendTop = margin + lines.length * lineHeight;
  const top = legendTop + ((legend.at(-1)?.row ?? -1) + 1) * lineHeight + 8;
  const height = top + drawn.height + lineHeight + margin;
  const words = (x: number, y: number, text: string, more = {}) => {
    const made = svgElement("text", { x, y, fill: ink, "font-size": 12, ...more });
    made.textContent = text;
    return made;
  };
  const file = svgElement("svg", {
    ...{ xmlns: svgNames, width, height, viewBox: `0 0 ${width} ${height}` },
    "font-family": family,
  });
  file.append(
    svgElement("rect", { width, height, fill: page }),
    ...lines.map((line, i) =>
      words(margin, margin + 12 + i * lineHeight, line, { "font-weight": 600 }),
    ),
  );
  for (const { entry, left, row } of legend) {
    const y = legendTop + row * lineHeight;
    const mark = entry.querySelector("svg")?.firstElementChild;
    const group = svgElement("g", { transform: `translate(${left} ${y + 2})` });
    if (mark) group.append(styledCopy(mark));
    file.append(group, words(left + markWidth(entry), y + 12, entry.textContent?.trim() ?? ""));
  }
  const body = svgElement("g", { transform: `translate(${margin} ${top})` });
  body.append(...pictures.flatMap(({ children }) => Array.from(children)).map(styledCopy));
  file.append(body, words(margin, height - margin, axes));
  return xmlOf(new XMLSerializer().serializeToString(file));
}
