/** The page is enlarged on wide screens (app/styles/screen.css). The coordinates of events do not account for that. */

let known: number | null = null;

/**
 * The number of the window's CSS pixels per CSS pixel of the page. Read once for each size of the window, because
 * reading it forces a layout.
 */
export function pageZoom(): number {
  if (known === null) {
    const page = document.getElementById("page");
    known = page ? Number(getComputedStyle(page).zoom) || 1 : 1;
    const forget = () => {
      known = null;
    };
    addEventListener("resize", forget, { once: true, capture: true });
  }
  return known;
}

/** The position of an event within an element, in CSS pixels of the page; by default the element that listens. */
export function placeIn(
  { clientX, clientY, currentTarget }: MouseEvent,
  element: Element | null = null,
): { x: number; y: number } {
  const { left, top } = (element ?? (currentTarget as Element)).getBoundingClientRect();
  const zoom = pageZoom();
  return { x: (clientX - left) / zoom, y: (clientY - top) / zoom };
}
