/** Reads and writes the part of a link that says how heads are measured, ordered and drawn. */
import type { ColourCurve, ColourRange } from "#parts";
import { colourReaders } from "./colourReaders";
import { numberIn, oneOf, putIn } from "./linkReaders";

export interface Look<Name extends string> {
  readonly measure: Name;
  /** Whether heads are ordered by layer or by the measure. */
  readonly order: "layer" | "measure";
  readonly range: ColourRange;
  readonly curve: ColourCurve;
  /** The strongest lines of each query are drawn until they sum to this share of its attention, in percent. */
  readonly mass: number;
}

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
