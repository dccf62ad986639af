/** Saves the chart as it is drawn, with its title and legend. */
import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import { download, pngOf } from "../../export";

const svgNames = "http://www.w3.org/2000/svg";
const margin = 16;
const lineHeight = 20;

/** What a style sheet decides on the page has to stand in the file. */
const styles = [
  ...["fill", "stroke", "stroke-width", "stroke-dasharray", "paint-order"],
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

/** The picture within `chart`, its legend and its words, as a document of its own. */
export function svgOf(chart: HTMLElement, title: string): string {
  const picture = chart.querySelector(":scope > div > svg");
  const entries = [...chart.querySelectorAll<HTMLElement>(".curve-legend > span")];
  const axes = chart.querySelector(".curve-axes")?.textContent ?? "";
  if (!picture) return "";
  const { color, backgroundColor, fontFamily } = getComputedStyle(document.documentElement);
  const drawn = picture.getBoundingClientRect();
  const width = Math.max(drawn.width, 480) + 2 * margin;
  const rows = Math.ceil((entries.length * 150) / width);
  const top = margin + (1 + rows) * lineHeight + 8;
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
    words(margin, margin + 12, title, { "font-weight": 600 }),
  );
  const perRow = Math.ceil(entries.length / Math.max(1, rows));
  for (const [i, entry] of entries.entries()) {
    const x = margin + (i % perRow) * 150;
    const y = margin + (1 + Math.floor(i / perRow)) * lineHeight;
    const mark = entry.querySelector("svg")?.firstElementChild;
    const group = element("g", { transform: `translate(${x} ${y + 2})` });
    if (mark) group.append(styledCopy(mark));
    file.append(group, words(x + 18, y + 12, entry.textContent?.trim() ?? ""));
  }
  const body = element("g", { transform: `translate(${margin} ${top})` });
  body.append(...[...picture.children].map(styledCopy));
  file.append(body, words(margin, height - margin, axes));
  return new XMLSerializer().serializeToString(file);
}

export function SaveChart({
  chart,
  title,
}: {
  chart: RefObject<HTMLElement | null>;
  title: string;
}) {
  const menu = useRef<HTMLDetailsElement>(null);
  const save = async (format: "svg" | "png") => {
    if (menu.current) menu.current.open = false;
    if (!chart.current) return;
    const svg = svgOf(chart.current, title);
    const blob = format === "svg" ? new Blob([svg], { type: "image/svg+xml" }) : await pngOf(svg);
    download(blob, `heed-speed.${format}`);
  };
  return (
    <details ref={menu} class="save">
      <summary aria-label="Save the chart">save</summary>
      <span class="save-choices">
        {(["png", "svg"] as const).map((format) => (
          <button key={format} type="button" onClick={() => save(format)}>
            {format.toUpperCase()}
          </button>
        ))}
      </span>
    </details>
  );
}
