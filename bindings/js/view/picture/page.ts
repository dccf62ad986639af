/**
 * The window that shows a picture. In a component test, it lacks some features: jsdom and happy-dom
 * have no layout and no canvas.
 */

export type PageWindow = Window & typeof globalThis;

/** The window that shows a node. It is another window if the node has moved into a popup or a frame. */
export function windowOf(node: Node): PageWindow {
  return node.ownerDocument?.defaultView ?? (globalThis as unknown as PageWindow);
}

/** A media query of the window; undefined if the window has none. */
export function media(page: PageWindow, query: string): MediaQueryList | undefined {
  return page.matchMedia?.(query);
}

/** Calls `draw` in the next frame of the window. Returns a function that cancels the call. */
export function nextFrame(page: PageWindow, draw: (now: number) => void): () => void {
  if (page.requestAnimationFrame === undefined) {
    const timer = setTimeout(() => draw(performance.now()), 16);
    return () => clearTimeout(timer);
  }
  const frame = page.requestAnimationFrame(draw);
  return () => page.cancelAnimationFrame(frame);
}

/** Whether drawing on a canvas is possible. */
export const hasCanvas = () => globalThis.CanvasRenderingContext2D !== undefined;

/** The drawing context of a canvas; null if there is none. Requesting one from jsdom would write to the console. */
export function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
  return hasCanvas() ? canvas.getContext("2d") : null;
}
