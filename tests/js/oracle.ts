// Attention as its equation reads, in double precision: what the engine is compared with.

/** A dense row-major array. */
export interface Values {
  readonly data: ArrayLike<number>;
  readonly shape: readonly number[];
}

export interface Question {
  /** [B, H, L, D], [B, G, S, D], [B, G, S, Dv] */
  q: Values;
  k: Values;
  v: Values;
  scale?: number;
  isCausal?: boolean;
  /** Broadcasts like numpy to [B, H, L, S]; booleans are true where a key may be seen. */
  mask?: Values & { isBool: boolean };
  kvLengths?: readonly number[];
}

export interface Answer {
  /** [B, H, L, Dv] */
  output: number[];
  /** [B, H, L, S] */
  weights: number[];
  scores: number[];
  masked: number[];
  /** [B, H, L] */
  lse: number[];
}

/** The element that stands at an index once the array is broadcast, aligned right. */
export function broadcastAt(values: Values, index: readonly number[]): number | undefined {
  let at = 0;
  for (const [axis, size] of values.shape.entries()) {
    const i = index[index.length - values.shape.length + axis] as number;
    if (size !== 1 && i >= size) return undefined;
    at = at * size + (size === 1 ? 0 : i);
  }
  return values.data[at];
}

export function attention(question: Question): Answer {
  const { q, k, v, mask, kvLengths } = question;
  const [B, H, L, D] = q.shape as [number, number, number, number];
  const [, G, S] = k.shape as [number, number, number, number];
  const Dv = v.shape[3] as number;
  const scale = question.scale ?? 1 / Math.sqrt(D);
  const answer: Answer = { output: [], weights: [], scores: [], masked: [], lse: [] };
  /** Where the row of a head stands. */
  const row = (x: Values, b: number, h: number, i: number): number =>
    ((b * (x.shape[1] as number) + h) * (x.shape[2] as number) + i) * (x.shape[3] as number);
  const bias = (index: number[]): number => {
    if (mask === undefined) return 0;
    // A last axis that is too short hides what it does not reach.
    const element = broadcastAt(mask, index);
    if (element === undefined) return -Infinity;
    return mask.isBool ? (element ? 0 : -Infinity) : element;
  };

  for (let b = 0; b < B; ++b) {
    for (let h = 0; h < H; ++h) {
      const g = Math.floor(h / (H / G));
      for (let i = 0; i < L; ++i) {
        const query = row(q, b, h, i);
        const length = kvLengths?.[b] ?? S;
        const offset = kvLengths === undefined ? 0 : length - L;
        const scores: number[] = [];
        const masked: number[] = [];
        for (let j = 0; j < S; ++j) {
          const key = row(k, b, g, j);
          let product = 0;
          for (let d = 0; d < D; ++d)
            product += (q.data[query + d] as number) * (k.data[key + d] as number);
          const score = scale * product;
          const hidden = j >= length || (question.isCausal === true && j > i + offset);
          const added = bias([b, h, i, j]);
          scores.push(score);
          masked.push(hidden || added === -Infinity ? -Infinity : score + added);
        }
        const maximum = Math.max(-Infinity, ...masked);
        const powers = masked.map((x) => (x === -Infinity ? 0 : Math.exp(x - maximum)));
        const sum = powers.reduce((total, x) => total + x, 0);
        const weights = powers.map((x) => (sum === 0 ? 0 : x / sum));
        const output = new Array<number>(Dv).fill(0);
        for (const [j, weight] of weights.entries()) {
          if (weight === 0) continue;
          const value = row(v, b, g, j);
          for (let d = 0; d < Dv; ++d)
            output[d] = (output[d] ?? 0) + weight * (v.data[value + d] as number);
        }
        answer.scores.push(...scores);
        answer.masked.push(...masked);
        answer.weights.push(...weights);
        answer.output.push(...output);
        answer.lse.push(sum === 0 ? -Infinity : maximum + Math.log(sum));
      }
    }
  }
  return answer;
}

/** x W^T + b. x [rows, in], weight [out, in], bias [out]. */
export function linear(x: Values, weight: Values, bias?: ArrayLike<number>): number[] {
  const [out, size] = weight.shape as [number, number];
  const rows = size === 0 ? 0 : x.data.length / size;
  const y: number[] = [];
  for (let r = 0; r < rows; ++r) {
    for (let o = 0; o < out; ++o) {
      let sum = bias?.[o] ?? 0;
      for (let i = 0; i < size; ++i)
        sum += (x.data[r * size + i] as number) * (weight.data[o * size + i] as number);
      y.push(sum);
    }
  }
  return y;
}

/** [B, L, H*D] -> [B, H, L, D] */
export function splitHeads(x: Values, heads: number): Values {
  const [B, L, size] = x.shape as [number, number, number];
  const D = size / heads;
  const data: number[] = [];
  for (let b = 0; b < B; ++b)
    for (let h = 0; h < heads; ++h)
      for (let i = 0; i < L; ++i)
        for (let d = 0; d < D; ++d) data.push(x.data[(b * L + i) * size + h * D + d] as number);
  return { data, shape: [B, heads, L, D] };
}

/** [B, H, L, D] -> [B, L, H*D] */
export function joinHeads(x: Values): Values {
  const [B, H, L, D] = x.shape as [number, number, number, number];
  const data: number[] = [];
  for (let b = 0; b < B; ++b)
    for (let i = 0; i < L; ++i)
      for (let h = 0; h < H; ++h)
        for (let d = 0; d < D; ++d) data.push(x.data[((b * H + h) * L + i) * D + d] as number);
  return { data, shape: [B, L, H * D] };
}
