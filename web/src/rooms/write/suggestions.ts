/** Suggestions of what to try in this room. */
import type { Suggestion } from "../../shared/room";

const name =
  "Mr. Zyblewick came to the house. Mr. Zyblewick was a man of large fortune. My dear Mr. Zy";

export const suggestions: readonly Suggestion[] = [
  [
    `#room=write&text=${encodeURIComponent(name)}&temperature=0`,
    "A name that it never saw",
    "The induction head finds the token after the former occurrence, so the name is copied. Drop that head, and compare the probabilities.",
  ],
  [
    `#room=write&text=${encodeURIComponent(name)}&temperature=0&layer=6`,
    "Where a name comes from",
    "In the whole network, follow the probability of the name's next token down the layers, and open the one where it rises: which head adds most, and where does it attend?",
  ],
  [
    "#room=write&text=Call+me+Ishmael.&temperature=0",
    "Without chance",
    "At temperature 0 the likeliest token is always taken: the text soon repeats itself.",
  ],
  [
    "#room=write&temperature=1.5&topp=1",
    "Hot",
    "A high temperature makes unlikely tokens likelier. Lower top-p, and they cannot be drawn.",
  ],
  [
    `#room=write&text=${encodeURIComponent("鯨は海に住む。The whale")}`,
    "Any script",
    "The model never learned Japanese, but every text is bytes: a character takes up to three tokens.",
  ],
];
