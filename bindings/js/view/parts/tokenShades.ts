/** A text, token by token, shaded by one token's row or column of the weights. */

import {
  colourOf,
  css,
  inkOn,
  largestIn as largestInView,
  type Palette,
} from "../picture/colour.js";
import { at, type MatrixView, transposed } from "../picture/view.js";
import { html } from "./html.js";

/** The shading: by how much the chosen token attends to each ("from"), or each to the chosen one ("to"). */
export type Direction = "from" | "to";

/** The number of tokens by which the arrow keys move. */
const moves: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -10, ArrowDown: 10 };

/** The token to which a key moves from one of `count`; null for any other key. */
export function moved(key: string, from: number, count: number): number | null {
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  const move = moves[key];
  return move === undefined ? null : Math.max(0, Math.min(count - 1, from + move));
}

interface TokensPicture {
  readonly pieces: readonly string[];
  /** The index of the chosen token, which has an outline; null if it is not in this list. */
  readonly chosen: number | null;
  /** The shade of each token; null for a token without a shade. */
  shade(index: number): Shade | null;
  /** Additional classes of a token. */
  readonly classOf?: ((index: number) => string) | undefined;
}

const largestOfRows = new WeakMap<MatrixView, (row: number) => number>();

/** Caches the end of each row's range, because shading a column asks for the end of every row's range. */
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

/** The shades of tokens, by the weights of a row or of a column. */
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
interface Shade {
  readonly weight: number;
  readonly fill: string;
  readonly ink: string;
}

let strips = 0;

/** The tokens of a text as the options of a list. This class owns the elements of the options. */
export class TokenStrip {
  readonly #list: HTMLElement;
  readonly #name = `heed-tokens-${++strips}`;
  #drawn: Pick<TokensPicture, "pieces" | "chosen"> | null = null;
  #spans: readonly HTMLElement[] = [];
  #shades: (Shade | null)[] = [];

  /** @param list an element with the role `listbox`; its content is replaced */
  constructor(list: HTMLElement) {
    this.#list = list;
  }

  /** Draws only the differences from the last drawing. */
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

  /** The token that is the target of an event; null if there is none. */
  static indexOf({ target }: Event): number | null {
    const span = (target as Element).closest<HTMLElement>("[data-index]");
    return span ? Number(span.dataset.index) : null;
  }

  /** Scrolls the list to the chosen token. */
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

  /**
   * Changes a token's shade only if it differs: of hundreds of tokens, most keep their shade from
   * one row to the next.
   */
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
