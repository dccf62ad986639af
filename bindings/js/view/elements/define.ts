import { HeedHeads } from "./heads.js";
import { HeedLines } from "./lines.js";
import { HeedMatrix } from "./matrix.js";
import { define } from "./registry.js";
import { HeedSteps } from "./steps.js";
import { HeedTokens } from "./tokens.js";

/**
 * Registers all elements of `heed/view`, for pages that use them in their markup. It does nothing
 * where custom elements do not exist, as in Node. A tag that is already registered stays as it is.
 *
 * @throws DOMException if one of the classes is registered under another name
 * @example
 * ```ts
 * defineElements();
 * console.log(typeof globalThis.customElements); // prints: undefined
 * ```
 */
export function defineElements(): void {
  if (globalThis.customElements === undefined) return;
  for (const kind of [HeedHeads, HeedLines, HeedMatrix, HeedSteps, HeedTokens]) define(kind);
}
