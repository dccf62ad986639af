/** The labels of queries and keys. */
import { Kept } from "../parts/kept.js";
import type { ShownMatrix } from "./matrixElement.js";

/** The two sides of a matrix: its rows and its columns. */
export type Side = "queries" | "keys";

export type SideLabels = Readonly<Record<Side, readonly string[]>>;

/**
 * Creates labels for both sides: the words, or numbers for a side without words. The function
 * returns the same lists for the same words and sizes, so that the labels are drawn only once.
 */
export function labelling(labelOf: (word: string) => string) {
  const kept = new Kept<SideLabels>();
  const labels = (words: readonly string[] | undefined, count: number) =>
    words?.map(labelOf) ?? Array.from({ length: count }, (_, i) => `${i + 1}`);
  return ({ words: { queries, keys }, view: { rows, cols } }: ShownMatrix): SideLabels =>
    kept.of([queries, keys, rows, cols], () => ({
      queries: labels(queries, rows),
      keys: labels(keys, cols),
    }));
}
