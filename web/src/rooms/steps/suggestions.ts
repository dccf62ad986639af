/** Suggestions of what to try in this room. */
import type { Suggestion } from "../../shared/room";

/** As characters these are 512 tokens, the most that a sentence may have. */
const longText =
  "The first word of a text has only itself to attend to. The second has two, the third has three, and the last of all may choose from every word there is. " +
  "A reader does much the same: the eye rests on one word, but the mind goes back to a name, a place, a promise some lines before. " +
  "What attention adds is that each of these looks has a number, and that the numbers can be learned. Here every letter attends to every letter. " +
  "The same letter has the same vector wherever it stands, so its row and its column come back with it, and the picture is woven like a piece of cloth from edge to edge, line by line. Now look for the same letters again.";

const sampleText = "text=The+animal+did+not+cross+the+street+because+it+was+too+tired";

export const suggestions: readonly Suggestion[] = [
  [
    "#mask=causal&step=masked",
    "Hide the future",
    "A model that writes word by word must not attend to later words. Each row keeps only the keys up to its own.",
  ],
  [
    "#shuffle=1&step=output",
    "Shuffle the words",
    "Nothing here depends on the order of the words: each has the same output in its new place.",
  ],
  [
    "#shuffle=1&position=on&step=embedding",
    "Shuffle them with positions",
    "Now a code of its position is added to each word, and another order gives other outputs.",
  ],
  [
    `#${sampleText}&heads=1&size=16&scale=off&step=weights&query=12&range=row`,
    "Leave out the division by √d",
    "With vectors of 16 numbers the softmax saturates: “tired” gives one key all its attention. Switch the division on, and the others come back.",
  ],
  [
    "#trial=512&step=scaled",
    "See what the division by √d is for",
    "With vectors of 512 numbers undivided scores leave almost no gradient. Make the vectors shorter below, under “Why divide by √d?”.",
  ],
  [
    "#edits=q.1.2.1:-2&step=scores&cell=q.2.1",
    "Change one number of a query or a key",
    "An entry of the query of “quick” was 0.5 and is −2 here: its row of scores changes, and no other. An entry of a key changes a whole column.",
  ],
  [
    `#${sampleText}&heads=8&size=4&position=on&step=joined&query=8`,
    "Eight heads at once",
    "Each head has matrices of its own, so it attends to other words. Choose one, then see all of them joined.",
  ],
  [
    `#${sampleText}&heads=4&size=4&drop=2&step=joined&head=2&query=8`,
    "Leave out a head",
    "The second head's part of the joined row is zeros. Tick its box to bring it back.",
  ],
  [
    "#text=Le+chat+dort+l%C3%A0&keys=The+cat+is+sleeping+there&step=weights&query=2",
    "Ask another sentence",
    "In cross-attention the queries come from one sentence, the keys and values from another. Models that translate work this way.",
  ],
  [
    `#${new URLSearchParams({ text: longText })}&heads=1&size=8&split=characters&step=weights&range=row`,
    "512 tokens at once",
    "512 letters have 262,144 weights. The same letter has the same vector everywhere, so the picture looks woven. Add positions, and the pattern is gone.",
  ],
];
