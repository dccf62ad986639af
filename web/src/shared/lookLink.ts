/** Reads and writes the part of a link that says how heads are measured, ordered and drawn. */
import { colourReaders } from "./colourReaders";
import type { Look } from "./HeadLook";
import { numberIn, oneOf, putIn } from "./linkReaders";

export const massLimits = { min: 50, max: 100 } as const;

export const lookReaders = <Name extends string>(measures: readonly Name[]) => ({
  measure: (text: string) => ({ measure: oneOf(...measures)(text) }),
  order: (text: string) => ({ order: oneOf("layer", "measure")(text) }),
  ...colourReaders,
  mass: (text: string) => ({ mass: numberIn(massLimits)(text) }),
});

export function putLook(params: URLSearchParams, state: Look<string>, initial: Look<string>): void {
  const put = putIn(params);
  for (const key of ["measure", "order", "range", "curve", "mass"] as const)
    put(key, state[key], initial[key]);
}
