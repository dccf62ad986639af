/** The sentence below a picture: about what is pointed at, or how to point. */
import { html, write } from "../parts/html.js";
import { media } from "../picture/page.js";

/** Whether fingers point here, and not a mouse. */
export const isTouch = () => media(window, "(pointer: coarse)")?.matches ?? false;

export interface ReadoutLook {
  /** What a pointer does, in place of the words. */
  readonly hint: string;
  /** Whether what the words are about is kept. */
  readonly isKept: boolean;
  /** Whether it is read aloud: the keyboard moves, but a pointer would talk all the time. */
  readonly isHeard: boolean;
  /** How the number came about. */
  readonly formula?: string;
}

export class Readout {
  readonly element = html("div", "readout number");
  readonly #words = html("p");
  readonly #formula = html("p");
  readonly #heard = html("div", "only-heard");

  constructor() {
    this.element.setAttribute("part", "readout");
    this.#heard.setAttribute("aria-live", "polite");
    this.element.append(this.#words, this.#formula, this.#heard);
  }

  /** @param words about what is pointed at; null if nothing is */
  show(words: string | null, { hint, isKept, isHeard, formula = "" }: ReadoutLook): void {
    const release = isTouch() ? "tap it again to release it" : "press Escape to release it";
    const text = words === null ? hint : `${words}${isKept ? ` · kept; ${release}` : ""}`;
    const heard = isHeard && words !== null ? [words, formula].filter(Boolean).join(": ") : "";
    this.element.classList.toggle("locked", isKept && words !== null);
    this.#words.classList.toggle("faint", words === null);
    write(this.#words, text);
    write(this.#formula, formula);
    write(this.#heard, heard);
  }
}
