/**
 * Draws a picture on a canvas, and keeps a copy without highlights so that a new highlight does not redraw everything.
 */
import type { Theme } from "./colour";
import { heightOf, widthOf } from "./layout";
import { drawHighlights, drawStill, type Ink, inkOf, type Picture } from "./paint";

/** A canvas with more pixels than this (4 bytes each) is drawn at a lower resolution. */
const mostPixels = 8 * 1024 * 1024;

const inks = new Map<Theme, Ink>();

/** The ink of a theme is read once, because reading a computed style forces a layout. */
function inkIn(theme: Theme, element: Element): Ink {
  const known = inks.get(theme) ?? inkOf(element);
  if (known.ink) inks.set(theme, known);
  return known;
}

function sizeOf({ still: { geometry } }: Picture): { width: number; height: number } {
  return { width: Math.ceil(widthOf(geometry)), height: Math.ceil(heightOf(geometry)) };
}

/** Clears a canvas and scales it to CSS pixels. */
function clear(
  canvas: HTMLCanvasElement,
  { width, height }: { width: number; height: number },
  ratio: number,
): CanvasRenderingContext2D | null {
  const [columns, rows] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = canvas.getContext("2d");
  // Setting the size, even to the same value, allocates new memory.
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
  #still: HTMLCanvasElement | null = null;

  /** With `isLive` highlights will change, so a copy without them is kept. */
  draw(
    canvas: HTMLCanvasElement,
    picture: Picture,
    { theme, ratio: wanted, isLive }: { theme: Theme; ratio: number; isLive: boolean },
  ): void {
    const size = sizeOf(picture);
    const ratio = Math.min(wanted, Math.sqrt(mostPixels / (size.width * size.height)));
    const ink = inkIn(theme, canvas);
    const now = [picture.still, theme, ratio, isLive];
    const isSame = now.every((each, i) => each === this.#drawn[i]);
    this.#drawn = now;
    const context = clear(canvas, size, ratio);
    if (!context || canvas.width * canvas.height === 0) return;
    if (isSame && this.#still) {
      context.drawImage(this.#still, 0, 0, canvas.width / ratio, canvas.height / ratio);
    } else {
      drawStill(context, picture.still, ink);
      if (isLive) this.#keep(canvas);
      else this.#still = null;
    }
    drawHighlights(context, picture, ink);
  }

  #keep(canvas: HTMLCanvasElement): void {
    this.#still ??= document.createElement("canvas");
    const { width, height } = canvas;
    clear(this.#still, { width, height }, 1)?.drawImage(canvas, 0, 0);
  }
}
