/** The colour scale of a matrix, with its two ends. */

import { css, endsIn, type Palette } from "../picture/colour.js";
import { withPoint } from "../picture/format.js";
import type { MatrixView } from "../picture/view.js";
import { html, spanOf } from "./html.js";

const colourStops = 11;

/**
 * Fills an element with a scale: its low end, a strip of its colours, its high end.
 *
 * @param view the matrix of the scale; null if the scale belongs to several
 */
export function showScale(
  place: Element,
  palette: Palette,
  view: MatrixView | null,
  point?: string,
): void {
  const stops = Array.from({ length: colourStops }, (_, i) =>
    css(palette.legend(i / (colourStops - 1))),
  );
  const [low, high] = view ? endsIn(palette, view) : palette.ends;
  const strip = spanOf("legend-strip");
  strip.style.backgroundImage = `linear-gradient(to right, ${stops.join(",")})`;
  const end = (words: string) => spanOf("", withPoint(words, point));
  place.replaceChildren(end(low), strip, end(high));
}

/** Fills an element with the mark of hidden cells. */
export function showHiddenMark(place: Element): void {
  place.replaceChildren(spanOf("hatched"), " hidden");
}

/** A legend: a scale, the mark of hidden cells if there are any, and notes. */
export class Legend {
  readonly element: HTMLElement = html("div", "legend");
  readonly #scale = spanOf("legend-scale number");
  readonly #hidden = spanOf("legend-hidden");

  constructor() {
    showHiddenMark(this.#hidden);
  }

  /** @param more the content after the scale, such as a save menu */
  show(
    palette: Palette,
    view: MatrixView | null,
    {
      hasHidden = false,
      notes = [],
      more = [],
      point,
    }: {
      hasHidden?: boolean;
      notes?: readonly string[];
      more?: readonly Node[];
      /** The decimal sign; "." by default. */
      point?: string;
    } = {},
  ): void {
    showScale(this.#scale, palette, view, point);
    this.element.replaceChildren(
      this.#scale,
      ...(hasHidden ? [this.#hidden] : []),
      ...notes.map((note) => spanOf("", note)),
      ...more,
    );
  }
}
