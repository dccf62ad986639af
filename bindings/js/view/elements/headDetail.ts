/** The chosen head of `<heed-heads>` in detail: a `<heed-matrix>` or a `<heed-lines>` below its title. */

import { html } from "../parts/html.js";
import { packedNumbers } from "../picture/view.js";
import type { ShownHeads } from "./headResults.js";
import { HeedLines } from "./lines.js";
import { HeedMatrix } from "./matrix.js";
import { make } from "./registry.js";

/** The properties of `<heed-heads>` that determine the detail. */
interface Chosen
  extends Pick<HeedLines, "layer" | "head" | "range" | "curve" | "controls" | "locale"> {
  readonly view: "matrix" | "lines";
  readonly mass: number;
}

const titled = (words: string) => words.replace(/^./, (first) => first.toUpperCase());

export class HeadDetail {
  readonly element: HTMLElement = html("div", "one");
  readonly #title = html("h3");
  /** The element that shows the head; null before it is shown for the first time. */
  shown: HeedMatrix | HeedLines | null = null;
  readonly #given = new Map<string, unknown>();

  constructor() {
    this.element.setAttribute("part", "head");
    this.element.append(this.#title);
  }

  show({ view, hides, mask, words, label }: ShownHeads, chosen: Chosen): void {
    const shown = this.#elementFor(chosen);
    const name = `layer ${chosen.layer + 1}, head ${chosen.head + 1}`;
    this.#title.textContent = titled(name);
    const shape = [view.rows, view.cols];
    if (this.#given.get("view") !== view)
      Object.assign(shown, { data: packedNumbers(view), shape });
    this.#given.set("view", view);
    // Not the caller's mask: a tensor may be disposed of by now.
    if (this.#given.get("hides") !== hides)
      shown.mask = mask && mask !== "causal" ? { ...mask, shape } : mask;
    this.#given.set("hides", hides);
    const { range, curve, controls, locale, mass } = chosen;
    const properties = {
      ...{ queries: words.queries ?? null, keys: words.keys ?? null, roles: words.roles ?? null },
      ...{ range, curve, controls, locale },
      label: `${label}: ${name}`,
      ...(shown instanceof HeedLines && { mass }),
    };
    // A person's change in the detail element is kept as long as the property here does not change.
    for (const [key, value] of Object.entries(properties)) {
      if (this.#given.has(key) && this.#given.get(key) === value) continue;
      this.#given.set(key, value);
      Object.assign(shown, { [key]: value });
    }
  }

  #elementFor({ view }: Chosen): HeedMatrix | HeedLines {
    const kind = view === "lines" ? HeedLines : HeedMatrix;
    if (this.shown instanceof kind) return this.shown;
    this.shown?.remove();
    const shown = kind === HeedLines ? make(HeedLines, {}) : make(HeedMatrix, {});
    this.#given.clear();
    this.element.append(shown);
    this.shown = shown;
    return shown;
  }

  /** Releases all numbers. */
  clear(): void {
    if (this.shown) this.shown.data = null;
    this.#given.delete("view");
  }
}
