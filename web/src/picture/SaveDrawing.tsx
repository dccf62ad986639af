/** Saves a drawing of lines and marks as it is on the page, with its title and legend. */
import type { RefObject } from "preact";
import { pngOf, wrapped } from "./export";
import { type Contents, csvBlob, SaveMenu, svgBlob } from "./SaveMenu";

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

/**
 * The largest picture within a part of the page and its overlays, with legend and axis labels, as a stand-alone SVG.
 */
function drawingSvg(part: HTMLElement, title: string): string {
  const area = (svg: SVGElement) => {
    const { width, height } = svg.getBoundingClientRect();
    return width * height;
  };
  const all = [...part.querySelectorAll("svg")];
  const largest = Math.max(...all.map(area));
  const pictures = all.filter((svg) => area(svg) === largest);
  const [picture] = pictures;
  const entries = [...part.querySelectorAll<HTMLElement>(".curve-legend > span")];
  const axes = part.querySelector(".curve-axes")?.textContent ?? "";
  if (!picture) return "";
  const { color, backgroundColor, fontFamily } = getComputedStyle(document.documentElement);
  const drawn = picture.getBoundingClientRect();
  const width = Math.max(drawn.width, 480) + 2 * margin;
  const rows = Math.ceil((entries.length * 150) / width);
  const lines = wrapped(title, width - 2 * margin);
  const legendTop = margin + lines.length * lineHeight;
  const top = legendTop + rows * lineHeight + 8;
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
  const perRow = Math.ceil(entries.length / Math.max(1, rows));
  for (const [i, entry] of entries.entries()) {
    const x = margin + (i % perRow) * 150;
    const y = legendTop + Math.floor(i / perRow) * lineHeight;
    const picture = entry.querySelector("svg");
    const mark = picture?.firstElementChild;
    const group = element("g", { transform: `translate(${x} ${y + 2})` });
    if (mark) group.append(styledCopy(mark));
    const gap = picture ? picture.getBoundingClientRect().width + 6 : 0;
    file.append(group, words(x + gap, y + 12, entry.textContent?.trim() ?? ""));
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
