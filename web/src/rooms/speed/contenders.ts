/** Prepares a case for repeated calls, for the engine or for plain JavaScript. */
import type { Heed, Tensor } from "heed";
import { attention, layer } from "./javascript";
import type { CallMemory, Case } from "./report";

/** The inputs of a case, the same for all contenders. */
export interface CaseInputs {
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
  /** Only for a layer: its weights; the input is q. */
  readonly weights: readonly Float32Array[];
}

export interface PreparedCase {
  run(): void;
  /** Computes once more and returns a copy of the output. */
  answer(): Float32Array;
  /** The bytes in use. */
  memory(): number;
  dispose(): void;
}

/** Weights with more bytes than this are not requested. */
const mostWeights = 2 ** 28;

/** The memory of a call of attention, from the sizes of the engine's tensors. */
export function callMemoryOf(heed: Heed, { id, sizes }: Case, { q, k, v }: CaseInputs): CallMemory {
  const { heads, queries, keys, size, causal, window } = sizes;
  return heed.scope(() => {
    const query = heed.tensor(q, [1, heads, queries, size]);
    const [key, value] = [k, v].map((x) => heed.tensor(x, [1, heads, keys, size])) as [
      Tensor,
      Tensor,
    ];
    const sides = window > 0 ? ([window, window] as const) : undefined;
    const options = { isCausal: causal, ...(sides && { window: sides }) };
    const { output, lse } = heed.attention(query, key, value, { ...options, needLse: true });
    const bytes = (tensors: readonly Tensor[]) =>
      tensors.reduce((sum, { data }) => sum + data.byteLength, 0);
    const asks = heads * queries * keys * Float32Array.BYTES_PER_ELEMENT <= mostWeights;
    const { weights } = asks
      ? heed.attention(query, key, value, { ...options, needWeights: true })
      : { weights: null };
    return {
      caseId: id,
      tensors: bytes([query, key, value, output]),
      lse: bytes([lse]),
      weights: weights && bytes([weights]),
    };
  });
}

/** Normally distributed numbers from a fixed seed. */
export function inputsOf(heed: Heed, { kind, sizes }: Case): CaseInputs {
  const { heads, queries, keys, size } = sizes;
  const width = heads * size;
  let seed = 0;
  const draw = (count: number, deviation = 1) => {
    const numbers = heed.normal([count], { seed: ++seed });
    const copy = (numbers.data as Float32Array).map((x) => x * deviation);
    numbers.dispose();
    return copy;
  };
  const [q, k, v] = [queries, keys, keys].map((rows) => draw(width * rows)) as [
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  if (kind !== "layer") return { q, k, v, weights: [] };
  // Gives the output and the input the same variance.
  const deviation = 1 / Math.sqrt(width);
  const counts = [3 * width * width, 3 * width, width * width, width];
  return { q, k, v, weights: counts.map((count) => draw(count, deviation)) };
}

const bytesOf = (arrays: readonly Float32Array[]) =>
  arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);

/** The number of tokens appended to a cache at a time. */
const piece = 512;

/** Prepares a case for the engine: a function that computes it, and the tensors to free. */
function computing(heed: Heed, { kind, sizes }: Case, { q, k, v, weights }: CaseInputs) {
  const { heads, queries, keys, size, causal, window } = sizes;
  const width = heads * size;
  if (kind === "layer") {
    const x = heed.tensor(q, [1, queries, width]);
    const shapes = [[3 * width, width], [3 * width], [width, width], [width]];
    const [inProjWeight, inProjBias, outProjWeight, outProjBias] = weights.map((data, i) =>
      heed.tensor(data, shapes[i]),
    ) as [Tensor, Tensor, Tensor, Tensor];
    const parameters = { inProjWeight, inProjBias, outProjWeight, outProjBias };
    const mask = window > 0 ? windowMask(heed, queries, window) : undefined;
    const options = { heads, isCausal: causal, ...(mask && { mask }) };
    return {
      compute: () => heed.multiHeadAttention(x, x, x, parameters, options).output,
      owned: [x, ...Object.values(parameters), ...(mask ? [mask] : [])],
    };
  }
  const query = heed.tensor(q, [1, heads, queries, size]);
  if (kind === "attention") {
    const [key, value] = [k, v].map((x) => heed.tensor(x, [1, heads, keys, size])) as [
      Tensor,
      Tensor,
    ];
    const sides = window > 0 ? ([window, window] as const) : undefined;
    const options = { isCausal: causal, ...(sides && { window: sides }) };
    return {
      compute: () => heed.attention(query, key, value, options).output,
      owned: [query, key, value],
    };
  }
  const past = heed.createKvCache({ heads, headSize: size, capacity: keys });
  const rows = (x: Float32Array, from: number, to: number) => {
    const part = new Float32Array(heads * (to - from) * size);
    for (let head = 0; head < heads; ++head)
      part.set(
        x.subarray((head * keys + from) * size, (head * keys + to) * size),
        head * (to - from) * size,
      );
    return heed.tensor(part, [1, heads, to - from, size]);
  };
  for (let from = 0; from < keys - 1; from += piece) {
    const to = Math.min(keys - 1, from + piece);
    heed.scope(() => past.append(rows(k, from, to), rows(v, from, to)));
  }
  const [key, value] = [rows(k, keys - 1, keys), rows(v, keys - 1, keys)];
  return {
    compute() {
      const { output } = heed.attention(query, key, value, { past });
      past.rewind(1); // the next call starts from the same cache
      return output;
    },
    owned: [query, key, value, past],
  };
}

/** A layer gets its window as a mask. */
function windowMask(heed: Heed, length: number, window: number): Tensor {
  const seen = new Uint8Array(length * length);
  for (let i = 0; i < length; ++i)
    for (let j = 0; j < length; ++j) seen[i * length + j] = Number(Math.abs(i - j) <= window);
  return heed.tensor(seen, [length, length], "bool");
}

export function prepareEngine(heed: Heed, one: Case, inputs: CaseInputs): PreparedCase {
  const { compute, owned } = computing(heed, one, inputs);
  let memory = 0;
  return {
    run: () => compute().dispose(),
    answer() {
      const output = compute();
      const answer = (output.data as Float32Array).slice();
      memory = output.data.buffer.byteLength;
      output.dispose();
      return answer;
    },
    memory: () => memory,
    dispose() {
      for (const thing of owned) thing.dispose();
    },
  };
}

export function prepareJavaScript(
  { kind, sizes }: Case,
  { q, k, v, weights }: CaseInputs,
): PreparedCase {
  const output = new Float32Array(q.length);
  const [inWeight, inBias, outWeight, outBias] = weights as [
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  const compute =
    kind === "layer"
      ? () => layer(q, { inWeight, inBias, outWeight, outBias }, sizes)
      : () => {
          attention(q, k, v, output, sizes);
          return output;
        };
  return {
    run: () => void compute(),
    answer: () => compute().slice(),
    memory: () => bytesOf(kind === "layer" ? [q, ...weights, output] : [q, k, v, output]),
    dispose() {},
  };
}

/** Some rows of attention in plain JavaScript, used for the comparison if all rows would take too long. */
export function someRows({ sizes }: Case, { q, k, v }: CaseInputs, rows: number): AnswerRows {
  const step = Math.max(1, Math.ceil((sizes.heads * sizes.queries) / rows / sizes.heads));
  const values = new Float32Array(q.length);
  attention(q, k, v, values, sizes, step);
  return { values, step };
}

/** An answer with only every `step`-th row of a head. */
export interface AnswerRows {
  readonly values: Float32Array;
  readonly step: number;
}

/** The largest difference of a row, relative to its norm. */
export function differenceOf(
  expected: AnswerRows,
  answer: Float32Array,
  { sizes, kind }: Case,
): number {
  const { heads, queries, size } = sizes;
  const [groups, rowSize] = kind === "layer" ? [1, heads * size] : [heads, size];
  let largest = 0;
  for (let group = 0; group < groups; ++group)
    for (let row = 0; row < queries; row += expected.step) {
      const start = (group * queries + row) * rowSize;
      let [difference, length] = [0, 0];
      for (let d = start; d < start + rowSize; ++d) {
        const wanted = expected.values[d] as number;
        difference += (wanted - (answer[d] as number)) ** 2;
        length += wanted ** 2;
      }
      // NaN propagates through this.
      largest = Math.max(largest, Math.sqrt(difference / length));
    }
  return largest;
}
