/** Suggestions of what to try in this room. */
import type { Suggestion } from "../../shared/room";

export const suggestions: readonly Suggestion[] = [
  [
    "#room=heads&head=encoder.3.4&compare=encoder.3.1",
    "Two heads of one layer",
    "One attends to who is meant, the other to what was done: the difference shows both at once.",
  ],
  [
    "#room=heads&text=Alice+helped+Clara+because+she+was+tired.",
    "Kind or tired",
    "One who is kind helps; one who is tired is helped. One word more or less, and “she” is somebody else.",
  ],
  [
    "#room=heads&model=dates&drop=decoder.1.1",
    "Lose the place",
    "One head tells the decoder which character comes next. Without it the date loses a digit.",
  ],
  [
    "#room=heads&model=reverse&order=measure",
    "The other diagonal",
    "To write letters backwards, the answer attends to the input from its end: along the diagonal from corner to corner.",
  ],
];
