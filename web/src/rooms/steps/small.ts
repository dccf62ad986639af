/** Pools matrices for the small pictures of long sentences: keeps the entry farthest from zero of each part. */
import type { Heed } from "heed";
import type { Numbers, Solution } from "./problem";

/** The maximum number of rows and columns: one for each pixel of the smallest picture. */
const most = 40;

/** Max pooling alone would lose negative numbers. Hidden entries (-Infinity) are ignored if others are visible. */
function farthest(largest: Float32Array, ofNegated: Float32Array): Numbers {
  return Float32Array.from(largest, (high, i) => {
    const low = -(ofNegated[i] as number);
    return -low > high && Number.isFinite(low) ? low : high;
  });
}

export function smallSolutionOf(
  heed: Heed,
  { arrays, dims }: Pick<Solution, "arrays" | "dims">,
): Pick<Solution, "arrays" | "dims"> {
  const { L, S, H } = dims;
  const [l, s] = [Math.min(L, most), Math.min(S, most)];
  if (l === L && s === S) return { arrays, dims };
  /** Pools the rows of consecutive matrices to `r` rows each; vectors keep all their entries. */
  const pooled = (data: Numbers, rows: number, r: number, count = 1, c?: number): Numbers =>
    heed.scope(() => {
      const columns = data.length / (count * rows);
      const whole = heed.tensor(data, [count, rows, columns]);
      const largest = heed.adaptiveMaxPool(whole, r, c ?? columns);
      const ofNegated = heed.adaptiveMaxPool(heed.multiply(whole, -1), r, c ?? columns);
      return farthest(largest.data as Float32Array, ofNegated.data as Float32Array);
    });
  const queries = (data: Numbers) => pooled(data, L, l);
  const keys = (data: Numbers) => pooled(data, S, s);
  const pairs = (data: Numbers) => pooled(data, L, l, H, s);
  return {
    dims: { ...dims, L: l, S: s },
    arrays: {
      ...arrays,
      input: queries(arrays.input),
      q: queries(arrays.q),
      k: keys(arrays.k),
      v: keys(arrays.v),
      scores: pairs(arrays.scores),
      scaled: pairs(arrays.scaled),
      masked: pairs(arrays.masked),
      weights: pairs(arrays.weights),
      output: queries(arrays.output),
      joined: queries(arrays.joined),
      result: arrays.result && queries(arrays.result),
      between: arrays.between && queries(arrays.between),
      units: arrays.units && queries(arrays.units),
      after: arrays.after && queries(arrays.after),
    },
  };
}
