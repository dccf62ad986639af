/** Saves a drawing of lines and marks as it is on the page, with its title and legend. */

import { type Contents, csvBlob, pngOf, svgBlob, textWidth, wrapped } from "heed/view/parts";
import type { RefObject } from "preact";
import { SaveMenu } from "./SaveMenu";

const svgNames = "http://www.w3.org/2000/svg";
const margin = 16;
const lineHeight = 20;

/** Properties that the page's style sheets set and that must be copied into the file. */
const styles = [
  ...["fill", "stroke", "stroke-width", "stroke-dasharray", "paint-order"],
  ...["opacity", "fill-opacity", "stroke-opacity", "text-anchor", "dominant-baseline"],
  ...["font-size", "font-family", "font-weight"],
];

function styledCopy(original: Element): Element {
  const copy = original.cloneNode(true) as Element;
  const [from, to] = [original, copy].map((root) => [root, ...root.querySelectorAll("*")]);
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

function element(name: string, attributes: Record<string, string | number>): Element {
  const made = document.createElementNS(svgNames, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
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
 * The largest picture within a part of the page and its overlays, with legend and axis labels, as a stand-alone SVG.
 */
function drawingSvg(part: HTMLElement, title: string): string {
  const area = (svg: SVGElement) => {
    const { clientWidth, clientHeight } = svg;
    return clientWidth * clientHeight;
  };
  const all = [...part.querySelectorAll("svg")];
  const largest = Math.max(...all.map(area));
  const pictures = all.filter((svg) => area(svg) === largest);
  const [picture] = pictures;
  const entries = [...part.querySelectorAll<HTMLElement>(".curve-legend > span")];
  const axes = part.querySelector(".curve-axes")?.textContent ?? "";
  if (!picture) return "";
  const { color, backgroundColor, fontFamily } = getComputedStyle(document.documentElement);
  const drawn = { width: picture.clientWidth, height: picture.clientHeight };
  const width = Math.max(drawn.width, 480) + 2 * margin;
  const legend = flowed(entries, width - margin);
  const lines = wrapped(title, width - 2 * margin);
  const legendTop = margin + lines.length * lineHeight;
  const top = legendTop + ((legend.at(-1)?.row ?? -1) + 1) * lineHeight + 8;
  const height = top + drawn.height + lineHeight + margin;
  const words = (x: number, y: number, text: string, more = {}) => {
    const made = element("text", { x, y, fill: color, "font-size": 12, ...more });
    made.textContent = text;
    return made;
  };
  const file = element("svg", {
    ...{ xmlns: svgNames, width, height, viewBox: `0 0 ${width} ${height}` },
    "font-family": fontFamily,
  });
  file.append(
    element("rect", { width, height, fill: backgroundColor }),
    ...lines.map((line, i) =>
      words(margin, margin + 12 + i * lineHeight, line, { "font-weight": 600 }),
    ),
  );
  for (const { entry, left, row } of legend) {
    const y = legendTop + row * lineHeight;
    const mark = entry.querySelector("svg")?.firstElementChild;
    const group = element("g", { transform: `translate(${left} ${y + 2})` });
    if (mark) group.append(styledCopy(mark));
    file.append(group, words(left + markWidth(entry), y + 12, entry.textContent?.trim() ?? ""));
  }
  const body = element("g", { transform: `translate(${margin} ${top})` });
  body.append(...pictures.flatMap(({ children }) => [...children]).map(styledCopy));
  file.append(body, words(margin, height - margin, axes));
  return new XMLSerializer().serializeToString(file);
}

export function SaveDrawing({
  part,
  title,
  file,
  csv,
}: {
  /** The element that contains the picture. */
  part: RefObject<HTMLElement | null>;
  title: string;
  file: string;
  /** Its numbers, if they can be saved. */
  csv?: () => string;
}) {
  const svg = () => (part.current ? drawingSvg(part.current, title) : "");
  const contents: Contents = {
    png: () => pngOf(svg()),
    svg: () => svgBlob(svg()),
    ...(csv && { csv: () => csvBlob(csv()) }),
  };
  return (
    <div class="save-drawing">
      <SaveMenu title={title} file={file} contents={contents} />
    </div>
  );
}
