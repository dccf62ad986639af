/** The solver of the gradients: how much each output of a model depends on each character of the date. */
import type { Heed, Tensor } from "heed";
import {
  createModel,
  loadModel,
  type RecurrentModel,
  startId,
  TransformerModel,
  Vocabulary,
} from "heed/models";
import { grad, noGrad } from "heed/nn";
import { idsTensor, lengthsOf } from "../../worker/languageHeads";
import type { Solver } from "../../worker/solver";
import { lengthOf } from "./journey";
import type { ModelName } from "./problem";
import { filesOf } from "./trained";

export interface GradientQuestion {
  readonly base: string;
  readonly models: readonly ModelName[];
  readonly source: readonly string[];
  /** The input of the decoders after the start token. */
  readonly written: readonly string[];
  /** Whether the models have their trained weights, instead of those with which training began. */
  readonly isTrained: boolean;
}

type Model = RecurrentModel | TransformerModel;

/** The logits [1, T, V] of a decoder with the input `before`, for a date with the embeddings `input`. */
function logitsFrom(model: Model, input: Tensor, source: Tensor, before: Tensor): Tensor {
  if (model instanceof TransformerModel) {
    const { encoder, decoder, positions, targetEmbedding } = model;
    const memory = encoder.forward(positions.forward(input));
    const written = positions.forward(targetEmbedding.forward(before));
    return model.readOut.forward(decoder.forward(written, memory, { tgtIsCausal: true }));
  }
  const { encoder, decoder } = model;
  const { embedding } = encoder;
  const { forward } = embedding;
  embedding.forward = () => input;
  try {
    const { outputs, state } = encoder.forward([Array.from(source.data as Int32Array)]);
    return decoder.forward(before, state, decoder.remember(outputs, undefined)).logits;
  } finally {
    embedding.forward = forward;
  }
}

/** The factors of logits [1, T, V] whose sum is the largest logit of a row minus the row's mean. */
function factorsOf(heed: Heed, logits: Tensor, row: number): Tensor {
  const size = logits.shape.at(-1) as number;
  const own = logits.data.subarray(row * size, (row + 1) * size) as Float32Array;
  const factors = new Float32Array(logits.size);
  factors.fill(-1 / size, row * size, (row + 1) * size);
  factors[row * size + own.indexOf(Math.max(...own))] = 1 - 1 / size;
  return heed.tensor(factors, logits.shape);
}

/**
 * The lengths of the gradients of an output, the largest logit minus the mean, with respect to the embedding of each
 * character of the date.
 *
 * @param row the step of the decoder
 */
export function gradientLengths(
  heed: Heed,
  model: Model,
  { source, written }: Pick<GradientQuestion, "source" | "written">,
  row: number,
): Float32Array {
  const { vocabulary } = model.config;
  return heed.scope(() => {
    const from = idsTensor(heed, new Vocabulary(vocabulary.source).encode(source));
    const before = idsTensor(heed, [startId, ...new Vocabulary(vocabulary.target).encode(written)]);
    const embedding =
      model instanceof TransformerModel ? model.sourceEmbedding : model.encoder.embedding;
    const input = heed.embedding(from, embedding.weight);
    const [gradient] = grad([input], () => {
      const logits = logitsFrom(model, input, from, before);
      return heed.sum(
        heed.multiply(
          logits,
          noGrad(() => factorsOf(heed, logits, row)),
        ),
      );
    });
    return lengthsOf((gradient as Tensor).data as Float32Array, source.length);
  });
}

const solve = (async (question, { heed, pause }) => {
  const { base, models, source, written, isTrained } = question;
  const target = written.length + 1;
  const pathOf = (from: number, to: number) =>
    lengthOf("rnn", { source: source.length, target, from, to });
  const paths = Array.from({ length: target }, (_, to) =>
    source.map((_, from) => pathOf(from, to)),
  ).flat();
  const pathLengths = [...new Set(paths)].sort((a, b) => a - b);
  /** For each model the mean gradient length of all pairs with each of these path lengths in the RNN. */
  const means: Float32Array[] = [];
  for (const name of models) {
    const trained = loadModel(heed, await filesOf(base, name));
    const model = (isTrained ? trained : createModel(heed, trained.config).eval()) as Model;
    try {
      const lengths: number[] = [];
      for (let to = 0; to < target; ++to) {
        await pause();
        lengths.push(...gradientLengths(heed, model, question, to));
      }
      means.push(
        Float32Array.from(pathLengths, (path) => mean(lengths.filter((_, i) => paths[i] === path))),
      );
    } finally {
      for (const each of new Set([trained, model])) each.dispose();
    }
  }
  return { pathLengths, means };
}) satisfies Solver<GradientQuestion, unknown>;

const mean = (numbers: readonly number[]) =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

export default solve;
