/** Suggestions of what to try in this room. */
import type { Suggestion } from "../../shared/room";

const twice = "Elizabeth walked to the village. Mary stayed. Elizabeth walked to the";

export const suggestions: readonly Suggestion[] = [
  [
    `#room=yours&model=write&text=${encodeURIComponent(twice)}&order=measure&measure=previous`,
    "Who looks back by one",
    "In the small model of this page the heads that attend to the token before come first. Others build on them, to copy what followed a word the last time.",
  ],
  [
    `#room=yours&model=write&text=${encodeURIComponent(twice)}&order=measure&measure=first`,
    "Where heads rest",
    "Order the heads by their weight on the first token, and compare the two pictures of one: much of that weight may fall on a short value.",
  ],
  [
    "#room=yours&model=openai-community/gpt2&dtype=int8",
    "GPT-2, from the hub",
    "Open it: 548 MB come from the hub, and take about a third of that in memory. Nothing of yours goes there.",
  ],
  [
    "#room=yours&model=distilbert/distilbert-base-uncased&dtype=float16",
    "A word that is hidden",
    "Open it, and DistilBERT guesses what a mask hides. Hide another word, and see which heads attend to the mask.",
  ],
];
