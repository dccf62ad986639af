/** The CSS pixels of the window in one CSS pixel of an element: a page may enlarge a part of itself with `zoom`. */
export function zoomOf(element: Element): number {
  // The types of the DOM do not include it yet, and browsers before 2024 do not have it.
  return (element as { currentCSSZoom?: number }).currentCSSZoom ?? 1;
}
