/** The sentence below a picture: about what is pointed at, or how to point. */

export class Readout {
  readonly element = document.createElement("div");
  readonly #words = document.createElement("p");
  readonly #heard = document.createElement("div");

  constructor() {
    this.element.className = "readout";
    this.element.setAttribute("part", "readout");
    this.#words.className = "number";
    this.#heard.className = "only-heard";
    this.#heard.setAttribute("aria-live", "polite");
    this.element.append(this.#words, this.#heard);
  }

  /**
   * @param words about what is pointed at; null if nothing is
   * @param kept whether it is kept
   * @param hint what a pointer does, in place of the words
   * @param isHeard whether it is read aloud: the keyboard moves, but a pointer would talk all the time
   */
  show(
    words: string | null,
    { hint, isKept, isHeard }: { hint: string; isKept: boolean; isHeard: boolean },
  ): void {
    const isTouch = matchMedia("(pointer: coarse)").matches;
    const release = isTouch ? "tap it again to release it" : "press Escape to release it";
    const text = words === null ? hint : `${words}${isKept ? ` · kept; ${release}` : ""}`;
    this.element.classList.toggle("locked", isKept && words !== null);
    this.#words.classList.toggle("faint", words === null);
    if (this.#words.textContent !== text) this.#words.textContent = text;
    const heard = isHeard && words !== null ? words : "";
    if (this.#heard.textContent !== heard) this.#heard.textContent = heard;
  }
}
