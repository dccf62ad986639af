/** The page is enlarged on wide screens, such as a lecture hall's (app/styles/screen.css); events do not know of it. */

let known: number | null = null;

/** How many CSS pixels of the window one of the page takes. Read once for each size of the window: it costs a layout. */
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

/** Where in an element an event happened, in CSS pixels of the page; by default in the one that listens. */
export function placeIn(
  { clientX, clientY, currentTarget }: MouseEvent,
  element: Element | null = null,
): { x: number; y: number } {
  const { left, top } = (element ?? (currentTarget as Element)).getBoundingClientRect();
  const zoom = pageZoom();
  return { x: (clientX - left) / zoom, y: (clientY - top) / zoom };
}
