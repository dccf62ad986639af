/** Suggestions of what to try in this room. */
import type { Suggestion } from "../../../shared/room";

const twice = "Elizabeth walked to the village. Mary stayed. Elizabeth walked to the";

export const suggestions: readonly Suggestion[] = [
  [
    `#room=models&model=write&text=${encodeURIComponent(twice)}&order=measure&measure=previous`,
    "Heads that look back",
    "They come first now. Others build on them, to copy what followed a word.",
  ],
  [
    `#room=models&model=write&text=${encodeURIComponent(twice)}&order=measure&measure=first`,
    "Heads on the first token",
    "They come first now. Much of that weight may fall on a short value.",
  ],
  [
    "#room=models&model=openai-community/gpt2&dtype=int8",
    "GPT-2 from the hub: 548 MB",
    "As int8 it takes about a third of that in memory.",
  ],
  [
    "#room=models&model=distilbert/distilbert-base-uncased&dtype=float16",
    "A hidden word in DistilBERT",
    "The model guesses what a mask hides. Hide another word.",
  ],
];
