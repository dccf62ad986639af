// Attention in double precision, written directly from its equation. Tests compare the engine with it.

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
  /** Keys and values that precede k and v. */
  past?: { key: Values; value: Values };
  scale?: number;
  softcap?: number;
  isCausal?: boolean;
  /** One offset for all sequences, or one for each. */
  causalOffset?: "topLeft" | "bottomRight" | number | readonly number[];
  window?: readonly [left: number, right: number];
  /** Broadcasts to [B, H, L, S] as in numpy. A boolean mask is true where a key may be seen. */
  mask?: Values & { isBool: boolean };
  /** Added to the scores; broadcasts to [B, H, L, S] as in numpy. */
  bias?: Values;
  /** Any further condition on which keys a query sees. */
  maySee?: (place: { b: number; h: number; q: number; k: number }) => boolean;
  kvLengths?: readonly number[];
  /** [H] */
  alibiSlopes?: ArrayLike<number>;
  /** [H] */
  sinks?: ArrayLike<number>;
}

export interface Answer {
  /** [B, H, L, Dv] */
  output: number[];
  /** [B, H, L, S], as scores, capped and masked. */
  weights: number[];
  scores: number[];
  capped: number[];
  masked: number[];
  /** [B, H, L] */
  lse: number[];
  entropy: number[];
}

/** Returns the element at an index of the broadcast array. Axes are aligned from the right. */
export function broadcastAt(values: Values, index: readonly number[]): number | undefined {
  let at = 0;
  for (const [axis, size] of values.shape.entries()) {
    const i = index[index.length - values.shape.length + axis] as number;
    if (size !== 1 && i >= size) return undefined;
    at = at * size + (size === 1 ? 0 : i);
  }
  return values.data[at];
}

/** Returns the value that is added to the score at an index: -Infinity if the key is hidden. */
function addedAt(question: Question, index: number[]): number {
  let sum = 0;
  for (const array of [question.mask, question.bias]) {
    if (array === undefined) continue;
    // If the last axis is too short, the keys beyond it are hidden.
    const element = broadcastAt(array, index) ?? -Infinity;
    if (array === question.mask && question.mask.isBool && element !== -Infinity)
      sum += element ? 0 : -Infinity;
    else sum += element;
  }
  return sum;
}

/** Returns the position of the first query of sequence b. */
function offsetOf(question: Question, b: number, L: number, S: number): number {
  const { causalOffset, kvLengths, past } = question;
  if (causalOffset === "topLeft") return 0;
  if (causalOffset === "bottomRight") return (kvLengths?.[b] ?? S) - L;
  if (typeof causalOffset === "number") return causalOffset;
  if (causalOffset !== undefined) return (causalOffset[b] ?? causalOffset[0]) as number;
  if (past !== undefined) return past.key.shape[2] as number;
  return kvLengths === undefined ? 0 : (kvLengths[b] as number) - L;
}

/** Returns softmax(row), its log-sum-exp and its entropy. The sink is a logit without a key. */
function softmax(row: readonly number[], sink: number | undefined) {
  const isEmpty = row.every((x) => x === -Infinity);
  const maximum = Math.max(sink ?? -Infinity, ...row);
  const power = (x: number) => (x === -Infinity ? 0 : Math.exp(x - maximum));
  const sum = row.reduce((total, x) => total + power(x), sink === undefined ? 0 : power(sink));
  const weights = row.map((x) => (isEmpty ? 0 : power(x) / sum));
  const entropy = weights.reduce((total, w) => total - (w === 0 ? 0 : w * Math.log(w)), 0);
  return { weights, entropy, lse: sum === 0 ? -Infinity : maximum + Math.log(sum) };
}

const slice = (x: ArrayLike<number>, begin: number, end: number): number[] =>
  Array.prototype.slice.call(x, begin, end);

/** Returns the rows from `begin` to end - 1 of an array [B, G, rows, size]. */
export function rowsOf({ data, shape }: Values, begin: number, end: number): Values {
  const [B, G, rows, size] = shape as [number, number, number, number];
  const heads = Array.from({ length: B * G }, (_, head) =>
    slice(data, (head * rows + begin) * size, (head * rows + end) * size),
  );
  return { data: heads.flat(), shape: [B, G, end - begin, size] };
}

/** Concatenates the rows of two arrays [B, G, rows, size]. */
export function concatenate(first: Values, second: Values): Values {
  const [B, G, P, size] = first.shape as [number, number, number, number];
  const S = second.shape[2] as number;
  const heads = Array.from({ length: B * G }, (_, head) => [
    ...slice(first.data, head * P * size, (head + 1) * P * size),
    ...slice(second.data, head * S * size, (head + 1) * S * size),
  ]);
  return { data: heads.flat(), shape: [B, G, P + S, size] };
}

export function attention(question: Question): Answer {
  const { q, past, kvLengths, softcap = 0, window = [-1, -1] } = question;
  const k = past ? concatenate(past.key, question.k) : question.k;
  const v = past ? concatenate(past.value, question.v) : question.v;
  const [B, H, L, D] = q.shape as [number, number, number, number];
  const [, G, S] = k.shape as [number, number, number, number];
  const Dv = v.shape[3] as number;
  const scale = question.scale ?? 1 / Math.sqrt(D);
  const answer: Answer = {
    output: [],
    weights: [],
    scores: [],
    capped: [],
    masked: [],
    lse: [],
    entropy: [],
  };
  /** Returns the offset of a row of a head. */
  const row = (x: Values, b: number, h: number, i: number): number =>
    ((b * (x.shape[1] as number) + h) * (x.shape[2] as number) + i) * (x.shape[3] as number);

  for (let b = 0; b < B; ++b) {
    const offset = offsetOf(question, b, L, S);
    for (let h = 0; h < H; ++h) {
      const g = Math.floor(h / (H / G));
      for (let i = 0; i < L; ++i) {
        const query = row(q, b, h, i);
        const position = i + offset;
        const masked: number[] = [];
        for (let j = 0; j < S; ++j) {
          const key = row(k, b, g, j);
          let product = 0;
          for (let d = 0; d < D; ++d)
            product += (q.data[query + d] as number) * (k.data[key + d] as number);
          const score = scale * product;
          const capped = softcap === 0 ? score : softcap * Math.tanh(score / softcap);
          const added = addedAt(question, [b, h, i, j]);
          const isHidden =
            added === -Infinity ||
            j >= (kvLengths?.[b] ?? S) ||
            (question.isCausal === true && j > position) ||
            (window[0] >= 0 && j < position - window[0]) ||
            (window[1] >= 0 && j > position + window[1]) ||
            question.maySee?.({ b, h, q: i, k: j }) === false;
          const slope = question.alibiSlopes?.[h] ?? 0;
          answer.scores.push(score);
          answer.capped.push(capped);
          masked.push(isHidden ? -Infinity : capped + added - slope * Math.abs(position - j));
        }
        const { weights, lse, entropy } = softmax(masked, question.sinks?.[h]);
        const output = new Array<number>(Dv).fill(0);
        for (const [j, weight] of weights.entries()) {
          if (weight === 0) continue;
          const value = row(v, b, g, j);
          for (let d = 0; d < Dv; ++d)
            output[d] = (output[d] ?? 0) + weight * (v.data[value + d] as number);
        }
        answer.masked.push(...masked);
        answer.weights.push(...weights);
        answer.output.push(...output);
        answer.lse.push(lse);
        answer.entropy.push(entropy);
      }
    }
  }
  return answer;
}

export interface PackedQuestion extends Omit<Question, "past" | "mask" | "bias" | "kvLengths"> {
  cuSeqlens: { q: readonly number[]; k: readonly number[] };
}

/**
 * Computes attention for each packed sequence separately: q [Tq, H, D], k [Tk, G, D], v [Tk, G, Dv] ->
 * output [Tq, H, Dv], lse [H, Tq].
 */
export function packedAttention(
  question: PackedQuestion,
): Pick<Answer, "output" | "lse" | "entropy"> {
  const { q, k, v, cuSeqlens, causalOffset = "bottomRight", ...rest } = question;
  const [Tq, H] = q.shape as [number, number, number];
  const output: number[] = [];
  const lse = new Array<number>(H * Tq);
  const entropy = new Array<number>(H * Tq);
  for (let n = 0; n + 1 < cuSeqlens.q.length; ++n) {
    /** Returns the rows of a sequence, as [1, heads, rows, size]. */
    const sequence = (x: Values, bounds: readonly number[]): Values => {
      const [begin, end] = bounds.slice(n) as [number, number];
      const [, heads, size] = x.shape as [number, number, number];
      const data = slice(x.data, begin * heads * size, end * heads * size);
      return splitHeads({ data, shape: [1, end - begin, heads * size] }, heads);
    };
    const own = Array.isArray(causalOffset) ? [causalOffset[n] ?? causalOffset[0]] : causalOffset;
    const part = attention({
      ...rest,
      q: sequence(q, cuSeqlens.q),
      k: sequence(k, cuSeqlens.k),
      v: sequence(v, cuSeqlens.k),
      causalOffset: own,
    });
    const [begin, end] = cuSeqlens.q.slice(n) as [number, number];
    const L = end - begin;
    const shape = [1, H, L, v.shape[2] as number];
    for (const number of joinHeads({ data: part.output, shape }).data as number[])
      output.push(number);
    for (let h = 0; h < H; ++h) {
      for (let i = 0; i < L; ++i) {
        lse[h * Tq + begin + i] = part.lse[h * L + i] as number;
        entropy[h * Tq + begin + i] = part.entropy[h * L + i] as number;
      }
    }
  }
  return { output, lse, entropy };
}

/** Returns Phi(x), by integrating the normal density from 0 to x with Simpson's rule. */
function normalDistribution(x: number): number {
  const steps = 2000;
  const width = x / steps;
  let sum = 0;
  for (let i = 0; i <= steps; ++i) {
    const weight = i === 0 || i === steps ? 1 : i % 2 === 1 ? 4 : 2;
    sum += weight * Math.exp((-i * width * (i * width)) / 2);
  }
  return 0.5 + (sum * width) / 3 / Math.sqrt(2 * Math.PI);
}

export const activations = {
  relu: (x: number) => Math.max(x, 0),
  gelu: (x: number) => x * normalDistribution(x),
  geluTanh: (x: number) =>
    (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  silu: (x: number) => x / (1 + Math.exp(-x)),
};

/** Computes x W^T + b. x [rows, in], weight [out, in], bias [out]. */
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
