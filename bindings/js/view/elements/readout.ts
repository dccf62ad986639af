/** The sentence below a picture: it describes the cell that is pointed at, or explains how to point. */
import { html, write } from "../parts/html.js";
import { media } from "../picture/page.js";

/** Whether the main pointer is a finger and not a mouse. */
export const isTouch = () => media(window, "(pointer: coarse)")?.matches ?? false;

interface ReadoutLook {
  /** The effect of the pointer, shown when there are no words. */
  readonly hint: string;
  /** Whether the words describe a locked cell. */
  readonly isKept: boolean;
  /**
   * Whether the words are read aloud: on moves of the keyboard, but not of the pointer, which would
   * never be silent.
   */
  readonly isHeard: boolean;
  /** The computation of the number. */
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

  /** @param words the description of the cell that is pointed at; null if there is none */
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
