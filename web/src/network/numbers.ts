/** Copies the numbers of one token out of the engine: for the solvers of networks. */
import type { Heed, Tensor } from "heed";
import { numbersOf } from "../worker/numbersOf";
import type { Matrix, NormNumbers, PredictionNumbers, Reading } from "./messages";
import type { Norm } from "./walkedModel";

/** The number of tokens in a reading. */
const mostRead = 10;

/** A row of a tensor [1, L, X]. */
export function rowAt({ data, shape }: Tensor, row: number): Float32Array {
  const size = shape.at(-1) as number;
  return data.slice(row * size, (row + 1) * size) as Float32Array;
}

export const copied = (tensor: Tensor | undefined): Float32Array | null =>
  tensor ? numbersOf(tensor) : null;

/** @param norm undefined for an attention that reads the stream itself, and for a stack without a last norm */
export function normNumbers(
  norm: Omit<Norm, "forward"> | undefined,
  input: Float32Array,
  result: Float32Array,
): NormNumbers {
  const { norm: kind = "layer", eps = 0, weight, bias } = norm ?? {};
  return { kind, eps, input, gain: copied(weight), bias: copied(bias), result };
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
