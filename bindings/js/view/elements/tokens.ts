/** `<heed-tokens>`: a text, shaded by the weights of one token's row or column. */

import { html, labelOf } from "../parts/html.js";
import { Legend } from "../parts/legend.js";
import { drawnContents, numbersOf } from "../parts/saveMenu.js";
import { stripSvg } from "../parts/stripSvg.js";
import { type Direction, moved, shadesOf, TokenStrip } from "../parts/tokenShades.js";
import { type Palette, weightPalette } from "../picture/colour.js";
import type { Job } from "../picture/job.js";
import type { Area } from "../picture/layout.js";
import { findingRange } from "../picture/view.js";
import { attendsWords, cellIn, fileOf } from "./attends.js";
import type { CellDetail } from "./events.js";
import { findingIn, notesAbout } from "./input.js";
import { labelling, type Side, type SideLabels } from "./labels.js";
import { MatrixElement, matrixRules, type ShownMatrix } from "./matrixElement.js";
import { isTouch } from "./readout.js";
import { make } from "./registry.js";
import { choice } from "./rules.js";
import { barSheet, matrixSheet, tokensSheet } from "./sheet.js";

const usualLabel = "Attention over the text";

interface Shown extends ShownMatrix {
  readonly palette: Palette;
  readonly pieces: SideLabels;
  readonly isSelf: boolean;
  readonly direction: Direction;
}

/** Words without space around them are drawn apart; pieces of a text follow each other directly. */
const areWords = (pieces: readonly string[]) => !pieces.some((piece) => /^\s|\s$/.test(piece));

const other: Record<Side, Side> = { queries: "keys", keys: "queries" };

/**
 * `<heed-tokens>`: the tokens of a text, shaded by the weights with which one of them attends to
 * the others; with `direction` "to", by the weights with which the others attend to it. Pointing at
 * a token shows its row. A click or Enter locks the token; pointing at another one then shows the
 * weight between the two; Escape releases the token. If queries and keys are different tokens, each
 * side has its own text. If `data` has several heads, `layer` and `head` choose one.
 *
 * @example
 * ```ts
 * console.log(HeedTokens.tag); // prints: heed-tokens
 * if (globalThis.document) {
 *   const element = tokens({ data: [[1, 0], [0.25, 0.75]], tokens: ["I", " see"], row: 1 });
 *   element.addEventListener("heed-select", ({ detail }) => console.log(detail.row));
 *   document.body.append(element);
 * }
 * ```
 */
export class HeedTokens extends MatrixElement<Shown> {
  static override readonly tag = "heed-tokens";
  /** @internal */
  static override readonly rules = { ...matrixRules, direction: choice("from", "to") };
  /** @internal */
  static override readonly sheet = matrixSheet + barSheet + tokensSheet;

  /**
   * Whether tokens are shaded by how much the chosen one attends to them ("from"), or by how much
   * they attend to it ("to").
   */
  declare direction: Direction;
  /** The locked token: a query, or with `direction` "to" a key; null if there is none. */
  declare row: number | null;

  #hover: { readonly side: Side; readonly index: number } | null = null;
  /** The chosen token while none is locked. */
  #cursor: number | null = null;
  #isByKeyboard = false;
  readonly #labels = labelling((word) => word);
  #isReady = false;
  readonly #lists: Readonly<Record<Side, HTMLElement>> = {
    queries: html("div"),
    keys: html("div"),
  };
  readonly #strips: Readonly<Record<Side, TokenStrip>> = {
    queries: new TokenStrip(this.#lists.queries),
    keys: new TokenStrip(this.#lists.keys),
  };
  readonly #titles: Readonly<Record<Side, HTMLElement>> = {
    queries: html("p"),
    keys: html("p"),
  };
  readonly #frame = html("div");
  readonly #legend = new Legend();
  readonly #select = html("select");
  readonly #bar = html("div", "bar");

  /** @internal */
  protected override build(): void {
    for (const side of ["queries", "keys"] as const) {
      const [list, title] = [this.#lists[side], this.#titles[side]];
      list.setAttribute("role", "listbox");
      list.setAttribute("part", side);
      list.className = "text";
      list.addEventListener("pointermove", (event) => this.#point(side, event));
      list.addEventListener("pointerleave", () => this.#point(side, null));
      list.addEventListener("click", (event) => this.#click(side, event));
      list.addEventListener("keydown", (event) => this.#key(side, event));
      title.className = "side faint";
      title.textContent = side;
      this.#frame.append(title, list);
    }
    const directions = [
      ["from", "what it attends to"],
      ["to", "what attends to it"],
    ] as const;
    const choose = () => {
      this.#keep(null);
      this.direction = this.#select.value as Direction;
    };
    this.#bar.setAttribute("part", "controls");
    this.#bar.append(labelOf(this.#select, "Shaded by", directions, choose));
    this.#legend.element.setAttribute("part", "legend");
    this.#frame.append(this.#legend.element, this.#bar, this.readout.element);
    this.content.append(this.#frame);
  }

  /** @internal */
  protected override release(): void {
    this.#keep(null);
  }

  /** @internal */
  protected override update(changed: ReadonlySet<string>): void {
    const isOther = [...changed].some((name) => !["hover", "row", "ready"].includes(name));
    const isRead = [...changed].some((name) =>
      ["data", "shape", "mask", "layer", "head", "error", "connection"].includes(name),
    );
    if (isOther) {
      this.#hover = null;
      this.shown = this.#look();
    }
    const shown = this.shown;
    this.#frame.hidden = shown === null;
    if (shown === null) return;
    const count = shown.pieces[this.#side(shown)].length;
    const row = this.taken<number | null>("row");
    if (this.isLost("row", row !== null && row >= count, `a token of ${count}`, `${row}`))
      this.#keep(null);
    if (this.#cursor !== null && this.#cursor >= count) this.#cursor = null;
    if (isOther && (isRead || changed.has("range"))) this.#read(shown);
    if (isOther || changed.has("ready")) this.#describe(shown);
    this.#draw(shown);
  }

  #look(): Shown | null {
    const direction = this.taken<Direction>("direction");
    const shown = this.basis("weights", usualLabel);
    if (shown === null) return null;
    const { words, view } = shown;
    return {
      ...{ ...shown, direction, pieces: this.#labels(shown) },
      palette: weightPalette(this.taken("range"), this.taken("curve"), this.colours),
      isSelf: view.rows === view.cols && `${words.queries}` === `${words.keys}`,
    };
  }

  /** Finds the facts for the notes: of large matrices in slices, after the first picture. */
  #read(shown: Shown): void {
    const element = this;
    function* read(): Job {
      // The colours need the range of a head, which is cached from then on.
      if (shown.palette.within === "matrix") yield* findingRange(shown.view);
      element.#isReady = true;
      element.requestUpdate("ready");
      element.showNotes(notesAbout(yield* findingIn(shown.view), true));
    }
    this.#isReady = shown.palette.within !== "matrix";
    this.begin(read(), shown.view.rows * shown.view.cols);
  }

  /** The side of the chosen token. */
  #side({ isSelf, direction }: Shown): Side {
    return isSelf ? "keys" : direction === "from" ? "queries" : "keys";
  }

  #describe({ label, view, words, palette, isSelf, point, direction, pieces }: Shown): void {
    const hasControls = this.controls !== "none";
    const save = hasControls ? [this.menu.element] : [];
    const more = { more: save, point };
    this.#legend.show(palette, palette.within === "matrix" && this.#isReady ? view : null, more);
    this.#bar.toggleAttribute("hidden", !hasControls);
    this.#select.value = direction;
    for (const side of ["queries", "keys"] as const) {
      const list = this.#lists[side];
      const isShown = !isSelf || side === "keys";
      list.toggleAttribute("hidden", !isShown);
      this.#titles[side].toggleAttribute("hidden", isSelf);
      list.classList.toggle("apart", areWords(pieces[side]));
      list.setAttribute("aria-label", isSelf ? `${label}, token by token` : `${label}: ${side}`);
    }
    this.menu.show(label, fileOf(label), {
      ...drawnContents(() => this.svg()),
      ...numbersOf(view, words.queries, words.keys),
    });
  }

  /** The token whose row or column is shown: the locked one, else the one that is pointed at, else the last one. */
  #chosen(shown: Shown): number {
    const side = this.#side(shown);
    const hover = this.#hover?.side === side ? this.#hover.index : null;
    return this.row ?? hover ?? this.#cursor ?? shown.pieces[side].length - 1;
  }

  /** The area that the readout describes: the chosen token, or its weight with the token that is pointed at. */
  #area(shown: Shown): Area {
    const chosen = this.#chosen(shown);
    const shaded = shown.isSelf ? "keys" : other[this.#side(shown)];
    const second = this.#hover?.side === shaded ? this.#hover.index : null;
    const isPair = second !== null && (this.row !== null || !shown.isSelf);
    const pair = isPair ? { first: chosen, second } : { first: chosen, second: undefined };
    return shown.direction === "from"
      ? { row: pair.first, col: pair.second }
      : { row: pair.second, col: pair.first };
  }

  #draw(shown: Shown): void {
    const { view, palette, pieces, isSelf, direction } = shown;
    const { hides } = view;
    const chosen = this.#chosen(shown);
    const side = this.#side(shown);
    const shaded = isSelf ? "keys" : other[side];
    const shades = this.#isReady ? shadesOf(view, chosen, palette, direction) : null;
    const isHidden = (i: number) =>
      (direction === "from" ? hides?.(chosen, i) : hides?.(i, chosen)) === true;
    const pointed = this.#hover;
    for (const each of isSelf ? [side] : (["queries", "keys"] as const)) {
      const isHere = each === side;
      const hasShades = each === shaded;
      this.#strips[each].draw({
        pieces: pieces[each],
        chosen: isHere ? chosen : pointed?.side === each ? pointed.index : null,
        shade: (i) => {
          if (!hasShades || !shades || isHidden(i)) return null;
          const shade = shades(i);
          return Number.isNaN(shade.weight) ? null : shade;
        },
        classOf: (i) =>
          [
            hasShades && isHidden(i) && "hidden-token",
            pointed?.side === each && pointed.index === i && "pointed",
            isHere && this.row === i && "kept",
          ]
            .filter(Boolean)
            .join(" "),
      });
      this.#lists[each].tabIndex = isHere ? 0 : -1;
    }
    const isPointed = this.row !== null || this.#hover !== null || this.#cursor !== null;
    this.readout.show(isPointed ? attendsWords(shown, this.#area(shown)) : null, {
      hint: isTouch()
        ? "Tap a token to see what it attends to."
        : "Point at a token to see what it attends to; a click keeps it.",
      isKept: this.row !== null,
      isHeard: this.#isByKeyboard,
    });
  }

  /** The event's detail. For a token, it is the token's largest weight. */
  #detail(shown: Shown): CellDetail | null {
    return this.detail(cellIn(shown, this.#area(shown)));
  }

  #point(side: Side, event: Event | null): void {
    const index = event && TokenStrip.indexOf(event);
    if (index === (this.#hover?.side === side ? this.#hover.index : null)) return;
    this.#isByKeyboard = false;
    this.#hover = index === null ? null : { side, index };
    const shown = this.shown;
    this.emit("heed-hover", this.#hover && shown ? this.#detail(shown) : null);
    this.requestUpdate("hover");
  }

  #click(side: Side, event: Event): void {
    const index = TokenStrip.indexOf(event);
    const shown = this.shown;
    if (index === null || !shown || side !== this.#side(shown)) return;
    this.#cursor = index;
    this.#keep(this.row === index ? null : index);
  }

  #keep(index: number | null): void {
    if (this.row === index) return;
    this.select(index);
    this.emit("heed-lock", index !== null && this.shown ? this.#detail(this.shown) : null);
  }

  #key(side: Side, event: KeyboardEvent): void {
    const shown = this.shown;
    if (!shown || side !== this.#side(shown)) return;
    const chosen = this.#chosen(shown);
    const next = moved(event.key, chosen, shown.pieces[side].length);
    if (next === null && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    this.#isByKeyboard = true;
    this.#hover = null;
    if (next === null) this.#keep(this.row === null ? chosen : null);
    else {
      this.#cursor = next;
      if (this.row !== null) this.#keep(next);
      else this.emit("heed-hover", this.#detail(shown));
      this.requestUpdate("hover");
      this.updateNow();
      this.#strips[side].reveal();
    }
  }

  /**
   * The shaded text as a stand-alone SVG, with its caption; empty if the element is not on a page.
   *
   * @throws HeedError without numbers, or the error in `error`
   */
  svg(): string {
    const shown = this.saved();
    const lists = shown.isSelf ? [this.#lists.keys] : [this.#lists.queries, this.#lists.keys];
    const words = attendsWords(shown, this.#area({ ...shown }));
    return stripSvg(lists, `${shown.label}: ${words}`, this.ink);
  }
}

/**
 * Creates a `<heed-tokens>`, and registers it if it is not registered.
 *
 * @param options its properties; `data` of [L, S], [heads, L, S] or [layers, heads, L, S]
 * @throws ReferenceError where there is no document, as in Node
 * @example
 * ```ts
 * const show = () => document.body.append(tokens({ data: [[1, 0], [0.25, 0.75]], tokens: ["I", " see"] }));
 * console.log(typeof globalThis.document === "undefined" ? "no page here" : show()); // prints: no page here
 * ```
 */
export function tokens(options: Partial<HeedTokens> = {}): HeedTokens {
  return make(HeedTokens, options);
}

declare global {
  interface HTMLElementTagNameMap {
    "heed-tokens": HeedTokens;
  }
}
