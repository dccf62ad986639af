/** Suggestions of what to try in this room. */
import type { Suggestion } from "../../shared/room";

export const suggestions: readonly Suggestion[] = [
  [
    "#room=heads&head=encoder.3.4&compare=encoder.3.1",
    "Two heads of one layer",
    "One attends to the thing, the other to what was done with it: the difference shows both at once.",
  ],
  [
    "#room=heads&text=Alice+helped+Clara+because+she+was+kind.&drop=encoder.1.1",
    "One head too few",
    "The one who is kind helps; the one who is tired is helped. Without one head of the first layer the model confuses them: restore the head.",
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
