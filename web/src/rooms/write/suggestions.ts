/** Suggestions of what to try in this room. */
import type { Suggestion } from "../../shared/room";

const named = "Mr. Darcy smiled. Elizabeth looked at Mr.";

export const suggestions: readonly Suggestion[] = [
  [
    "#room=write&text=We+have+been+an+occasion&head=6.3&drop=6.3",
    "Without the token before",
    "Layer 6, head 3 attends to the token before. Without it, “of” is far less likely after “occasion”: compare the two columns.",
  ],
  [
    `#room=write&text=${encodeURIComponent(named)}&temperature=0&layer=6`,
    "Where a name comes from",
    "In the whole network, follow the probability of the name down the layers, and open the one where it rises. Then write “Mr. Collins” for “Mr. Darcy”: the same name is less likely.",
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
