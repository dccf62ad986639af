/** What is worth a look, as links. */
import type { Suggestion } from "../../components/TryNext";

export const suggestions: readonly Suggestion[] = [
  [
    "#room=beyond&noise=0.2&h=0.1&window=12&pixel=38.53",
    "More noise, a wider window",
    "At twice the noise a pixel cannot be trusted by itself. Compare how the bilateral kernel and whole patches choose on the roof.",
  ],
  [
    "#room=beyond&show=points&bandwidth=0.1",
    "A cold kernel",
    "At a small bandwidth the softmax picks the nearest point, and the curve becomes stairs. At a large one it becomes the average.",
  ],
  [
    "#room=beyond&show=series&series=7",
    "Periods found by a model",
    "No one told the trained model what a period is. Click values of the gap: the weights move along with them, whole periods away.",
  ],
  [
    "#room=beyond&show=melody&temperature=0.02",
    "Play the round",
    "Every bar of the round is sung twice, so each row has a second stripe beside the diagonal, one bar away.",
  ],
];
