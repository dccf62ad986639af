/** Controls to go through steps: back, play or pause, next, a slider, and the current step. */
import { buttonOf, html, spanOf } from "./html.js";

interface ShownSteps {
  readonly index: number;
  readonly count: number;
  readonly isPlaying: boolean;
  /** Whether playing is possible: with reduced motion there are only steps. */
  readonly plays: boolean;
  /** The current step in a few words. */
  readonly title: string;
}

interface TransportActions {
  go(index: number): void;
  play(isPlaying: boolean): void;
}

export class Transport {
  readonly element: HTMLFieldSetElement = html("fieldset", "transport");
  readonly #actions: TransportActions;
  readonly #back = buttonOf("← Back", () => this.#actions.go(this.#shown.index - 1));
  readonly #play = buttonOf("Play", () => this.#actions.play(!this.#shown.isPlaying), "play");
  readonly #next = buttonOf("Next →", () => this.#actions.go(this.#shown.index + 1));
  readonly #scrub = html("input", "scrub");
  readonly #place = spanOf("faint");
  readonly #title = html("b");
  #shown: ShownSteps = { index: 0, count: 1, isPlaying: false, plays: true, title: "" };

  constructor(label: string, actions: TransportActions) {
    this.#actions = actions;
    this.element.setAttribute("aria-label", label);
    const buttons = html("span", "transport-buttons", this.#back, this.#play, this.#next);
    this.#scrub.type = "range";
    this.#scrub.setAttribute("aria-label", "Step shown");
    const place = html("span", "transport-place", this.#place, " ", this.#title);
    this.element.append(buttons, this.#scrub, place);
    this.#scrub.addEventListener("input", () => actions.go(Number(this.#scrub.value)));
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
