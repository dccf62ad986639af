// Registers classes of elements, and creates elements.

import type { HeedElement } from "./element.js";
import type { Rule } from "./rules.js";

/** A class of elements, with the members that `define` needs. */
interface ElementClass {
  new (): HeedElement;
  readonly prototype: HeedElement;
  readonly tag: string;
  readonly rules: Readonly<Record<string, Rule>>;
}

/** @internal Registers a class of elements under its tag, unless the tag is taken. */
export function define(kind: ElementClass): void {
  if (customElements.get(kind.tag) === undefined) customElements.define(kind.tag, kind);
}

/** @internal Creates an element and sets its properties. */
export function make<E extends HeedElement>(
  kind: ElementClass & (new () => E),
  options: Partial<E>,
): E {
  define(kind);
  return Object.assign(document.createElement(kind.tag), options) as E;
}
