// Parts of transformers in double precision. A matrix of activations is a list of rows.

/** x W^T + b for each row of x, with a weight [out, in]. */
export function product(x, weight, bias) {
  const inputs = x[0].length;
  const outputs = weight.length / inputs;
  const results = x.map(() => (bias ? Float64Array.from(bias) : new Float64Array(outputs)));
  // A row of the weight stays in the cache for all rows of x.
  for (let j = 0; j < outputs; ++j) {
    const own = Float64Array.from(weight.subarray(j * inputs, (j + 1) * inputs));
    for (let r = 0; r < x.length; ++r) {
      const row = x[r];
      let sum = 0;
      for (let i = 0; i < inputs; ++i) sum += row[i] * own[i];
      results[r][j] += sum;
    }
  }
  return results;
}

export const plus = (x, y) => x.map((row, r) => row.map((value, i) => value + y[r][i]));

/** Attention of the rows of q, k and v: H heads of queries and G heads of keys of size D. */
export function attendRows([q, k, v], { H, G, D, isCausal }) {
  return q.map((row, query) => {
    const output = new Float64Array(H * D);
    const keys = isCausal ? query + 1 : k.length;
    for (let head = 0; head < H; ++head) {
      const own = Math.floor(head / (H / G)) * D;
      const scores = Float64Array.from({ length: keys }, (_, key) => {
        let sum = 0;
        for (let i = 0; i < D; ++i) sum += row[head * D + i] * k[key][own + i];
        return sum / Math.sqrt(D);
      });
      const highest = scores.reduce((a, b) => Math.max(a, b));
      const weights = scores.map((score) => Math.exp(score - highest));
      const total = weights.reduce((a, b) => a + b);
      for (let key = 0; key < keys; ++key)
        for (let i = 0; i < D; ++i)
          output[head * D + i] += (weights[key] / total) * v[key][own + i];
    }
    return output;
  });
}
