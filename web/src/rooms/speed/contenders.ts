/** Prepares a case for repeated calls, for the engine or for plain JavaScript. */
import type { Heed, Tensor } from "heed";
import { attention, type LayerWeights, layer } from "./javascript";
import type { CallMemory, Case, Sizes } from "./report";

/** The inputs of a case, the same for all contenders. */
export interface CaseInputs {
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
  /** Only for a layer: its weights; the input is q. */
  readonly weights: LayerWeights | readonly [];
}

export interface PreparedCase {
  run(): void;
  /** Computes once more and returns a copy of the output. */
  answer(): Float32Array;
  memory(): number;
  dispose(): void;
}

/** Weights with more bytes than this are not requested. */
const mostWeights = 2 ** 28;

/** The queries, keys and values of attention as the engine's tensors. */
function tensorsOf(heed: Heed, { heads, queries, keys, size }: Sizes, { q, k, v }: CaseInputs) {
  const query = heed.tensor(q, [1, heads, queries, size]);
  const [key, value] = [k, v].map((x) => heed.tensor(x, [1, heads, keys, size]));
  return [query, key, value] as [Tensor, Tensor, Tensor];
}

const optionsOf = ({ causal, window }: Sizes) => ({
  isCausal: causal,
  ...(window > 0 && { window: [window, window] as const }),
});

const tensorBytes = (tensors: readonly Tensor[]) =>
  tensors.reduce((sum, { data }) => sum + data.byteLength, 0);

/** The memory of a call of attention, from the sizes of the engine's tensors. */
export function callMemoryOf(heed: Heed, { id, sizes }: Case, inputs: CaseInputs): CallMemory {
  const { heads, queries, keys } = sizes;
  return heed.scope(() => {
    const tensors = tensorsOf(heed, sizes, inputs);
    const { output, lse } = heed.attention(...tensors, { ...optionsOf(sizes), needLse: true });
    const isAsked = heads * queries * keys * Float32Array.BYTES_PER_ELEMENT <= mostWeights;
    const { weights } = isAsked
      ? heed.attention(...tensors, { ...optionsOf(sizes), needWeights: true })
      : { weights: null };
    return {
      caseId: id,
      tensors: tensorBytes([...tensors, output]),
      lse: tensorBytes([lse]),
      weights: weights && tensorBytes([weights]),
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
  const [q, k, v] = [draw(width * queries), draw(width * keys), draw(width * keys)];
  if (kind !== "layer") return { q, k, v, weights: [] };
  // Gives the output and the input the same variance.
  const deviation = 1 / Math.sqrt(width);
  const counts = [3 * width * width, 3 * width, width * width, width];
  const weights = counts.map((count) => draw(count, deviation));
  return { q, k, v, weights: weights as unknown as LayerWeights };
}

/** A call of the engine, and the tensors to free after the last one. */
interface Call {
  compute(): Tensor;
  readonly owned: readonly { dispose(): void }[];
}

function attentionCall(heed: Heed, { sizes }: Case, inputs: CaseInputs): Call {
  const owned = tensorsOf(heed, sizes, inputs);
  return { compute: () => heed.attention(...owned, optionsOf(sizes)).output, owned };
}

function layerCall(heed: Heed, { sizes }: Case, { q, weights }: CaseInputs): Call {
  const { heads, queries, size, causal, window } = sizes;
  const width = heads * size;
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

/** The number of tokens appended to a cache at a time. */
const piece = 512;

function decodeCall(heed: Heed, { sizes }: Case, { q, k, v }: CaseInputs): Call {
  const { heads, keys, size } = sizes;
  const query = heed.tensor(q, [1, heads, 1, size]);
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

const calls = { attention: attentionCall, layer: layerCall, decode: decodeCall };

/** A layer gets its window as a mask. */
function windowMask(heed: Heed, length: number, window: number): Tensor {
  const seen = new Uint8Array(length * length);
  for (let i = 0; i < length; ++i)
    for (let j = 0; j < length; ++j) seen[i * length + j] = Number(Math.abs(i - j) <= window);
  return heed.tensor(seen, [length, length], "bool");
}

export function prepareEngine(heed: Heed, one: Case, inputs: CaseInputs): PreparedCase {
  const { compute, owned } = calls[one.kind](heed, one, inputs);
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
  const isLayer = kind === "layer";
  const compute = () =>
    isLayer ? layer(q, weights as LayerWeights, sizes) : attention(q, k, v, output, sizes);
  const arrays = isLayer ? [q, ...weights, output] : [q, k, v, output];
  return {
    run: () => void compute(),
    answer: () => compute().slice(),
    memory: () => arrays.reduce((sum, { byteLength }) => sum + byteLength, 0),
    dispose() {},
  };
}

/** Some rows of attention in plain JavaScript, used for the comparison if all rows would take too long. */
export function someRows({ sizes }: Case, { q, k, v }: CaseInputs, rows: number): AnswerRows {
  const step = Math.max(1, Math.ceil(sizes.queries / rows));
  return { values: attention(q, k, v, new Float32Array(q.length), sizes, step), step };
}

/** An answer with only every `step`-th row of a head. */
export interface AnswerRows {
  readonly values: Float32Array;
  readonly step: number;
}

/** The largest difference of a row, relative to its norm. */
export function differenceOf(expected: AnswerRows, answer: Float32Array, { sizes, kind }: Case) {
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
