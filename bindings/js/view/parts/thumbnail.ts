/** One head as a small picture: a button that selects it, with its number and a measure below. */
import type { Palette } from "../picture/colour.js";
import type { Ink } from "../picture/ink.js";
import { geometryOf, px } from "../picture/layout.js";
import type { Picture, Still } from "../picture/paint.js";
import { viewOn } from "../picture/view.js";
import { html, spanOf, write } from "./html.js";
import { MatrixCanvas } from "./matrixCanvas.js";
import type { SmallWeights } from "./pool.js";

const noLabels = {};

export interface ThumbnailPicture {
  /**
   * The pooled weights; null until they are computed. The picture takes its space from the
   * beginning.
   */
  readonly small: SmallWeights | null;
  /** The side of the picture in pixels. */
  readonly side: number;
  readonly palette: Palette;
  /** The hidden cells of the small picture: all entries that they cover are hidden. */
  readonly hides: ((row: number, col: number) => boolean) | undefined;
  /** A text for screen readers: the head, and the meaning of its number. */
  readonly name: string;
  readonly about: string;
  readonly label: string;
  readonly value: string;
  readonly isSelected: boolean;
}

export class Thumbnail {
  readonly button = html("button");
  readonly #canvas = html("canvas");
  readonly #matrix = new MatrixCanvas(this.#canvas);
  readonly #label = spanOf("");
  readonly #value = spanOf("");
  #picture: Picture | null = null;
  #drawn: ThumbnailPicture | null = null;

  constructor(onSelect: () => void) {
    this.button.type = "button";
    this.button.addEventListener("click", onSelect);
    const canvas = this.#canvas;
    canvas.className = "matrix";
    this.#value.dataset.measure = "";
    const words = spanOf("thumbnail-words number");
    words.append(this.#label, " ", this.#value);
    this.button.append(canvas, words);
  }

  /** Draws only the differences from the last drawing. */
  draw(shown: ThumbnailPicture, screen: { readonly ink: Ink; readonly ratio: number }): void {
    const { name, about, label, value, isSelected } = shown;
    const picture = this.#pictureOf(shown);
    if (picture) this.#matrix.show({ picture, summary: `${name}; ${about}:`, ...screen });
    else this.#reserve(shown);
    write(this.#label, label);
    write(this.#value, value);
    this.button.setAttribute("aria-pressed", `${isSelected}`);
    this.#drawn = shown;
  }

  /**
   * Reserves the space of an empty picture. Hundreds of empty pictures would otherwise take as long
   * to draw as full ones.
   */
  #reserve({ side, name }: ThumbnailPicture): void {
    this.#canvas.style.width = px(side);
    this.#canvas.style.height = px(side);
    this.#canvas.setAttribute("role", "img");
    this.#canvas.setAttribute("aria-label", `${name}:`);
  }

  /**
   * The picture: the same object until something in it changes, so that it is drawn only once; null
   * without numbers.
   */
  #pictureOf(shown: ThumbnailPicture): Picture | null {
    const before = this.#drawn;
    const isSame = (["small", "side", "palette", "hides"] as const).every(
      (name) => before?.[name] === shown[name],
    );
    if (isSame && this.#picture) return this.#picture;
    const { small, side, palette, hides } = shown;
    if (!small) return null;
    const { data, rows, cols } = small;
    const cell = { width: side / cols, height: side / rows };
    const still: Still = {
      geometry: geometryOf(rows, cols, cell, noLabels),
      view: viewOn(data, rows, cols),
      ...{ palette, labels: noLabels, marked: [] },
      isHidden: hides,
    };
    this.#picture = { ...still, still, selected: null, highlights: [], active: null };
    return this.#picture;
  }
}
