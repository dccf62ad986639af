/** Suggestions of what to try in this room. */
import type { Suggestion } from "../../shared/room";

const room = "#room=recurrent";

export const suggestions: readonly Suggestion[] = [
  [
    `${room}&date=the+twenty-first+of+September+2044&from=12`,
    "A date in words",
    "The day comes early, so its way is long. Which model gets it wrong?",
  ],
  [`${room}&slip=5:0&says=6`, "A digit for a hyphen", "Each continues a year of five digits."],
  [
    `${room}&between=dot&date=Wed+3+Mar+2021`,
    "Luong’s attention",
    "The decoder attends after its own step, with dot products.",
  ],
  [`${room}&layer=1&head=1`, "A Transformer’s head", "Which heads attend to one character?"],
];
