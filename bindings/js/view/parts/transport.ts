/** Controls to go through steps: back, play or pause, next, a slider, and the current step. */
import { spanOf } from "./span.js";

export interface ShownSteps {
  readonly index: number;
  readonly count: number;
  readonly isPlaying: boolean;
  /** Whether there is anything to play: with reduced motion there are only steps. */
  readonly plays: boolean;
  /** The current step in a few words. */
  readonly title: string;
}

export interface TransportActions {
  go(index: number): void;
  play(isPlaying: boolean): void;
}

export class Transport {
  readonly element: HTMLFieldSetElement = document.createElement("fieldset");
  readonly #back = this.#button("← Back");
  readonly #play = this.#button("Play");
  readonly #next = this.#button("Next →");
  readonly #scrub = document.createElement("input");
  readonly #place = spanOf("faint");
  readonly #title = document.createElement("b");
  #shown: ShownSteps = { index: 0, count: 1, isPlaying: false, plays: true, title: "" };

  constructor(label: string, { go, play }: TransportActions) {
    this.element.className = "transport";
    this.element.setAttribute("aria-label", label);
    const buttons = spanOf("transport-buttons");
    buttons.append(this.#back, this.#play, this.#next);
    this.#play.classList.add("play");
    this.#scrub.type = "range";
    this.#scrub.className = "scrub";
    this.#scrub.setAttribute("aria-label", "Step shown");
    const place = spanOf("transport-place");
    place.append(this.#place, " ", this.#title);
    this.element.append(buttons, this.#scrub, place);
    this.#back.addEventListener("click", () => go(this.#shown.index - 1));
    this.#next.addEventListener("click", () => go(this.#shown.index + 1));
    this.#play.addEventListener("click", () => play(!this.#shown.isPlaying));
    this.#scrub.addEventListener("input", () => go(Number(this.#scrub.value)));
  }

  #button(words: string): HTMLButtonElement {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    return button;
  }

  show(shown: ShownSteps): void {
    this.#shown = shown;
    const { index, count, isPlaying, plays, title } = shown;
    this.#back.disabled = index <= 0;
    this.#next.disabled = index >= count - 1;
    this.#play.hidden = !plays;
    this.#play.textContent = isPlaying ? "Pause" : "Play";
    this.#scrub.max = String(Math.max(0, count - 1));
    this.#scrub.value = String(index);
    const step = `Step ${index + 1} of ${count}`;
    this.#scrub.setAttribute("aria-valuetext", `${step}: ${title}`);
    this.#place.textContent = step;
    this.#title.textContent = title;
  }
}
