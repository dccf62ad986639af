/** Draws attention as lines from queries on the left to keys on the right, stronger for larger weights. */
import { shorten } from "../picture/format.js";
import { type Area, labelStep, widest } from "../picture/layout.js";
import type { Line } from "./strongest.js";
import { setAttributes, svgElement } from "./svg.js";

/** With more lines than this, each is drawn fainter. */
const fewLines = 150;

/**
 * If there are more lines than this, they are drawn in a few strengths with one element for each,
 * because an element for each line is too slow. The lines of one element do not add up where they
 * cross, so all of them may be stronger.
 */
const manyLines = 500;
const strengthsOfMany = 24;
const opacityOfMany = 0.35;

/** Whether each line has its own element, so that a saved drawing can show the lines query by query. */
export const areApart = (lines: readonly Line[]): boolean => lines.length <= manyLines;

const opacityOf = (count: number) =>
  count > manyLines ? opacityOfMany : Math.min(1, fewLines / count);

/** With more rows than this, some labels are omitted, so that a sentence of hundreds of words fits on one screen. */
const manyRows = 100;
const heightOfMany = 1100;
const fewHeight = { most: 32, least: 11, all: 400 };

/** The least distance between two labels. */
const labelHeight = 9;
const longestLabel = 12;

interface LinesPicture {
  readonly queries: readonly string[];
  readonly keys: readonly string[];
  /** The lines of all queries. */
  readonly lines: readonly Line[];
  /** The highlighted query, key or line, with all its lines in colour; null for none. */
  readonly lit: Area | null;
  /** The lines in colour; by default those among `lines`. */
  readonly own?: readonly Line[];
  /** The width in pixels. */
  readonly width: number;
  /** The font of the labels; by default the page's. */
  readonly family?: string;
}

/** The coordinates where the lines begin and end, in pixels. */
interface Layout {
  readonly left: number;
  readonly right: number;
  readonly width: number;
  readonly rowHeight: number;
  readonly rows: number;
}

const labelsOf = new WeakMap<readonly string[], readonly string[]>();

function shortLabels(tokens: readonly string[]): readonly string[] {
  const known = labelsOf.get(tokens) ?? tokens.map((token) => shorten(token, longestLabel));
  labelsOf.set(tokens, known);
  return known;
}

function rowHeightOf(rows: number): number {
  if (rows > manyRows) return heightOfMany / rows;
  return Math.max(fewHeight.least, Math.min(fewHeight.most, Math.floor(fewHeight.all / rows)));
}

/** The height of a drawing of these tokens, in pixels. */
export function linesHeight(queries: readonly string[], keys: readonly string[]): number {
  const rows = Math.max(queries.length, keys.length, 1);
  return rows * rowHeightOf(rows);
}

/**
 * The width of the widest label. Of thousands of labels only some are drawn: it measures those, and
 * the longest label.
 */
function widestLabel(tokens: readonly string[], rowHeight: number, family?: string): number {
  const labels = shortLabels(tokens);
  const step = labelStep(rowHeight, labelHeight);
  if (step === 1) return widest(labels, family);
  const longest = labels.reduce((most, label) => (label.length > most.length ? label : most), "");
  return widest([longest, ...labels.filter((_, i) => i % step === 0)], family);
}

function layoutOf({ queries, keys, width, family }: LinesPicture): Layout {
  const rows = Math.max(queries.length, keys.length, 1);
  const rowHeight = rowHeightOf(rows);
  const [before, after] = [queries, keys].map((tokens) => widestLabel(tokens, rowHeight, family));
  const left = (before as number) + 12;
  const right = Math.max(left + 40, width - (after as number) - 12);
  return { left, right, width, rows, rowHeight };
}

const middleOf = ({ rowHeight }: Layout, index: number) => (index + 0.5) * rowHeight;

function pathOf(layout: Layout, { row, col }: Line): string {
  const { left, right } = layout;
  const bend = (right - left) / 3;
  const [from, to] = [middleOf(layout, row), middleOf(layout, col)];
  return `M${left} ${from}C${left + bend} ${from} ${right - bend} ${to} ${right} ${to}`;
}

/**
 * The paths of lines, each with the turn in which it appears in an animated file. Of many lines,
 * the weaker ones come first.
 */
function pathsOf(
  lines: readonly Line[],
  path: (line: Line) => string,
): Readonly<Record<string, string | number>>[] {
  if (areApart(lines))
    return lines.map((line) => ({
      ...{ "data-plays": line.row, d: path(line), "stroke-opacity": line.strength },
    }));
  const paths = new Map<number, string>();
  for (const line of lines) {
    const strength = Math.ceil(line.strength * strengthsOfMany) / strengthsOfMany;
    paths.set(strength, (paths.get(strength) ?? "") + path(line));
  }
  return [...paths]
    .sort(([a], [b]) => a - b)
    .map(([strength, d]) => ({ d, "stroke-opacity": strength }));
}

function isLit(line: Line, lit: Area | null): boolean {
  if (!lit) return false;
  const { row = line.row, col = line.col } = lit;
  return row === line.row && col === line.col;
}

/** The largest distance between the pointer and a line that it hits, in pixels. */
const near = 8;

/** The lines between two columns of tokens, drawn in an SVG element that this class updates. */
export class LineDrawing {
  readonly svg = svgElement("svg", {
    ...{ role: "img", "aria-label": "lines from queries to keys", direction: "ltr" },
  });
  readonly #others = svgElement("g", { class: "line-others" });
  readonly #selected = svgElement("g", { class: "line-selected" });
  readonly #labels = svgElement("g", { class: "line-labels" });
  #drawn: LinesPicture | null = null;
  #layout: Layout | null = null;
  /** The drawn labels of both sides, by token. */
  #texts: { query: Map<number, SVGElement>; key: Map<number, SVGElement> } | null = null;

  constructor() {
    this.svg.append(this.#others, this.#selected, this.#labels);
  }

  /** Draws only the differences from the last drawing. A list that is the same object counts as unchanged. */
  draw(picture: LinesPicture): void {
    const before = this.#drawn;
    const isSame = (...names: (keyof LinesPicture)[]) =>
      before !== null && names.every((name) => before[name] === picture[name]);
    const isLaidOut = isSame("queries", "keys", "width", "family");
    const sameLit = isSame("lit", "own");
    if (!isLaidOut) this.#place(picture);
    if (!isLaidOut || !isSame("lines") || !sameLit)
      this.#drawLines(picture, isLaidOut && isSame("lines"));
    if (!isLaidOut || !isSame("lit")) this.#light(picture);
    this.#drawn = picture;
  }

  /** The token or the line at a point of the drawing; null if there is none. */
  hit(x: number, y: number): Area | null {
    const [layout, drawn] = [this.#layout, this.#drawn];
    if (!layout || !drawn) return null;
    const { left, right, rowHeight } = layout;
    const index = Math.floor(y / rowHeight);
    if (index < 0) return null;
    if (x <= left) return index < drawn.queries.length ? { row: index } : null;
    if (x >= right) return index < drawn.keys.length ? { col: index } : null;
    const line = this.#nearest(x, y, layout, [...drawn.lines, ...(drawn.own ?? [])]);
    return line && { row: line.row, col: line.col };
  }

  /**
   * The line nearest to a point. The curves' control points divide the horizontal distance into
   * three equal parts, so x is linear along each curve.
   */
  #nearest(x: number, y: number, layout: Layout, lines: readonly Line[]): Line | null {
    const t = (x - layout.left) / (layout.right - layout.left);
    const start = (1 - t) ** 3 + 3 * (1 - t) ** 2 * t;
    let found: Line | null = null;
    let least = near;
    for (const line of lines) {
      const height = start * middleOf(layout, line.row) + (1 - start) * middleOf(layout, line.col);
      const distance = Math.abs(height - y);
      if (distance > least || (distance === least && line.strength <= (found?.strength ?? 0)))
        continue;
      [found, least] = [line, distance];
    }
    return found;
  }

  /** Draws the labels of both sides. */
  #place(picture: LinesPicture): void {
    const { queries, keys, width } = picture;
    const layout = layoutOf(picture);
    const { left, right, rowHeight, rows } = layout;
    setAttributes(this.svg, { width, height: rows * rowHeight });
    setAttributes(this.#labels, { "font-size": Math.max(8, Math.min(12, rowHeight - 1)) });
    const step = labelStep(rowHeight, labelHeight);
    const write = (tokens: readonly string[], attributes: Record<string, string | number>) => {
      const labels = shortLabels(tokens);
      const made = new Map<number, SVGElement>();
      for (let i = 0; i < labels.length; i += step)
        made.set(i, this.#label(layout, labels[i] as string, i, attributes));
      return made;
    };
    this.#labels.replaceChildren();
    this.#layout = layout;
    this.#texts = {
      query: write(queries, { class: "selectable", x: left - 6, "text-anchor": "end" }),
      key: write(keys, { x: right + 6 }),
    };
  }

  #label(
    layout: Layout,
    words: string,
    index: number,
    attributes: Record<string, string | number>,
  ): SVGElement {
    const text = svgElement("text", { ...attributes, y: middleOf(layout, index) });
    text.textContent = words;
    this.#labels.append(text);
    return text;
  }

  #drawLines({ lines, lit, own }: LinesPicture, hasLines: boolean): void {
    const layout = this.#layout as Layout;
    const path = (line: Line) => pathOf(layout, line);
    const inColour = own ?? lines.filter((line) => isLit(line, lit));
    // Of many lines, the coloured ones cover their grey copies, so the grey ones are not redrawn.
    const isMany = !areApart(lines);
    if (!isMany || !hasLines) {
      const others = isMany ? lines : lines.filter((line) => !isLit(line, lit));
      setAttributes(this.svg, { "aria-label": `${lines.length} lines from queries to keys` });
      setAttributes(this.#others, { opacity: opacityOf(lines.length) });
      this.#others.replaceChildren(
        ...pathsOf(others, path).map((attributes) => svgElement("path", attributes)),
      );
    }
    this.#selected.replaceChildren(
      ...inColour.map((line) =>
        svgElement("path", {
          d: path(line),
          "stroke-opacity": 0.15 + 0.85 * line.strength,
          "stroke-width": 1 + 4 * line.strength,
          "data-plays": line.row,
        }),
      ),
    );
  }

  /** Marks the labels of the highlighted tokens. If such a label was omitted, it replaces its neighbours. */
  #light({ queries, keys, lit }: LinesPicture): void {
    const [layout, texts] = [this.#layout, this.#texts];
    if (!layout || !texts) return;
    const { left, right, rowHeight } = layout;
    for (const extra of Array.from(this.#labels.querySelectorAll("[data-extra]"))) extra.remove();
    const mark = (
      written: Map<number, SVGElement>,
      tokens: readonly string[],
      index: number | undefined,
      attributes: Record<string, string | number>,
    ) => {
      for (const [i, text] of written) {
        text.classList.toggle("selected", i === index);
        const isCovered =
          index !== undefined &&
          i !== index &&
          Math.abs(i - index) * rowHeight < labelHeight - 1e-9;
        if (isCovered) text.setAttribute("visibility", "hidden");
        else text.removeAttribute("visibility");
      }
      const words = shortLabels(tokens)[index ?? -1];
      if (index === undefined || words === undefined || written.has(index)) return;
      const extra = { ...attributes, "data-extra": index };
      this.#label(layout, words, index, extra).classList.add("selected");
    };
    mark(texts.query, queries, lit?.row, {
      ...{ class: "selectable", x: left - 6, "text-anchor": "end" },
    });
    mark(texts.key, keys, lit?.col, { x: right + 6 });
  }
}
