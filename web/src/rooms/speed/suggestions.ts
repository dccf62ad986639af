/** Suggestions of what to try in this room. */
import type { Suggestion } from "../../shared/room";

export const suggestions: readonly Suggestion[] = [
  [
    "#room=speed&over=intensity",
    "Where memory is the limit",
    "Decoding a token reads the whole cache for little arithmetic: it lies on the slope.",
  ],
  ["#room=speed&causal=on", "A causal mask", "The engine leaves out the hidden half of the pairs."],
  [
    "#room=speed&window=64&longest=4096",
    "A sliding window",
    "The work grows with the length, not with its square. Compare 256 and 512.",
  ],
  ["#room=speed&heads=1&size=16", "One small head", "16 numbers give threads little to share."],
];
