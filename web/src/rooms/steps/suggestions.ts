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
    `#${sampleText}&heads=1&size=16&scale=off&step=weights&query=8`,
    "Leave out the division by √d",
    "With vectors of 16 numbers the scores are large. Switch the division on and off and watch the rows turn from one bright cell to many.",
  ],
  [
    `#${sampleText}&heads=8&size=4&position=on&step=joined&query=8`,
    "Eight heads at once",
    "Each head has projections of its own and so looks elsewhere. Choose one, then see all of them joined.",
  ],
  [
    "#text=Le+chat+dort+l%C3%A0&keys=The+cat+is+sleeping+there&step=weights&query=2",
    "Ask another sentence",
    "In cross-attention the queries come from one sentence and the keys and values from another, as in translation.",
  ],
];
