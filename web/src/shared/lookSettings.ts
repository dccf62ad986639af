/** The settings that say how heads are measured, ordered and drawn. */
import { type ColourCurve, colourCurves, colourRanges } from "#parts";
import { choice, look, type StateOf, whole } from "./settings";

export const colourSettings = (curve: ColourCurve) => ({
  range: choice("absolute", colourRanges, look),
  curve: choice(curve, colourCurves, look),
});

export const lookSettings = <Name extends string>(
  measure: NoInfer<Name>,
  measures: readonly Name[],
  curve: ColourCurve,
) => ({
  measure: choice(measure, measures, look),
  /** Whether heads are ordered by layer or by the measure. */
  order: choice<"layer" | "measure">("layer", ["layer", "measure"], look),
  ...colourSettings(curve),
  /** The strongest lines of each query are drawn until they sum to this share of its attention, in percent. */
  mass: whole(80, { min: 50, max: 100 }, look),
});

export type LookSettings<Name extends string> = ReturnType<typeof lookSettings<Name>>;
export type Look<Name extends string> = StateOf<LookSettings<Name>>;
