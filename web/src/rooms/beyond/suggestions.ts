/** Suggestions of what to try in this room. */
import type { Suggestion } from "../../shared/room";

export const suggestions: readonly Suggestion[] = [
  [
    "#room=beyond&noise=0.2&h=0.1&window=12&pixel=38.53",
    "More noise, a wider window",
    "At twice the noise a single pixel says little: the bilateral kernel, which compares single pixels, is now worse than the plain mean. Whole patches still tell roof from sky.",
  ],
  [
    "#room=beyond&show=points&bandwidth=0.1",
    "A narrow kernel",
    "At a small bandwidth nearly all weight is on the nearest point, and the curve becomes stairs. At a large one it becomes the average.",
  ],
  [
    "#room=beyond&show=series&series=7",
    "Periods found by a model",
    "The trained model was never told what a period is. Click values of the gap: their weights are on values whole periods away.",
  ],
  [
    "#room=beyond&show=melody&temperature=0.02",
    "A round",
    "Press Play and follow the marked row. Every bar is sung twice, so there is a second stripe beside the diagonal, one bar of 1.6 seconds away.",
  ],
];
