/** What is worth a look in this room. */
import type { Suggestion } from "../../components/TryNext";

const sampleText = "text=The+animal+did+not+cross+the+street+because+it+was+too+tired";

export const suggestions: readonly Suggestion[] = [
  [
    "#mask=causal&step=masked",
    "Hide the future",
    "A model that writes word by word may not look ahead. Each row keeps only the keys up to its own, and the shares are dealt out anew.",
  ],
  [
    "#shuffle=1&step=output",
    "Shuffle the words",
    "Nothing here knows where a word stands. Each word keeps its output and takes it along to its new place.",
  ],
  [
    "#shuffle=1&position=on&step=embedding",
    "Shuffle them with positions",
    "Now a code of its place is added to each word, and the same words in another order have other outputs.",
  ],
  [
    `#${sampleText}&heads=1&size=16&scale=off&step=weights&query=12`,
    "Leave out the division by √d",
    "With vectors of 16 numbers the scores are large and the softmax saturates: “tired” gives all to one key. Switch the division on and watch the others come back.",
  ],
  [
    "#edits=q.1.2.1:-2&step=scores&cell=q.2.1",
    "Change one number of a query",
    "One entry of “quick” was 0.5 and is set to −2 here. Its scores, its weights and its output follow; no other row changes.",
  ],
  [
    "#edits=k.1.5.1:-2&step=weights&query=2",
    "Change one number of a key",
    "All words looked most at “jumps”. One entry of its key, 1.8, is set to −2 here, and every row looks elsewhere.",
  ],
  [
    `#${sampleText}&heads=8&size=4&position=on&step=joined&query=8`,
    "Eight heads at once",
    "Each head has projections of its own and so looks elsewhere. Choose one, then see all of them joined.",
  ],
  [
    `#${sampleText}&heads=4&size=4&drop=2&step=joined&head=2&query=8`,
    "Leave out a head",
    "The second head's part of the joined row is zeros, and the result does without it. Tick it to bring it back.",
  ],
  [
    "#text=Le+chat+dort+l%C3%A0&keys=The+cat+is+sleeping+there&step=weights&query=2",
    "Ask another sentence",
    "In cross-attention the queries come from one sentence and the keys and values from another, as in translation.",
  ],
];
