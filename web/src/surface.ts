/** A canvas that shows a picture, and what of it is kept so that a light costs no more than a copy. */
import type { Theme } from "./colour";
import { drawLights, drawStill, heightOf, type Ink, inkOf, type Picture, widthOf } from "./paint";

/** Canvases are sharp on every screen, but for those that would take more memory than this (4 bytes a pixel). */
const mostPixels = 8 * 1024 * 1024;

const inks = new Map<Theme, Ink>();

/** The ink of a theme is read once: to ask for it makes the browser lay the page out. */
function inkIn(theme: Theme, element: Element): Ink {
  const known = inks.get(theme) ?? inkOf(element);
  if (known.ink) inks.set(theme, known);
  return known;
}

function sizeOf({ still: { geometry } }: Picture): { width: number; height: number } {
  return { width: Math.ceil(widthOf(geometry)), height: Math.ceil(heightOf(geometry)) };
}

/** A clear canvas on which lengths are in CSS pixels. */
function clear(
  canvas: HTMLCanvasElement,
  { width, height }: { width: number; height: number },
  ratio: number,
): CanvasRenderingContext2D | null {
  const [columns, rows] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = canvas.getContext("2d");
  // To set a size, even the same one, gives a canvas new memory.
  if (canvas.width !== columns || canvas.height !== rows) {
    canvas.width = columns;
    canvas.height = rows;
  } else {
    context?.setTransform(1, 0, 0, 1, 0, 0);
    context?.clearRect(0, 0, columns, rows);
  }
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

export class Surface {
  #drawn: readonly unknown[] = [];
  /** The picture without lights, once they have changed over it. */
  #still: HTMLCanvasElement | null = null;

  draw(canvas: HTMLCanvasElement, picture: Picture, theme: Theme, screenRatio: number): void {
    const size = sizeOf(picture);
    const ratio = Math.min(screenRatio, Math.sqrt(mostPixels / (size.width * size.height)));
    const ink = inkIn(theme, canvas);
    const wanted = [picture.still, theme, ratio];
    const isSame = wanted.every((each, i) => each === this.#drawn[i]);
    this.#drawn = wanted;
    const context = clear(canvas, size, ratio);
    if (!context) return;
    if (!isSame) {
      this.#still = null;
      drawStill(context, picture.still, ink);
    } else {
      if (!this.#still) {
        this.#still = document.createElement("canvas");
        const kept = clear(this.#still, size, ratio);
        if (kept) drawStill(kept, picture.still, ink);
      }
      context.drawImage(this.#still, 0, 0, this.#still.width / ratio, this.#still.height / ratio);
    }
    drawLights(context, picture, ink);
  }
}
