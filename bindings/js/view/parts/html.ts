/** Makes elements of HTML, and writes into them. */

/** An element with a class and what is in it. */
export function html<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className = "",
  ...content: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...content);
  return element;
}

/** A span with a class and words. */
export function spanOf(className: string, words = ""): HTMLSpanElement {
  return html("span", className, words);
}

/** A choice of a list, with its words. */
export function optionOf(words: string, value: string): HTMLOptionElement {
  const option = html("option", "", words);
  option.value = value;
  return option;
}

/** Writes words into an element, unless they are there. */
export function write(element: Element, words: string): void {
  if (element.textContent !== words) element.textContent = words;
}

/** A button with words that does something. */
export function buttonOf(words: string, press: () => void, className = ""): HTMLButtonElement {
  const button = html("button", className, words);
  button.type = "button";
  button.addEventListener("click", press);
  return button;
}
