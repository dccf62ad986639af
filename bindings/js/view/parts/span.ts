/** A span with a class and words. */
export function spanOf(className: string, words = ""): HTMLSpanElement {
  const span = document.createElement("span");
  if (className) span.className = className;
  span.textContent = words;
  return span;
}
