/** Creates HTML elements, and writes into them. */

/** Creates an element with a class and content. */
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

/** Creates a span with a class and words. */
export function spanOf(className: string, words = ""): HTMLSpanElement {
  return html("span", className, words);
}

/** Fills a select element, calls a function after each choice, and returns the element in its label. */
export function labelOf(
  select: HTMLSelectElement,
  words: string,
  choices: readonly (readonly [value: string, words: string])[],
  choose: () => void,
): HTMLLabelElement {
  for (const [value, words] of choices) {
    const option = html("option", "", words);
    option.value = value;
    select.add(option);
  }
  select.addEventListener("change", choose);
  return html("label", "", `${words} `, select);
}

/** Writes words into an element, unless it has these words already. */
export function write(element: Element, words: string): void {
  if (element.textContent !== words) element.textContent = words;
}

/** Creates a button with words and an action. */
export function buttonOf(words: string, press: () => void, className = ""): HTMLButtonElement {
  const button = html("button", className, words);
  button.type = "button";
  button.addEventListener("click", press);
  return button;
}
