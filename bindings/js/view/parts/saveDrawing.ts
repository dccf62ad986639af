/** Saves a drawing of lines and marks from the page, with its title and legend, as a file. */
import {
  captionSvg,
  fileSvg,
  lineHeight,
  margin,
  textSvg,
  wrapped,
  xmlOf,
} from "../picture/export.js";
import type { Ink } from "../picture/ink.js";
import { textWidth } from "../picture/layout.js";
import { svgElement } from "./svg.js";

const legendHeight = 20;
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

/** Copies elements as SVG, moved to a position. */
function copiesSvg(x: number, y: number, originals: readonly Element[]): string {
  const group = svgElement("g", { transform: `translate(${x} ${y})` });
  group.append(...originals.map(styledCopy));
  return xmlOf(new XMLSerializer().serializeToString(group));
}

/** The width of a legend's mark and of the gap after it; 0 without a mark. */
function markWidth(entry: HTMLElement): number {
  const mark = entry.querySelector("svg");
  return mark ? mark.clientWidth + 6 : 0;
}

/** Places the entries of a legend in rows that end before `right`. */
function flowed(entries: readonly HTMLElement[], right: number, { family }: Ink) {
  let [row, end] = [0, margin];
  return entries.map((entry) => {
    const width = markWidth(entry) + textWidth(entry.textContent?.trim() ?? "", family);
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
 * The largest picture within a part of the page and its overlays, with legend and axis labels, as a
 * stand-alone SVG. It is empty if there is no picture on the page.
 *
 * @param part the element that contains the picture
 * @param ink the colours and the font of the file
 */
export function drawingSvg(part: ParentNode, title: string, ink: Ink): string {
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
  const legend = flowed(entries, width - margin, ink);
  const lines = wrapped(title, width - 2 * margin, ink);
  const legendTop = margin + lines.length * lineHeight;
  const top = legendTop + ((legend.at(-1)?.row ?? -1) + 1) * legendHeight + 8;
  const height = top + drawn.height + lineHeight + margin;
  const parts = captionSvg(lines, ink);
  for (const { entry, left, row } of legend) {
    const y = legendTop + row * legendHeight;
    const mark = entry.querySelector("svg")?.firstElementChild;
    parts.push(
      copiesSvg(left, y + 2, mark ? [mark] : []),
      textSvg(left + markWidth(entry), y + 12, entry.textContent?.trim() ?? "", ink.ink),
    );
  }
  parts.push(
    copiesSvg(
      margin,
      top,
      pictures.flatMap(({ children }) => Array.from(children)),
    ),
    textSvg(margin, height - margin, axes, ink.ink),
  );
  return fileSvg({ width, height }, parts, ink);
}
