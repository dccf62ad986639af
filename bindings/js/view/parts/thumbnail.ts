/** One head as a small picture: a button that selects it, and its number and a measure below. */
import type { Palette } from "../picture/colour.js";
import type { Ink } from "../picture/ink.js";
import { geometryOf, px } from "../picture/layout.js";
import { type Still, Surface } from "../picture/paint.js";
import { viewOn } from "../picture/view.js";
import type { SmallWeights } from "./pool.js";

const noLabels = {};

const hidesFuture = (row: number, col: number) => col > row;

export interface ThumbnailPicture {
  /** Null until its numbers are known; it takes up its space meanwhile. */
  readonly small: SmallWeights | null;
  /** In pixels. */
  readonly side: number;
  readonly palette: Palette;
  /** The cells of the small picture that are hidden: all that they stand for is. True for a causal mask. */
  readonly hides: boolean | ((row: number, col: number) => boolean) | undefined;
  /** For screen readers: the head, and what its number is. */
  readonly name: string;
  readonly about: string;
  readonly label: string;
  readonly value: string;
  readonly isSelected: boolean;
}

export class Thumbnail {
  readonly button = document.createElement("button");
  readonly #canvas = document.createElement("canvas");
  readonly #label = document.createElement("span");
  readonly #value = document.createElement("span");
  readonly #surface = new Surface();
  #still: Still | null = null;
  #drawn: ThumbnailPicture | null = null;
  #painted: readonly unknown[] = [];

  constructor(onSelect: () => void) {
    this.button.type = "button";
    this.button.addEventListener("click", onSelect);
    this.#canvas.className = "matrix";
    this.#canvas.setAttribute("role", "img");
    this.#value.dataset["measure"] = "";
    const words = document.createElement("span");
    words.className = "thumbnail-words number";
    words.append(this.#label, " ", this.#value);
    this.button.append(this.#canvas, words);
  }

  /** Draws only what differs from the last drawing. */
  draw(picture: ThumbnailPicture, screen: { ink: Ink; ratio: number }): void {
    const { side, name, about, label, value, isSelected } = picture;
    if (this.#drawn?.side !== side) {
      this.#canvas.style.width = px(side);
      this.#canvas.style.height = px(side);
    }
    this.#canvas.setAttribute("aria-label", `${name}; ${about}:`);
    if (this.#label.textContent !== label) this.#label.textContent = label;
    if (this.#value.textContent !== value) this.#value.textContent = value;
    this.button.setAttribute("aria-pressed", `${isSelected}`);
    this.#paint(this.#stillOf(picture), screen);
    this.#drawn = picture;
  }

  #paint(still: Still | null, { ink, ratio }: { ink: Ink; ratio: number }): void {
    const painted = [still, ink, ratio];
    if (!still || painted.every((each, i) => each === this.#painted[i])) return;
    const picture = { ...still, still, selected: null, highlights: [], active: null };
    this.#surface.draw(this.#canvas, picture, { ink, ratio, isLive: false });
    this.#painted = painted;
  }

  /** The same object until something in it changes: the surface draws the same one only once. */
  #stillOf(picture: ThumbnailPicture): Still | null {
    const { small, side, palette, hides } = picture;
    if (!small) return null;
    const before = this.#drawn;
    const isSame = (["small", "side", "palette", "hides"] as const).every(
      (name) => before?.[name] === picture[name],
    );
    if (isSame && this.#still) return this.#still;
    const { data, rows, cols } = small;
    const cell = { width: side / cols, height: side / rows };
    this.#still = {
      ...{ geometry: geometryOf(rows, cols, cell, noLabels), view: viewOn(data, rows, cols) },
      ...{ palette, labels: noLabels, marked: [] },
      isHidden: hides === true ? hidesFuture : hides || undefined,
    };
    return this.#still;
  }
}
