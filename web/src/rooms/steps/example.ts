/**
 * The worked example with which the page opens: five words with given embeddings of size 4. Each of Q, K and V is a
 * linear map of the embedding. Q takes its first two entries, K the same two swapped, V the last two.
 */

export const exampleText = "The quick brown fox jumps";

/** "quick", the word whose attention the example shows in four steps. */
export const exampleRow = 1;

/** The length of its queries, keys and values. */
export const exampleSize = 2;

/** The second sentence, to which the first one attends in an encoder-decoder. */
export const exampleKeyText = "A lazy dog sleeps";

/** The given embeddings of both sentences. */
export const exampleVectors: Readonly<Record<string, readonly number[]>> = {
  The: [0.1, 0.2, 0.3, 0.4],
  quick: [0.5, 0.6, 0.7, 0.8],
  brown: [0.9, 1.0, 1.1, 1.2],
  fox: [1.3, 1.4, 1.5, 1.6],
  jumps: [1.7, 1.8, 1.9, 2.0],
  A: [0.4, 0.3, 0.2, 0.1],
  lazy: [0.8, 0.7, 0.6, 0.5],
  dog: [1.2, 1.1, 1.0, 0.9],
  sleeps: [1.6, 1.5, 1.4, 1.3],
};

/** Rows that take entries of an embedding. */
const taking = (...entries: readonly number[]) =>
  entries.map((entry) => Array.from({ length: 4 }, (_, i) => Number(i === entry)));

/**
 * Stored as [out, in], the layout of `linear`. The page draws them as the 4 × 2 matrices that multiply from the right.
 */
export const exampleProjections = { wq: taking(0, 1), wk: taking(1, 0), wv: taking(2, 3) };
