/** How many CSS pixels of the window one of an element takes: a page may enlarge a part of itself by `zoom`. */
export function zoomOf(element: Element): number {
  // Not yet among the types of the DOM, nor in browsers before 2024.
  return (element as { currentCSSZoom?: number }).currentCSSZoom ?? 1;
}
