/** Suggestions of what to try in this room. */
import type { Suggestion } from "../../shared/room";

const room = "#room=recurrent";

export const suggestions: readonly Suggestion[] = [
  [
    `${room}&date=the+twenty-first+of+September+2044&says=10&from=12`,
    "A long way round",
    "The day comes early in 34 characters, and its last digit is written last. Count the steps between them in each model, and see which model gets it wrong.",
  ],
  [
    `${room}&slip=5:0&says=6`,
    "A digit for a hyphen",
    "A wrong character is put in. Taught, each model gets the right one again at the next step; alone, it must continue from a year of five digits. See how long each makes mistakes.",
  ],
  [
    `${room}&between=dot&date=Wed+3+Mar+2021`,
    "Attend after the step, not before",
    "Luong’s decoder attends after its own step, with plain dot products as scores. Compare its weight on the right places with that of Bahdanau’s.",
  ],
  [
    `${room}&layer=1&head=1`,
    "Two layers, four heads",
    "Go through the Transformer’s heads: which attend to one character, and which to many?",
  ],
];
