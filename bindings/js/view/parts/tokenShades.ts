/** A text, token by token, shaded by what one token attends to, or by what attends to it. */

import {
  colourOf,
  css,
  inkOn,
  largestIn as largestInView,
  type Palette,
} from "../picture/colour.js";
import { at, type MatrixView, transposed } from "../picture/view.js";
import { html } from "./html.js";

/** Whether tokens are shaded by what the chosen one attends to, or by how much they attend to it. */
export type Direction = "from" | "to";

/** By how many tokens the arrow keys move. */
const moves: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -10, ArrowDown: 10 };

/** The token to which a key moves from one of `count`; null if the key does not move. */
export function moved(key: string, from: number, count: number): number | null {
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  const move = moves[key];
  return move === undefined ? null : Math.max(0, Math.min(count - 1, from + move));
}

export interface TokensPicture {
  readonly pieces: readonly string[];
  /** The chosen token, with an outline; null if it is not one of these. */
  readonly chosen: number | null;
  /** The shade of each token; null for one without. */
  shade(index: number): Shade | null;
  /** More classes of a token. */
  readonly classOf?: ((index: number) => string) | undefined;
}

const largestOfRows = new WeakMap<MatrixView, (row: number) => number>();

/** Finds the end of a row's range once: a column asks for that of every row. */
function largestIn(palette: Palette, weights: MatrixView): (row: number) => number {
  if (palette.within === undefined) return () => 1;
  if (palette.within === "matrix") return largestInView(palette.within, weights);
  const known = largestOfRows.get(weights);
  if (known) return known;
  const largest = new Map<number, number>();
  const find = largestInView(palette.within, weights);
  const remembered = (row: number) => {
    const own = largest.get(row) ?? find(row);
    largest.set(row, own);
    return own;
  };
  largestOfRows.set(weights, remembered);
  return remembered;
}

/** How tokens are shaded: by the weights of a row, or of a column. */
export function shadesOf(
  weights: MatrixView,
  chosen: number,
  palette: Palette,
  direction: Direction = "from",
): (index: number) => Shade {
  const largestOfRow = largestIn(palette, weights);
  const along = direction === "from" ? weights : transposed(weights);
  return (index) => {
    const weight = at(along, chosen, index);
    const colour = colourOf(palette, weight, largestOfRow(direction === "from" ? chosen : index));
    return { weight, fill: css(colour), ink: inkOn(colour) };
  };
}

/** A weight, its colour, and the colour of words on it. */
export interface Shade {
  readonly weight: number;
  readonly fill: string;
  readonly ink: string;
}

let strips = 0;

/** The tokens of a text as the options of a list, of which it owns the elements. */
export class TokenStrip {
  readonly #list: HTMLElement;
  readonly #name = `heed-tokens-${++strips}`;
  #drawn: Pick<TokensPicture, "pieces" | "chosen"> | null = null;
  #spans: readonly HTMLElement[] = [];
  #shades: (Shade | null)[] = [];

  /** @param list an element with the role `listbox`, whose content it replaces */
  constructor(list: HTMLElement) {
    this.#list = list;
  }

  /** Draws only what differs from the last drawing. */
  draw(picture: TokensPicture): void {
    const { pieces, chosen, shade, classOf } = picture;
    if (this.#drawn?.pieces !== pieces) this.#write(pieces);
    const before = this.#drawn?.chosen;
    for (const [i, span] of this.#spans.entries()) {
      const names = ["piece", classOf?.(i), i === chosen && "current"].filter(Boolean).join(" ");
      if (span.className !== names) span.className = names;
      if (i === chosen || i === before) span.setAttribute("aria-selected", `${i === chosen}`);
      this.#shade(i, span, shade(i));
    }
    if (chosen === null) this.#list.removeAttribute("aria-activedescendant");
    else this.#list.setAttribute("aria-activedescendant", `${this.#name}-${chosen}`);
    this.#drawn = { pieces, chosen };
  }

  /** The token that an event is about; null if it is about none. */
  static indexOf({ target }: Event): number | null {
    const span = (target as Element).closest<HTMLElement>("[data-index]");
    return span ? Number(span.dataset.index) : null;
  }

  /** Shows the chosen token in a list that scrolls. */
  reveal(): void {
    const span = this.#spans[this.#drawn?.chosen ?? -1];
    const { scrollHeight, clientHeight } = this.#list;
    if (!span || scrollHeight <= clientHeight) return;
    const [own, list] = [span.getBoundingClientRect(), this.#list.getBoundingClientRect()];
    if (own.top < list.top) this.#list.scrollTop -= list.top - own.top;
    if (own.bottom > list.bottom) this.#list.scrollTop += own.bottom - list.bottom;
  }

  #write(pieces: readonly string[]): void {
    this.#shades = pieces.map(() => null);
    this.#spans = pieces.map((piece, i) => {
      const span = html("span");
      span.id = `${this.#name}-${i}`;
      span.setAttribute("role", "option");
      span.setAttribute("aria-selected", "false");
      if (piece.trim() === "") span.setAttribute("aria-label", "white space");
      span.dataset.index = `${i}`;
      span.textContent = piece.replaceAll("\n", "↵\n");
      return span;
    });
    this.#list.replaceChildren(...this.#spans);
  }

  /** Of hundreds of tokens most keep their shade from one row to the next. */
  #shade(index: number, span: HTMLElement, shade: Shade | null): void {
    const before = this.#shades[index] ?? null;
    if (shade?.fill === before?.fill && Object.is(shade?.weight, before?.weight)) return;
    this.#shades[index] = shade;
    const isHole = shade === null || Number.isNaN(shade.weight);
    span.style.backgroundColor = isHole ? "" : shade.fill;
    span.style.color = isHole ? "" : shade.ink;
    if (shade) span.dataset.weight = `${shade.weight}`;
    else delete span.dataset.weight;
  }
}
