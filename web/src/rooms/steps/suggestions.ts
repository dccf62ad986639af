/** Suggestions of what to try in this room. */
import type { Suggestion } from "../../shared/room";

/** As characters these are 512 tokens, the maximum of a sentence. */
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
    "A model that writes must not see later words: each row ends at its own.",
  ],
  [
    "#shuffle=1&step=output",
    "Shuffle the words",
    "Order does not matter here: each word keeps its output.",
  ],
  [
    "#shuffle=1&position=on&step=embedding",
    "Shuffle them with positions",
    "Another order gives other outputs.",
  ],
  [
    `#${sampleText}&heads=1&size=16&scale=off&step=weights&query=12&range=row`,
    "Leave out √d",
    "“tired” gives one key all its attention. Divide, and the others come back.",
  ],
  [
    "#trial=512&step=scaled",
    "Vectors of 512 numbers",
    "Undivided, they leave almost no gradient. See “Why divide by √d?”.",
  ],
  [
    "#edits=q.1.2.1:-2&step=scores&cell=q.2.1",
    "Change one number",
    "The query of “quick” has −2, not 0.5: its row of scores changes. A key changes a column.",
  ],
  [
    "#text=Alice+helped+Clara+because+she+was+kind.&vectors=learned&model=pronouns&layer=3&step=weights&head=4&query=5",
    "Find who “she” is",
    "This head of a small trained model attends from “she” to “Alice”.",
  ],
  [
    `#${sampleText}&vectors=learned&layer=3&position=on&mask=causal&step=weights&head=5&query=18&range=row`,
    "Learned numbers",
    "In a layer of our language model, the last part of “tired” attends most to “it”.",
  ],
  [
    `#${sampleText}&heads=4&ablate=2&step=joined&head=2&query=8`,
    "Leave out a head",
    "Its part of the joined row is zeros. Tick it to bring it back.",
  ],
  [
    "#text=Le+chat+dort+l%C3%A0&keys=The+cat+is+sleeping+there&step=weights",
    "Ask another sentence",
    "Queries from one sentence, keys and values from another, as in translation.",
  ],
  [
    `#${new URLSearchParams({ text: longText })}&heads=1&size=8&split=characters&step=weights&range=row`,
    "512 tokens",
    "262,144 weights. Without positions, equal letters have equal vectors, so it looks woven.",
  ],
];
