/** Copies the numbers of one token out of the engine: for the solvers of networks. */
import type { Heed, Tensor } from "heed";
import type { nn } from "heed/nn";
import { numbersOf } from "../worker/numbersOf";
import type {
  AttentionNumbers,
  HeadNumbers,
  MapNumbers,
  Matrix,
  NormNumbers,
  PredictionNumbers,
  Reading,
} from "./messages";
import type { Linear, Norm } from "./walkedModel";

/** The number of tokens in a reading. */
const mostRead = 10;

/** A row of a tensor [1, L, X]. */
export function rowAt({ data, shape }: Tensor, row: number): Float32Array {
  const size = shape.at(-1) as number;
  return data.slice(row * size, (row + 1) * size) as Float32Array;
}

const copied = (tensor: Tensor | undefined): Float32Array | null =>
  tensor ? numbersOf(tensor) : null;

/** Of an attention that reads the stream itself, and of a stack without a last norm. */
const noNorm = { eps: 0, weight: undefined };

export function normNumbers(
  { eps, weight, bias }: Pick<Norm, "eps" | "weight" | "bias"> = noNorm,
  kind: NormNumbers["kind"],
  input: Float32Array,
  result: Float32Array,
): NormNumbers {
  return { kind, eps, input, gain: copied(weight), bias: copied(bias), result };
}

/** The vector that each head adds, [H, E]: the output projection of that head's part alone, without the bias. */
export function addedByHeads(
  heed: Heed,
  joined: Float32Array,
  heads: number,
  output: Pick<Linear, "bias" | "forward">,
): Pick<AttentionNumbers, "heads" | "bias"> {
  const size = joined.length / heads;
  const rows = new Float32Array(heads * joined.length);
  for (let head = 0; head < heads; ++head)
    rows.set(joined.subarray(head * size, (head + 1) * size), head * (joined.length + size));
  return heed.scope(() => {
    const found = output.forward(heed.tensor(rows, [heads, joined.length]));
    const { bias } = output;
    return { heads: numbersOf(bias ? heed.subtract(found, bias) : found), bias: copied(bias) };
  });
}

/** The length of the vector that each unit adds, [F]; `down` is [E, F]. */
export function unitLengths(units: Float32Array, { data, shape }: Tensor): Float32Array {
  const [rows, cols] = shape as [number, number];
  const squares = new Float64Array(cols);
  for (let i = 0; i < rows; ++i) {
    for (let j = 0; j < cols; ++j) {
      const value = data[i * cols + j] as number;
      squares[j] = (squares[j] as number) + value * value;
    }
  }
  return units.map((unit, i) => Math.abs(unit) * Math.sqrt(squares[i] as number));
}

/** For one row the token that each head attends to most, from the weights [1, H, L, S]. */
export function mostAttended(
  { data, shape }: Tensor,
  row: number,
): Pick<AttentionNumbers, "most" | "mostWeights"> {
  const [, heads, rows, count] = shape as [number, number, number, number];
  const most = new Int32Array(heads);
  const mostWeights = Float32Array.from(most, (_, head) => {
    const begin = (head * rows + row) * count;
    const own = data.subarray(begin, begin + count) as Float32Array;
    const weight = own.reduce((a, b) => Math.max(a, b));
    most[head] = own.indexOf(weight);
    return weight;
  });
  return { most, mostWeights };
}

/** The weights of all heads, [1, H, L, S]. */
export function mapNumbers({ data, shape }: Tensor): MapNumbers {
  const [, , rows, columns] = shape as [number, number, number, number];
  return { rows, columns, weights: data.slice() as Float32Array };
}

/** The numbers of one head for one row: weights [1, H, L, S], keys and values of groups [1, G, S, D]. */
export function headShares(
  heed: Heed,
  weights: Tensor,
  compared: nn.Compared,
  { row, head, group }: { readonly row: number; readonly head: number; readonly group: number },
): Pick<HeadNumbers, "head" | "group" | "shares" | "values" | "sum"> {
  const [, , rows, count] = weights.shape as [number, number, number, number];
  const size = compared.query.shape.at(-1) as number;
  const part = ({ data }: Tensor, at: number, length: number) =>
    data.slice(at * length, (at + 1) * length) as Float32Array;
  const own = part(weights, head * rows + row, count);
  const values = part(compared.value, group, count * size);
  const sum = heed.scope(() =>
    numbersOf(heed.matmul(heed.tensor(own, [1, count]), heed.tensor(values, [count, size]))),
  );
  return {
    ...{ head, group, values, sum },
    shares: {
      weights: own,
      scores: part(compared.scores(), head * rows + row, count),
      queries: part(compared.query, head * rows + row, size),
      keys: part(compared.key, group, count * size),
    },
  };
}

/** The tensor in float32, converted if necessary; null for quantised weights. */
export function floatsOf(heed: Heed, weight: unknown): Tensor | null {
  const { dtype } = weight as { dtype?: string };
  if (dtype === "float32") return weight as Tensor;
  return dtype === "float16" ? heed.cast(weight as Tensor, "float32") : null;
}

/** A copy of a matrix; undefined for quantised weights. */
export function matrixOf(
  heed: Heed,
  { weight, bias }: { readonly weight: unknown; readonly bias?: Tensor | undefined },
): Matrix | undefined {
  return heed.scope(() => {
    const floats = floatsOf(heed, weight);
    return floats ? { weight: numbersOf(floats), bias: copied(bias) } : undefined;
  });
}

/** The output projection of a model, which reads out a stream. */
interface OutputProjection {
  /** The logits [n, V] of streams [n, E]. */
  logitsOf(streams: Tensor): Tensor;
  wordOf(id: number): string;
  /** The rows of the output projection for some tokens, [n, E]; null for quantised weights. */
  rowsOf(ids: Int32Array): Float32Array | null;
  readonly bias: Tensor | undefined;
  readonly isTied: boolean;
}

/**
 * The number of streams that are read out at a time. The limit exists because the logits of a large vocabulary take
 * much memory.
 */
const mostStreams = 8;

/** Reads out the streams, each [E]. The reading of the last one is the model's prediction. */
export function readOut(
  heed: Heed,
  projection: OutputProjection,
  streams: readonly Float32Array[],
): { readings: Reading[]; prediction: PredictionNumbers } {
  const size = (streams[0] as Float32Array).length;
  return heed.scope(() => {
    const logitsOf = (some: readonly Float32Array[]) => {
      const rows = new Float32Array(some.length * size);
      for (const [i, stream] of some.entries()) rows.set(stream, i * size);
      return projection.logitsOf(heed.tensor(rows, [some.length, size]));
    };
    const last = logitsOf(streams.slice(-1));
    const count = Math.min(mostRead, last.size);
    const ids = heed.topK(last, count).indices.data.slice() as Int32Array;
    const winner = ids[0] as number;
    const readings: Reading[] = [];
    for (let start = 0; start < streams.length; start += mostStreams)
      heed.scope(() => {
        const logits = logitsOf(streams.slice(start, start + mostStreams));
        const [rows, vocabulary] = logits.shape as [number, number];
        const shares = heed.softmax(logits);
        const { values, indices } = heed.topK(shares, count);
        for (let i = 0; i < rows; ++i) {
          const named = rowAt(indices, i) as unknown as Int32Array;
          readings.push({
            ids: named,
            words: Array.from(named, (id) => projection.wordOf(id)),
            shares: rowAt(values, i),
            winner: shares.data[i * vocabulary + winner] as number,
          });
        }
      });
    const first = last.data[winner] as number;
    const sum = (last.data as Float32Array).reduce(
      (total, each) => total + Math.exp(each - first),
      0,
    );
    const pick = (all: Tensor) => Float32Array.from(ids, (id) => all.data[id] as number);
    return {
      readings,
      prediction: {
        logits: pick(last),
        rows: projection.rowsOf(ids),
        bias: projection.bias ? pick(projection.bias) : null,
        isTied: projection.isTied,
        logSum: first + Math.log(sum),
      },
    };
  });
}
