/** What is worth a look, as links: the link is the state. */
import type { Suggestion } from "../../components/TryNext";

const room = "#room=recurrent";

export const suggestions: readonly Suggestion[] = [
  [
    `${room}&date=the+twenty-first+of+September+2044&says=9&from=5`,
    "A long way round",
    "In 34 characters the day stands far from where it is written. Follow the path in each model, and see which answer is wrong.",
  ],
  [
    `${room}&date=12%2F25%2F1999&slip=3:7&step=4&says=4`,
    "One wrong character",
    "A 7 is put in where the 9 should be. Taught, a model hears the right word again at the next step; alone it has to live with what it wrote.",
  ],
  [
    `${room}&between=dot&date=Wed+3+Mar+2021`,
    "Look after the step, not before",
    "Luong’s decoder compares by a bare dot product, after its own step. Its map is sharper than Bahdanau’s on the same date.",
  ],
  [
    `${room}&layer=1&head=1`,
    "Two layers, four heads",
    "Go through the Transformer’s heads: none is quite like another, and the first layer looks around more than the second.",
  ],
];
