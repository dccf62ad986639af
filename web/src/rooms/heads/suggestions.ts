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
    "Who is kind helps, who is tired is helped. Without one head of the first layer the model mixes them up: give it back.",
  ],
  [
    "#room=heads&model=dates&drop=decoder.1.1",
    "Lose the place",
    "One head tells the decoder how far it has got. Without it the date loses a digit on the way.",
  ],
  [
    "#room=heads&model=reverse&order=measure",
    "The other diagonal",
    "To write letters backwards, the answer reads the input from its end: from corner to corner.",
  ],
];
