/** The mask that a person paints. */
import type { State } from "./settings";
import { isVisible, type SentenceAttention, toStage } from "./state";

/** Every pair of a query and a key, as "query,key". */
export function allPairs({ queries, keys }: SentenceAttention): ReadonlySet<string> {
  return new Set(queries.tokens.flatMap((_, i) => keys.tokens.map((_, j) => `${i},${j}`)));
}

/** A painted mask starts as a copy of the previous mask. The person changes it cell by cell. */
export function startPainting(state: State, attention: SentenceAttention): Partial<State> {
  const hidden = [...allPairs(attention)].filter((pair) => {
    const [row, col] = pair.split(",").map(Number) as [number, number];
    return !isVisible(state, attention, row, col);
  });
  return { mask: "painted", hidden: new Set(hidden), ...toStage("masked") };
}
