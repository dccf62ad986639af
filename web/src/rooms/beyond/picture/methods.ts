/** The texts about the three means of a picture. */
import type { Method } from "../state";
import type { RoleWords } from "../Work";
import type { Version } from "./denoise";

export const methods: readonly (readonly [Method, string])[] = [
  ["local", "local mean"],
  ["bilateral", "bilateral"],
  ["nonLocal", "non-local means"],
];

export const versionNames: readonly (readonly [Version, string])[] = [
  ["clean", "original"],
  ["noisy", "with noise"],
  ...methods,
];

const values = "the grey values of these pixels";

export const roleWords: Readonly<Record<Method, RoleWords>> = {
  local: {
    query: "the selected pixel",
    keys: "the pixels of its patch within the window",
    values,
    score: "0 for all: equal weights, so noise and edges go",
  },
  bilateral: {
    query: "value and place of the selected pixel",
    keys: "value and place of each pixel of its window",
    values,
    score:
      "−½ (difference in value ÷ tone)² − ½ (distance ÷ half of the window’s radius)²: edges stay, but a pixel’s own noise decides what it resembles",
  },
  nonLocal: {
    query: "the patch around the selected pixel",
    keys: "the patch around each pixel of its window",
    values,
    // The word joiner keeps the sign on the line of its bracket.
    score: "−\u2060(mean squared difference of two patches − 2 noise²) ÷ h², at most 0",
  },
};
