/** Creates SVG elements. */

const svgNames = "http://www.w3.org/2000/svg";

type Attributes = Readonly<Record<string, string | number>>;

/** Sets attributes, but no style attribute, because a page's content security policy may forbid it. */
export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
}

export function svgElement(name: string, attributes: Attributes = {}): SVGElement {
  const made = document.createElementNS(svgNames, name) as SVGElement;
  setAttributes(made, attributes);
  return made;
}
