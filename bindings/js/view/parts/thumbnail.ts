/** One head as a small picture: a button that selects it, and its number and a measure below. */
import type { Palette } from "../picture/colour.js";
import type { Ink } from "../picture/ink.js";
import { geometryOf } from "../picture/layout.js";
import type { Picture, Still } from "../picture/paint.js";
import { viewOn } from "../picture/view.js";
import { MatrixCanvas } from "./matrixCanvas.js";
import type { SmallWeights } from "./pool.js";
import { spanOf } from "./span.js";

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
  readonly #matrix: MatrixCanvas;
  readonly #label = spanOf("");
  readonly #value = spanOf("");
  #picture: Picture | null = null;
  #drawn: ThumbnailPicture | null = null;

  constructor(onSelect: () => void) {
    this.button.type = "button";
    this.button.addEventListener("click", onSelect);
    const canvas = document.createElement("canvas");
    this.#matrix = new MatrixCanvas(canvas);
    this.#value.dataset["measure"] = "";
    const words = spanOf("thumbnail-words number");
    words.append(this.#label, " ", this.#value);
    this.button.append(canvas, words);
  }

  /** Draws only what differs from the last drawing. */
  draw(shown: ThumbnailPicture, screen: { readonly ink: Ink; readonly ratio: number }): void {
    const { name, about, label, value, isSelected } = shown;
    const picture = this.#pictureOf(shown);
    this.#matrix.show({ picture, summary: `${name}; ${about}:`, ...screen });
    if (this.#label.textContent !== label) this.#label.textContent = label;
    if (this.#value.textContent !== value) this.#value.textContent = value;
    this.button.setAttribute("aria-pressed", `${isSelected}`);
    this.#drawn = shown;
  }

  /** The same object until something in it changes: the same one is drawn only once. */
  #pictureOf(shown: ThumbnailPicture): Picture {
    const before = this.#drawn;
    const isSame = (["small", "side", "palette", "hides"] as const).every(
      (name) => before?.[name] === shown[name],
    );
    if (isSame && this.#picture) return this.#picture;
    const { small, side, palette, hides } = shown;
    const { rows, cols } = small ?? { rows: 1, cols: 1 };
    const cell = { width: side / cols, height: side / rows };
    const still: Still = {
      geometry: geometryOf(rows, cols, cell, noLabels),
      view: small && viewOn(small.data, rows, cols),
      ...{ palette, labels: noLabels, marked: [] },
      isHidden: hides === true ? hidesFuture : hides || undefined,
    };
    this.#picture = { ...still, still, selected: null, highlights: [], active: null };
    return this.#picture;
  }
}
