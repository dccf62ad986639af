/** Two texts side by side: which of their tokens line up, and how one head's weights differ there. */
import { at, type MatrixView, viewOn } from "#parts";

/** Pairs of indices of the same tokens, in order: a longest common subsequence (Wagner and Fischer, 1974). */
export function aligned(a: readonly number[], b: readonly number[]): (readonly [number, number])[] {
  const width = b.length + 1;
  // The length of the longest common subsequence of a from i on and b from j on.
  const lengths = new Uint16Array((a.length + 1) * width);
  const place = (i: number, j: number) => lengths[i * width + j] as number;
  for (let i = a.length - 1; i >= 0; --i)
    for (let j = b.length - 1; j >= 0; --j)
      lengths[i * width + j] =
        a[i] === b[j] ? place(i + 1, j + 1) + 1 : Math.max(place(i + 1, j), place(i, j + 1));
  const pairs: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (place(i + 1, j) >= place(i, j + 1)) ++i;
    else ++j;
  }
  return pairs;
}

/** The weights of one text minus the weights of another, at the aligned tokens. A cell is hidden if both hide it. */
export function differenceAt(
  pairs: readonly (readonly [number, number])[],
  weights: MatrixView,
  other: MatrixView,
): MatrixView {
  const count = pairs.length;
  const data = new Float32Array(count * count);
  for (const [row, [i, j]] of pairs.entries())
    for (const [col, [k, l]] of pairs.entries())
      data[row * count + col] = at(weights, i, k) - at(other, j, l);
  const [ours, others] = [weights.hides, other.hides];
  const hides: MatrixView["hides"] = (row, col) => {
    const [[i, j], [k, l]] = [pairs[row], pairs[col]] as [[number, number], [number, number]];
    return ours?.(i, k) === true && others?.(j, l) === true;
  };
  return { ...viewOn(data, count, count), ...(ours && others && { hides }) };
}
