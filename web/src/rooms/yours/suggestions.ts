/** Suggestions of what to try in this room. */
import type { Suggestion } from "../../shared/room";

const twice = "Elizabeth walked to the village. Mary stayed. Elizabeth walked to the";

export const suggestions: readonly Suggestion[] = [
  [
    `#room=yours&model=write&text=${encodeURIComponent(twice)}&order=measure&measure=previous`,
    "Who looks back by one",
    "The heads that attend to the token before come first. Others build on them, to copy what followed a word.",
  ],
  [
    `#room=yours&model=write&text=${encodeURIComponent(twice)}&order=measure&measure=first`,
    "Where heads rest",
    "Heads by their weight on the first token: much of it may fall on a short value.",
  ],
  [
    "#room=yours&model=openai-community/gpt2&dtype=int8",
    "GPT-2, from the hub",
    "548 MB come from the hub, and take about a third of that in memory.",
  ],
  [
    "#room=yours&model=distilbert/distilbert-base-uncased&dtype=float16",
    "A word that is hidden",
    "DistilBERT guesses what a mask hides. Hide another word.",
  ],
];
