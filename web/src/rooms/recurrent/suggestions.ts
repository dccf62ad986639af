/** Suggestions of what to try in this room. */
import type { Suggestion } from "../../shared/room";

const room = "#room=recurrent";

export const suggestions: readonly Suggestion[] = [
  [
    `${room}&date=the+twenty-first+of+September+2044&says=10&from=12`,
    "A long way",
    "The day comes early in 34 characters, and its last digit is written last. Which model gets it wrong?",
  ],
  [
    `${room}&slip=5:0&says=6`,
    "A digit for a hyphen",
    "A wrong character is put in. Alone, each model must continue from a year of five digits.",
  ],
  [
    `${room}&between=dot&date=Wed+3+Mar+2021`,
    "Attend after the step",
    "Luong’s decoder attends after its own step, with dot products. Compare its weight on the right places.",
  ],
  [
    `${room}&layer=1&head=1`,
    "Two layers, four heads",
    "Which heads of the Transformer attend to one character, and which to many?",
  ],
];
