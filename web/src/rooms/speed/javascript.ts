/** Simple attention in JavaScript: two loops over a Float32Array for every query. It is the baseline for the engine. */
import { keysSeen, type Sizes } from "./report";

/**
 * softmax(Q Kᵀ / √size) V for every `step`-th query of each head. q is [heads, queries, size], k and v are
 * [heads, keys, size]; the output has the shape of q, and its other rows are not written.
 */
export function attention(
  q: Float32Array,
  k: Float32Array,
  v: Float32Array,
  output: Float32Array,
  sizes: Sizes,
  step = 1,
): Float32Array {
  const { heads, queries, keys, size } = sizes;
  const scale = 1 / Math.sqrt(size);
  const weights = new Float32Array(keys);
  const sums = new Float32Array(size);
  for (let head = 0; head < heads; ++head) {
    for (let query = 0; query < queries; query += step) {
      const at = (head * queries + query) * size;
      const [first, end] = keysSeen(sizes, query);
      let largest = Number.NEGATIVE_INFINITY;
      for (let key = first; key < end; ++key) {
        const from = (head * keys + key) * size;
        let score = 0;
        for (let d = 0; d < size; ++d) score += (q[at + d] as number) * (k[from + d] as number);
        weights[key] = score * scale;
        largest = Math.max(largest, score * scale);
      }
      let total = 0;
      sums.fill(0);
      for (let key = first; key < end; ++key) {
        const weight = Math.exp((weights[key] as number) - largest);
        total += weight;
        const from = (head * keys + key) * size;
        for (let d = 0; d < size; ++d)
          sums[d] = (sums[d] as number) + weight * (v[from + d] as number);
      }
      for (let d = 0; d < size; ++d) output[at + d] = (sums[d] as number) / total;
    }
  }
  return output;
}

/** x [rows, width] by weight [outputs, width], the layout of `heed.linear`. */
function linear(x: Float32Array, weight: Float32Array, bias: Float32Array, width: number) {
  const rows = x.length / width;
  const outputs = bias.length;
  const y = new Float32Array(rows * outputs);
  for (let row = 0; row < rows; ++row)
    for (let out = 0; out < outputs; ++out) {
      let sum = bias[out] as number;
      for (let d = 0; d < width; ++d)
        sum += (x[row * width + d] as number) * (weight[out * width + d] as number);
      y[row * outputs + out] = sum;
    }
  return y;
}

/** Columns [from, from + heads * size) of x [rows, width] as [heads, rows, size]. */
function headsOf(x: Float32Array, width: number, from: number, heads: number, size: number) {
  const rows = x.length / width;
  const parts = new Float32Array(heads * rows * size);
  for (let head = 0; head < heads; ++head)
    for (let row = 0; row < rows; ++row) {
      const start = row * width + from + head * size;
      parts.set(x.subarray(start, start + size), (head * rows + row) * size);
    }
  return parts;
}

/** The weights [3 * width, width] and [width, width] of two linear layers, each with its bias. */
export type LayerWeights = readonly [Float32Array, Float32Array, Float32Array, Float32Array];

/** Multi-head attention of x [length, heads * size] to itself. */
export function layer(
  x: Float32Array,
  [inWeight, inBias, outWeight, outBias]: LayerWeights,
  sizes: Sizes,
): Float32Array {
  const { heads, queries, size } = sizes;
  const width = heads * size;
  const projected = linear(x, inWeight, inBias, width);
  const part = (i: number) => headsOf(projected, 3 * width, i * width, heads, size);
  const q = part(0);
  const output = attention(q, part(1), part(2), new Float32Array(q.length), sizes);
  const joined = new Float32Array(output.length);
  for (let head = 0; head < heads; ++head)
    for (let row = 0; row < queries; ++row) {
      const start = (head * queries + row) * size;
      joined.set(output.subarray(start, start + size), row * width + head * size);
    }
  return linear(joined, outWeight, outBias, width);
}
