/** Suggestions of what to try in this room. */
import type { Suggestion } from "../../../shared/room";

const named = "Mr. Darcy smiled. Elizabeth looked at Mr.";

export const suggestions: readonly Suggestion[] = [
  [
    "#room=models&text=We+have+been+an+occasion&head=6.3&drop=6.3",
    "Drop a previous-token head",
    "Layer 6, head 3 attends to the token before. Without it, “of” is far less likely after “occasion”.",
  ],
  [
    `#room=models&text=${encodeURIComponent(named)}&temperature=0&layer=6`,
    "Where a name comes from",
    "Follow the name’s probability down the layers of the whole network. Then write “Mr. Collins” for “Mr. Darcy”.",
  ],
  [
    "#room=models&text=Call+me+Ishmael.&temperature=0",
    "Temperature 0",
    "Without chance the text soon repeats itself.",
  ],
  [
    "#room=models&temperature=1.5&topp=1",
    "Temperature 1.5",
    "Unlikely tokens become likelier. A lower top-p keeps them out.",
  ],
  [
    `#room=models&text=${encodeURIComponent("鯨は海に住む。The whale")}`,
    "Another script",
    "Every text is bytes: a Japanese character takes up to three tokens.",
  ],
];
