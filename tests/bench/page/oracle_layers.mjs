// Parts of transformers in double precision. A matrix of activations is a list of rows.

/** x W^T + b for each row of x, with a weight [out, in]. */
export function product(x, weight, bias) {
  const inputs = x[0].length;
  const outputs = weight.length / inputs;
  const results = x.map(() => (bias ? Float64Array.from(bias) : new Float64Array(outputs)));
  // Four rows at a time, because each addition waits for the one before in the same sum.
  const rowAt = (r) => x[Math.min(r, x.length - 1)];
  for (let j = 0; j < outputs; ++j) {
    const own = Float64Array.from(weight.subarray(j * inputs, (j + 1) * inputs));
    for (let r = 0; r < x.length; r += 4) {
      const [a, b, c, d] = [rowAt(r), rowAt(r + 1), rowAt(r + 2), rowAt(r + 3)];
      let [s, t, u, v] = [0, 0, 0, 0];
      for (let i = 0; i < inputs; ++i) {
        const factor = own[i];
        s += a[i] * factor;
        t += b[i] * factor;
        u += c[i] * factor;
        v += d[i] * factor;
      }
      [s, t, u, v].slice(0, x.length - r).forEach((sum, k) => {
        results[r + k][j] += sum;
      });
    }
  }
  return results;
}

export const plus = (x, y) => x.map((row, r) => row.map((value, i) => value + y[r][i]));

/** Layer norm (Ba et al., 2016) of each row of x. */
export const layerNorm = (x, weight, bias, eps) =>
  x.map((row) => {
    const mean = row.reduce((a, b) => a + b) / row.length;
    const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length;
    return row.map(
      (value, i) => ((value - mean) / Math.sqrt(variance + eps)) * weight[i] + bias[i],
    );
  });

/**
 * Attention of the rows of q, k and v: H heads of queries and G heads of keys of size D. If it is
 * causal, the queries are the last tokens of the keys.
 */
export function attendRows([q, k, v], { H, G, D, isCausal }) {
  return q.map((row, query) => {
    const output = new Float64Array(H * D);
    const keys = isCausal ? k.length - q.length + query + 1 : k.length;
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
