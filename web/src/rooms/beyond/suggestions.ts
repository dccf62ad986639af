/** Suggestions of what to try in this room. */
import type { Suggestion } from "../../shared/room";

export const suggestions: readonly Suggestion[] = [
  [
    "#room=beyond&noise=0.2&h=0.1&window=12&pixel=38.53",
    "More noise, a wider window",
    "In our drawing single pixels, compared, do worse than the plain mean.",
  ],
  ["#room=beyond&show=points&bandwidth=0.1", "A narrow kernel", "The curve becomes stairs."],
  [
    "#room=beyond&show=series&series=7",
    "Periods found by a model",
    "Never told what a period is, the model looks whole periods away.",
  ],
  ["#room=beyond&show=melody&temperature=0.02", "A round", "Bars sung twice make a second stripe."],
];
