/** Suggestions of what to try in this room. */
import type { Suggestion } from "../../shared/room";

export const suggestions: readonly Suggestion[] = [
  [
    "#room=heads&head=encoder.3.4&compare=encoder.3.1",
    "Two heads of one layer",
    "One attends to who is meant, the other to what was done.",
  ],
  [
    "#room=heads&text=Alice+helped+Clara+because+she+was+tired.",
    "Kind or tired",
    "The kind help, the tired are helped: one word makes “she” somebody else.",
  ],
  [
    "#room=heads&model=dates&drop=decoder.1.1",
    "Lose the place",
    "One head tells which character comes next. Without it a digit is lost.",
  ],
  [
    "#room=heads&model=reverse&order=measure",
    "The other diagonal",
    "To write backwards, the answer attends to the input from its end.",
  ],
];
