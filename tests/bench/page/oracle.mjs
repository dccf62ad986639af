// softmax(Q K^T / sqrt(D)) V in double precision, as plainly as it can be written, for some of the
// rows of a case: all of a small one, and 8 a head of a large one.

import { visibleKeys } from "./cases.mjs";

const rowsPerHead = 8;

/** One row of the output of a head that begins at `head` in q, k and v. */
function outputRow(one, { q, k, v }, head, query) {
  const scores = [];
  for (let key = 0; key < visibleKeys(one, query); ++key) {
    let sum = 0;
    for (let d = 0; d < one.D; ++d) sum += q[head + query * one.D + d] * k[head + key * one.D + d];
    scores.push(sum / Math.sqrt(one.D));
  }
  const highest = scores.reduce((a, b) => Math.max(a, b));
  const weights = scores.map((score) => Math.exp(score - highest));
  const total = weights.reduce((a, b) => a + b);
  return Array.from({ length: one.D }, (_, d) =>
    weights.reduce((sum, weight, key) => sum + (weight / total) * v[head + key * one.D + d], 0),
  );
}

/** The largest difference between an answer [1, H, L, D] and the oracle; NaN if there is one in it. */
export function compareRows(one, inputs, answer) {
  const rows = Math.min(rowsPerHead, one.L);
  let largest = 0;
  for (let h = 0; h < one.H; ++h) {
    const head = h * one.L * one.D;
    for (let i = 0; i < rows; ++i) {
      // The first row, the last, and some between them that differ from head to head.
      const query =
        i === rows - 1 ? one.L - 1 : Math.min(one.L - 1, Math.floor((i * one.L) / rows) + (i && h));
      const start = head + query * one.D;
      const row = outputRow(one, inputs, head, query);
      largest = Math.max(largest, largestDifference(row, answer.subarray(start, start + one.D)));
    }
  }
  return largest;
}

/** NaN if there is one in either. */
export function largestDifference(a, b) {
  if (a.length !== b.length) return Number.NaN;
  let largest = 0;
  for (let i = 0; i < a.length; ++i) largest = Math.max(largest, Math.abs(a[i] - b[i]));
  return largest;
}
