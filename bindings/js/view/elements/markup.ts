/** The types of the elements in the markup of a framework, such as JSX. */
import type { HeedEvents } from "./events.js";

/**
 * The classes of the elements of `heed/view` by their tags.
 *
 * @example
 * ```ts
 * const tag: keyof HeedElements = "heed-matrix";
 * console.log(tag); // prints: heed-matrix
 * ```
 */
export type HeedElements = Pick<
  HTMLElementTagNameMap,
  Extract<keyof HTMLElementTagNameMap, `heed-${string}`>
>;

/** Compares types by the rule of TypeScript itself: no other way detects a readonly property. */
type IsSettable<E, Name extends keyof E> =
  (<Any>() => Any extends Pick<E, Name> ? 1 : 2) extends <Any>() => Any extends {
    -readonly [Key in Name]: E[Key];
  }
    ? 1
    : 2
    ? true
    : false;

type Settable<E> = {
  [Name in keyof E]: E[Name] extends (...given: never) => unknown
    ? never
    : IsSettable<E, Name> extends true
      ? Name
      : never;
}[keyof E];

/**
 * The properties of an element of `heed/view` that can be set. Each is optional. The properties of
 * every HTML element are not included.
 *
 * @example
 * ```ts
 * const properties: HeedProperties<HeedMatrix> = { data: [[1, 0], [0.25, 0.75]], mask: "causal" };
 * console.log(Object.keys(properties)); // prints: [ 'data', 'mask' ]
 * ```
 */
export type HeedProperties<E> = {
  [Name in Exclude<Settable<E>, keyof HTMLElement>]?: E[Name] | undefined;
};

/**
 * The properties and events of an element of `heed/view`, for the types of a framework's markup:
 * see the guide "Pictures in your own pages" for React, Preact, Solid, Vue and Svelte.
 *
 * @typeParam E the class of the element
 * @typeParam Attributes the framework's own attributes of an HTML element
 * @typeParam On the prefix of the name of an event, as in `onheed-hover`
 * @example
 * ```ts
 * const markup: HeedMarkup<HeedMatrix> = {
 *   data: [[1, 0], [0.25, 0.75]],
 *   "onheed-hover": ({ detail }) => console.log(detail?.value),
 * };
 * markup["onheed-hover"]?.(new CustomEvent("heed-hover", { detail: { row: 0, col: 0, value: 1 } })); // prints: 1
 * ```
 */
export type HeedMarkup<E, Attributes = unknown, On extends string = "on"> = Omit<
  Attributes,
  keyof HeedProperties<E>
> &
  HeedProperties<E> & {
    [Name in keyof HeedEvents as `${On}${Name}`]?: ((event: HeedEvents[Name]) => void) | undefined;
  };
