/** Pools matrices for the small pictures of long sentences: keeps the entry farthest from zero of each part. */
import type { Heed, Tensor } from "heed";
import { isMatrix, kindOf, type MatrixName } from "./matrices";
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
  /** Pools the rows and columns that are tokens; vectors keep all their entries. */
  const pooled = (name: MatrixName, data: Numbers): Numbers => {
    const kind = kindOf(name);
    if (kind.rows !== "query" && kind.rows !== "key") return data;
    const isPairs = kind.cols === "key";
    const count = isPairs ? H : 1;
    const [rows, r] = kind.rows === "query" ? [L, l] : [S, s];
    const columns = data.length / (count * rows);
    return heed.scope(() => {
      const whole = heed.tensor(data, [count, rows, columns]);
      const most = (of: Tensor) => heed.adaptiveMaxPool(of, r, isPairs ? s : columns).data;
      const ofNegated = most(heed.multiply(whole, -1));
      return farthest(most(whole) as Float32Array, ofNegated as Float32Array);
    });
  };
  // No small picture shows what comes before the input, or the other sentence.
  const isDrawn = (name: string): name is MatrixName =>
    isMatrix(name) && !/^(embedding|position|key)/.test(name);
  const small = Object.entries(arrays).map(([name, data]) => {
    return [name, data && isDrawn(name) ? pooled(name, data) : data];
  });
  return { dims: { ...dims, L: l, S: s }, arrays: Object.fromEntries(small) as typeof arrays };
}
