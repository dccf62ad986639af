/** The words of `<heed-steps>`: its stage, and the formula of a cell or of the moment. */

import { type Explanation, explanationText, type FormulaPiece } from "../parts/explanation.js";
import { buttonOf, html, spanOf } from "../parts/html.js";
import { withPoint } from "../picture/format.js";
import type { Play, Scene } from "../steps/scene.js";
import { stageTitles, stageWords } from "../steps/stages.js";
import { isTouch } from "./readout.js";

interface ShownWords {
  readonly play: Play;
  readonly scene: Scene;
  /** The formula of a cell or of the moment; null if there is none. */
  readonly explanation: Explanation | null;
  /** The decimal sign. */
  readonly point: string;
  /** Whether the formula is of a locked cell. */
  readonly isLocked: boolean;
  /** Whether the words are read aloud, as after a person's step. */
  readonly isHeard: boolean;
}

export class StepsWords {
  /** The words that are read aloud. */
  readonly heard: HTMLElement = html("div", "only-heard");
  readonly #words = html("p", "words");
  readonly #name = html("p");
  readonly #formula = html("p", "number");
  readonly #readout = html("div", "readout", this.#name, this.#formula);
  readonly element: HTMLElement = html("div", "", this.#words, this.#readout);
  #explained = "";

  constructor() {
    this.heard.setAttribute("aria-live", "polite");
    this.#words.setAttribute("part", "words");
    this.#readout.setAttribute("part", "readout");
  }

  show({ play, scene: { stage, name }, explanation, point, isLocked, isHeard }: ShownWords): void {
    this.#words.textContent = stageWords(stage, play);
    const words = explanation ? withPoint(explanationText(explanation), point) : "";
    this.#readout.classList.toggle("locked", isLocked);
    if (words !== this.#explained || !explanation) {
      this.#explained = words;
      this.#name.textContent = explanation
        ? explanation.name
        : `${isTouch() ? "Tap" : "Point at"} a cell to see how its number was computed.`;
      this.#name.classList.toggle("faint", explanation === null);
      this.#formula.replaceChildren(...this.#pieces(explanation?.formula ?? [], point));
    }
    if (isHeard) {
      const step = `${stageTitles[stage]}, ${name}.`;
      this.heard.textContent = `${step} ${words || this.#words.textContent}`;
    }
  }

  /** The pieces of a formula. An abbreviation is a button that shows the omitted pieces. */
  #pieces(formula: readonly FormulaPiece[], point: string): HTMLElement[] {
    return formula.map(({ text, role, all }) => {
      if (!all) return spanOf(role ? `role-${role}` : "", withPoint(text, point));
      const show = () => button.replaceWith(...this.#pieces(all, point));
      const button = buttonOf(text, show, "link");
      return button;
    });
  }
}
