/** What is worth a look, as links: the link is the state. */
import type { Suggestion } from "../../components/TryNext";

const room = "#room=recurrent";

export const suggestions: readonly Suggestion[] = [
  [
    `${room}&date=the+twenty-first+of+September+2044&says=7&from=21`,
    "A long way round",
    "The month stands in the middle of 34 characters. Count the steps that it takes through each model, and see which answer is wrong.",
  ],
  [
    `${room}&slip=5:0&says=6`,
    "A digit for a hyphen",
    "Taught, each model is set right again at the next step. Alone it has to go on from a year of five digits: see who ends a place later, and who in time.",
  ],
  [
    `${room}&between=dot&date=Wed+3+Mar+2021`,
    "Look after the step, not before",
    "Luong’s decoder compares by a bare dot product, after its own step. Compare how much falls on the right places with Bahdanau’s.",
  ],
  [
    `${room}&layer=1&head=1`,
    "Two layers, four heads",
    "Go through the Transformer’s heads: which look at one character, and which look around?",
  ],
];
