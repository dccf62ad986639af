/** The solver of this room: solves one problem with the engine's public operations and keeps every stage. */
import type { Heed, Tensor } from "heed";
import type { News } from "../../shared/loading";
import { numbersOf } from "../../worker/numbersOf";
import type { Solver } from "../../worker/solver";
import { exampleProjections, exampleVectors } from "./example";
import type { Layer } from "./learned";
import type { Arrays, Biases, Numbers, Problem, Solution } from "./problem";
import { rotationIn } from "./rotation";
import { exponentialsOf, runningSums } from "./running";
import { seededNumbers } from "./seeded";
import { smallSolutionOf } from "./small";

/** The vectors of the tokens, [1, L, E]. The projections read `input`. */
type Inputs = Record<"embedding" | "position" | "input", Tensor>;

/** The inputs of the computation: the vectors of the tokens, and the projections. */
interface Weights {
  inputOf(tokens: readonly string[]): Inputs;
  wq: Tensor;
  wk: Tensor;
  wv: Tensor;
  wo: Tensor | null;
  readonly biases: { readonly [Name in keyof Biases]: Tensor | undefined };
  /** Norms of the queries and keys of each head. */
  readonly norms: { readonly [Name in "q" | "k"]?: ((x: Tensor) => Tensor) | undefined };
  /** For queries and keys that are rotated by their position. */
  readonly frequencies: readonly number[] | null;
}

/** Only a trained layer has more than matrices. */
const matricesOnly = { biases: {}, norms: {}, frequencies: null } as const;

function exampleWeights(heed: Heed, problem: Problem): Weights {
  const { wq, wk, wv } = exampleProjections;
  const embed = (tokens: readonly string[]) =>
    heed.tensor([tokens.map((token) => exampleVectors[token] as number[])]);
  return {
    inputOf: (tokens) => withPositions(heed, embed(tokens), problem),
    ...{ wq: heed.tensor(wq), wk: heed.tensor(wk), wv: heed.tensor(wv), wo: null },
    ...matricesOnly,
  };
}

function randomWeights(heed: Heed, problem: Problem, seed: string): Weights {
  const E = problem.heads * problem.headSize;
  // The standard deviation 1 / sqrt(E) keeps the entries of Q, K and V near size 1 for every E, as in a newly
  // initialised Transformer.
  const projection = (name: string) =>
    heed.tensor(seededNumbers(`${seed} projection ${name}`, E * E, 1 / Math.sqrt(E)), [E, E]);
  return {
    inputOf(tokens) {
      const vocabulary = [...new Set(tokens)];
      const table = new Float32Array(vocabulary.length * E);
      for (const [i, token] of vocabulary.entries())
        table.set(seededNumbers(`${seed} token ${token}`, E), i * E);
      const ids = Int32Array.from(tokens, (token) => vocabulary.indexOf(token));
      const embedding = heed.embedding(
        heed.tensor(ids, [1, tokens.length]),
        heed.tensor(table, [vocabulary.length, E]),
      );
      return withPositions(heed, embedding, problem);
    },
    ...{ wq: projection("Q"), wk: projection("K"), wv: projection("V"), wo: projection("O") },
    ...matricesOnly,
  };
}

/** A layer of a trained model: its stream, and the norm of it. */
function learnedWeights(heed: Heed, layer: Layer, { position: isRotated }: Problem): Weights {
  const { embedding, input, ...matrices } = layer.read();
  const position = heed.zeros(input.shape);
  return {
    inputOf: () => ({ embedding, position, input }),
    ...matrices,
    frequencies: isRotated ? layer.frequencies : null,
  };
}

/** The vectors of the tokens, plus the position encoding if the problem asks for it. */
function withPositions(heed: Heed, embedding: Tensor, problem: Problem): Inputs {
  const [, length, size] = embedding.shape as [number, number, number];
  const code = problem.position
    ? numbersOf(heed.sinusoidalEncoding(length, size))
    : new Float32Array(length * size);
  const position = heed.tensor(code, [1, length, size]);
  return {
    embedding,
    position,
    input: problem.position ? heed.add(embedding, position) : embedding,
  };
}

/** Weight times value for every key of one query, which are the terms of the weighted sum. */
function contributionsOf(
  heed: Heed,
  { weights, v }: Pick<Arrays, "weights" | "v">,
  { row, head, heads, headSize: D }: Problem,
  [L, S]: readonly [number, number],
) {
  const first = (head * L + row) * S;
  const values = new Float32Array(S * D);
  for (let j = 0; j < S; ++j) {
    const start = (j * heads + head) * D;
    values.set(v.subarray(start, start + D), j * D);
  }
  const shares = heed.tensor(weights.slice(first, first + S), [S, 1]);
  return numbersOf(heed.multiply(heed.tensor(values, [S, D]), shares));
}

/** Q or K with its edited entries. */
function withEdits(heed: Heed, tensor: Tensor, matrix: "q" | "k", problem: Problem): Tensor {
  const { edits, headSize, heads } = problem;
  const own = edits.filter((edit) => edit.matrix === matrix);
  if (own.length === 0) return tensor;
  const data = numbersOf(tensor);
  for (const { head, row, col, value } of own)
    data[row * heads * headSize + head * headSize + col] = value;
  return heed.tensor(data, tensor.shape);
}

/** The output, with the columns of ablated heads set to zero. */
function withoutAblated(heed: Heed, output: Tensor, { ablated, heads, headSize }: Problem): Tensor {
  if (ablated.length === 0) return output;
  const data = numbersOf(output);
  const width = heads * headSize;
  for (let start = 0; start < data.length; start += width)
    for (const head of ablated)
      data.fill(0, start + head * headSize, start + (head + 1) * headSize);
  return heed.tensor(data, output.shape);
}

/** x W^T + b */
const product = (heed: Heed, x: Tensor, weight: Tensor, bias: Tensor | undefined) =>
  heed.linear(x, weight, bias ? { bias } : {});

/** Computes every stage, as tensors of the engine. */
function forward(heed: Heed, weights: Weights, problem: Problem) {
  const own = weights.inputOf(problem.queryTokens);
  const other = problem.keyTokens ? weights.inputOf(problem.keyTokens) : own;
  const { frequencies } = weights;
  const L = problem.queryTokens.length;
  const S = (problem.keyTokens ?? problem.queryTokens).length;
  // Only the language model rotates, and it reads one sentence.
  const rotate = frequencies
    ? rotationIn(heed, frequencies, { length: L, heads: problem.heads })
    : (x: Tensor) => x;
  const projected = (x: Tensor, name: "q" | "k" | "v") =>
    product(heed, x, weights[`w${name}`], weights.biases[name]);
  const normed = (x: Tensor, name: "q" | "k") => {
    const found = projected(x, name);
    return weights.norms[name]?.(found) ?? found;
  };
  const unrotated = { q: normed(own.input, "q"), k: normed(other.input, "k") };
  const q = withEdits(heed, rotate(unrotated.q), "q", problem);
  const k = withEdits(heed, rotate(unrotated.k), "k", problem);
  const v = projected(other.input, "v");
  const heads = { heads: problem.heads, kvHeads: problem.heads };
  const { visible, ...mask } = problem.mask;
  const attention = heed.attention(q, k, v, {
    ...heads,
    ...mask,
    ...(visible && { mask: heed.tensor(visible, [L, S], "bool") }),
    scale: problem.scale,
    capture: ["scores", "masked", "weights", "entropy"],
  });
  const joined = withoutAblated(heed, attention.output, problem);
  const result = weights.wo && product(heed, joined, weights.wo, weights.biases.result);
  return { own, other, unrotated, q, k, v, attention, joined, result, heads, L, S };
}

type Stages = ReturnType<typeof forward>;

/** The largest difference between these results and the results for the unshuffled words. */
function shiftOf(heed: Heed, weights: Weights, problem: Problem, shuffled: Tensor): number | null {
  const { order, queryTokens, edits, keyTokens } = problem;
  if (!order) return null;
  const place = (row: number) => order[row] as number;
  const tokens = [...queryTokens];
  for (const [i, token] of queryTokens.entries()) tokens[place(i)] = token;
  // An edited entry moves with its word.
  const moved = edits.map((edit) =>
    edit.matrix === "k" && keyTokens ? edit : { ...edit, row: place(edit.row) },
  );
  const { result, joined } = forward(heed, weights, {
    ...problem,
    queryTokens: tokens,
    order: null,
    edits: moved,
  });
  const [before, after] = [numbersOf(result ?? joined), numbersOf(shuffled)];
  const size = after.length / order.length;
  return after.reduce((most, value, i) => {
    const was = before[place(Math.floor(i / size)) * size + (i % size)] as number;
    return Math.max(most, Math.abs(value - was));
  }, 0);
}

/** The numbers of every stage. */
function arraysOf(
  heed: Heed,
  weights: Weights,
  stages: Stages,
  block: Partial<Record<"between" | "units" | "after", Tensor>>,
  problem: Problem,
): Pick<Solution, "arrays" | "taken"> {
  const { own, other, q, k, v, attention, joined, result, heads, L, S } = stages;
  const { wq, wk, wv, wo } = weights;
  const { scores: scaled, masked, weights: shares, entropy } = attention.capture;
  const { capture: scores } = heed.attention(q, k, v, { ...heads, scale: 1, capture: "scores" });
  const ones = heed.tensor(new Float32Array(S).fill(1), [1, S]);
  const tensors = {
    ...{ ...own, keyEmbedding: other.embedding, keyPosition: other.position },
    keyInput: other.input,
    ...{ wq, wk, wv, q, k, v, scores, scaled, masked, weights: shares, output: attention.output },
    ...{ joined, wo, result, between: null, units: null, after: null, ...block },
    ...{ sums: heed.linear(shares, ones), entropy },
  };
  // A tensor with two names is copied once.
  const copies = new Map<Tensor, Numbers>();
  for (const each of Object.values(tensors))
    if (each && !copies.has(each)) copies.set(each, numbersOf(each));
  const copied = Object.fromEntries(
    Object.entries(tensors).map(([name, each]) => [name, each && copies.get(each)]),
  ) as Pick<Arrays, keyof typeof tensors>;
  const start = (problem.head * L + problem.row) * S;
  const { taken, exponentials } = exponentialsOf(heed, copied.masked.subarray(start, start + S));
  const contributions = contributionsOf(heed, copied, problem, [L, S]);
  return { arrays: { ...copied, exponentials, contributions }, taken };
}

function solveWith(heed: Heed, layer: Layer | null, problem: Problem): Solution {
  const { source } = problem;
  return heed.scope(() => {
    const started = performance.now();
    const weights = layer
      ? learnedWeights(heed, layer, problem)
      : source.kind === "random"
        ? randomWeights(heed, problem, source.seed)
        : exampleWeights(heed, problem);
    const stages = forward(heed, weights, problem);
    const { own, joined, result, L, S } = stages;
    const before = { input: own.embedding, attentionInput: own.input, headOutputs: joined };
    const found = result && layer?.blockOf({ ...before, attention: result }, problem.row);
    const { arrays, taken } = arraysOf(heed, weights, stages, found?.tensors ?? {}, problem);
    const E = own.embedding.shape[2] as number;
    const dims = { L, S, E, H: problem.heads, D: problem.headSize };
    const small = smallSolutionOf(heed, { arrays, dims });
    // Formulas show these numbers, which no picture has.
    const biases = Object.entries(weights.biases).flatMap(([name, bias]) =>
      bias ? [[name, numbersOf(bias)]] : [],
    );
    const { frequencies } = weights;
    const { q, k } = stages.unrotated;
    const more = {
      biases: Object.fromEntries(biases) as Biases,
      rotation: frequencies && { frequencies, q: numbersOf(q), k: numbersOf(k) },
    };
    const running = runningSums(heed, { arrays, dims, problem, ...more });
    // A norm follows the product.
    if (weights.norms.q && !more.rotation) delete running.q;
    const shift = shiftOf(heed, weights, problem, result ?? joined);
    const milliseconds = performance.now() - started;
    return {
      ...{ problem, dims, arrays, small, running, ...more, taken, shift, milliseconds },
      block: found?.block ?? null,
    };
  });
}

const solve: Solver<Problem, Solution, News> = async (problem, context) => {
  const { heed, signal } = context;
  const { source } = problem;
  if (source.kind !== "learned") return solveWith(heed, null, problem);
  const { withLayer } = await import("./learned");
  return withLayer(heed, source, context, (layer) => {
    signal?.throwIfAborted();
    return solveWith(heed, layer, problem);
  });
};

export default solve;
