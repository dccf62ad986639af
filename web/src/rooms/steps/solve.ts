/** The desk of this room: one problem, solved with the engine's public operations, every stage kept. */
import type { AttentionOptions, Heed, Tensor } from "heed";
import type { Solver } from "../../desks";
import { exampleEmbeddings, exampleProjections } from "./example";
import type { Arrays, Problem, Solution } from "./problem";
import { seededNumbers } from "./seeded";

/** Views on WebAssembly memory go stale and may not be transferred: what leaves the engine is a copy. */
function numbersOf(tensor: Tensor): Float32Array<ArrayBuffer> {
  return tensor.data.slice() as Float32Array<ArrayBuffer>;
}

/** What the engine is given: the vectors of the tokens and the projections. */
interface Weights {
  embed(tokens: readonly string[]): Tensor;
  wq: Tensor;
  wk: Tensor;
  wv: Tensor;
  wo: Tensor | null;
}

function exampleWeights(heed: Heed): Weights {
  const { wq, wk, wv } = exampleProjections;
  return {
    embed: () => heed.tensor([exampleEmbeddings]),
    wq: heed.tensor(wq),
    wk: heed.tensor(wk),
    wv: heed.tensor(wv),
    wo: null,
  };
}

function seededWeights(heed: Heed, problem: Problem): Weights {
  const E = problem.heads * problem.headSize;
  // Deviation 1 / sqrt(E) keeps the entries of Q, K and V near size 1, whatever E is, as in a freshly made Transformer.
  const projection = (name: string) =>
    heed.tensor(seededNumbers(`${problem.seed} projection ${name}`, E * E, 1 / Math.sqrt(E)), [
      E,
      E,
    ]);
  return {
    embed(tokens) {
      const vocabulary = [...new Set(tokens)];
      const table = new Float32Array(vocabulary.length * E);
      for (const [i, token] of vocabulary.entries())
        table.set(seededNumbers(`${problem.seed} token ${token}`, E), i * E);
      const ids = Int32Array.from(tokens, (token) => vocabulary.indexOf(token));
      return heed.embedding(
        heed.tensor(ids, [1, tokens.length]),
        heed.tensor(table, [vocabulary.length, E]),
      );
    },
    wq: projection("Q"),
    wk: projection("K"),
    wv: projection("V"),
    wo: projection("O"),
  };
}

/** The tokens' vectors, with the code of their positions added if the problem wants it. */
function inputOf(heed: Heed, embedding: Tensor, problem: Problem) {
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

function maskOptions(heed: Heed, problem: Problem, L: number, S: number): AttentionOptions {
  const mask = problem.mask;
  switch (mask.kind) {
    case "none":
      return {};
    case "causal":
      return { isCausal: true };
    case "padding":
      return { kvLengths: [mask.from] };
    case "table":
      return { mask: heed.tensor(mask.visible, [L, S], "bool") };
  }
}

/**
 * Weight times value for every key of one query. The weights on the diagonal of a matrix, times V, gives the terms of
 * the weighted sum one by one.
 */
function contributionsOf(
  heed: Heed,
  weights: Float32Array,
  v: Float32Array,
  problem: Problem,
  L: number,
  S: number,
) {
  const { row, head, heads, headSize: D } = problem;
  const diagonal = new Float32Array(S * S);
  const valuesByColumn = new Float32Array(D * S);
  for (let j = 0; j < S; ++j) {
    diagonal[j * S + j] = weights[(head * L + row) * S + j] as number;
    for (let d = 0; d < D; ++d)
      valuesByColumn[d * S + j] = v[j * heads * D + head * D + d] as number;
  }
  return numbersOf(heed.linear(heed.tensor(diagonal, [S, S]), heed.tensor(valuesByColumn, [D, S])));
}

const solve: Solver<Problem, Solution> = (problem, { heed }) =>
  heed.scope(() => {
    const started = performance.now();
    const weights = problem.seed === null ? exampleWeights(heed) : seededWeights(heed, problem);

    const own = inputOf(heed, weights.embed(problem.queryTokens), problem);
    const other = problem.keyTokens
      ? inputOf(heed, weights.embed(problem.keyTokens), problem)
      : own;
    const q = heed.linear(own.input, weights.wq);
    const k = heed.linear(other.input, weights.wk);
    const v = heed.linear(other.input, weights.wv);

    const heads = { heads: problem.heads, kvHeads: problem.heads };
    const L = problem.queryTokens.length;
    const S = (problem.keyTokens ?? problem.queryTokens).length;
    const unscaled = heed.attention(q, k, v, { ...heads, scale: 1, capture: "scores" });
    const attention = heed.attention(q, k, v, {
      ...heads,
      ...maskOptions(heed, problem, L, S),
      scale: problem.scale,
      capture: ["scores", "masked", "weights", "entropy"],
    });
    const result = weights.wo && heed.linear(attention.output, weights.wo);

    const copies = new Map<Tensor, Float32Array<ArrayBuffer>>();
    const copy = (tensor: Tensor) => {
      const known = copies.get(tensor) ?? numbersOf(tensor);
      copies.set(tensor, known);
      return known;
    };
    const arrays: Arrays = {
      embedding: copy(own.embedding),
      position: copy(own.position),
      input: copy(own.input),
      keyEmbedding: copy(other.embedding),
      keyPosition: copy(other.position),
      keyInput: copy(other.input),
      wq: copy(weights.wq),
      wk: copy(weights.wk),
      wv: copy(weights.wv),
      q: copy(q),
      k: copy(k),
      v: copy(v),
      scores: copy(unscaled.capture),
      scaled: copy(attention.capture.scores),
      masked: copy(attention.capture.masked),
      weights: copy(attention.capture.weights),
      joined: copy(attention.output),
      wo: weights.wo && copy(weights.wo),
      result: result && copy(result),
      sums: numbersOf(
        heed.linear(attention.capture.weights, heed.tensor(new Float32Array(S).fill(1), [1, S])),
      ),
      entropy: copy(attention.capture.entropy),
      contributions: contributionsOf(heed, copy(attention.capture.weights), copy(v), problem, L, S),
    };
    const dims = {
      L,
      S,
      E: own.embedding.shape[2] as number,
      H: problem.heads,
      D: problem.headSize,
    };
    return { problem, dims, arrays, milliseconds: performance.now() - started };
  });

export default solve;
