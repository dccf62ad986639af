/** One head as a small picture: a button that selects it, with its number and a measure below. */
import type { Palette } from "../picture/colour.js";
import type { Ink } from "../picture/ink.js";
import { geometryOf, px } from "../picture/layout.js";
import type { Picture, Still } from "../picture/paint.js";
import { type Hides, viewOn } from "../picture/view.js";
import { buttonOf, html, spanOf, write } from "./html.js";
import { Kept } from "./kept.js";
import { MatrixCanvas } from "./matrixCanvas.js";
import type { SmallWeights } from "./pool.js";

const noLabels = {};

export interface ThumbnailPicture {
  /** The pooled weights; null until they are computed. The picture takes its space from the beginning. */
  readonly small: SmallWeights | null;
  /** The side of the picture in pixels. */
  readonly side: number;
  readonly palette: Palette;
  /** The hidden cells of the small picture: all entries that they cover are hidden. */
  readonly hides: Hides | undefined;
  /** A text for screen readers: the head, and the meaning of its number. */
  readonly name: string;
  readonly about: string;
  readonly label: string;
  readonly value: string;
  readonly isSelected: boolean;
}

function pictureOf({ side, palette, hides }: ThumbnailPicture, small: SmallWeights): Picture {
  const { data, rows, cols } = small;
  const still: Still = {
    geometry: geometryOf(rows, cols, { width: side / cols, height: side / rows }, noLabels),
    view: { ...viewOn(data, rows, cols), hides },
    ...{ palette, labels: noLabels, marked: [] },
  };
  return { ...still, still, selected: null, highlights: [], active: null };
}

export class Thumbnail {
  readonly button: HTMLButtonElement;
  readonly item: HTMLElement;
  readonly #canvas = html("canvas", "matrix");
  readonly #matrix = new MatrixCanvas(this.#canvas);
  readonly #label = spanOf("");
  readonly #value = spanOf("");
  /** The same object until something in it changes, so that it is drawn only once. */
  readonly #picture = new Kept<Picture>();

  constructor(onSelect: () => void) {
    this.#value.dataset.measure = "";
    const words = html("span", "thumbnail-words number", this.#label, " ", this.#value);
    this.button = buttonOf("", onSelect);
    this.button.append(this.#canvas, words);
    this.item = html("li", "thumbnail", this.button);
  }

  /** Draws only the differences from the last drawing. */
  draw(shown: ThumbnailPicture, screen: { readonly ink: Ink; readonly ratio: number }): void {
    const { small, side, palette, hides, name, about, label, value, isSelected } = shown;
    if (small) {
      const parts = [small, side, palette, hides];
      const picture = this.#picture.of(parts, () => pictureOf(shown, small));
      this.#matrix.show({ picture, summary: name, ...screen });
    } else {
      // Hundreds of empty pictures would take as long to draw as full ones, so their space is only reserved.
      const { style } = this.#canvas;
      style.width = style.height = px(side);
    }
    write(this.#label, label);
    write(this.#value, value);
    this.button.setAttribute("aria-pressed", `${isSelected}`);
    // It begins with the visible words, as a person who speaks to the page says them.
    this.button.setAttribute("aria-label", `${label}${value && ` ${value}`}: ${name}, ${about}`);
  }
}
