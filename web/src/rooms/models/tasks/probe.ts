/** Runs a model and records the weights of all heads, and the probabilities of its answers. */
import type { Heed, Tensor } from "heed";
import type { Example, LabelledWeights } from "heed/models";
import type { AttentiveModel } from "./trained";

export interface ModelProbe {
  readonly attentions: readonly LabelledWeights[];
  /** For each row of the last layer the probability of each of `tokens`. */
  readonly shares: readonly Float32Array[];
  readonly tokens: readonly string[];
}

/** Every token that a model can answer, in the order of the outputs of its last layer. */
function answerTokensOf(model: AttentiveModel): readonly string[] {
  const { targetVocabulary } = model as { targetVocabulary?: { tokens: readonly string[] } };
  return targetVocabulary?.tokens ?? model.config.vocabulary.target;
}

function softmaxRows(heed: Heed, logits: Tensor): Float32Array[] {
  return heed.scope(() => {
    const { data, shape } = heed.softmax(logits);
    const width = shape.at(-1) as number;
    return Array.from({ length: data.length / width }, (_, row) =>
      (data as Float32Array).slice(row * width, (row + 1) * width),
    );
  });
}

/** @param example with an answer: the model predicts each token of it from the given ones before it */
export function probe(model: AttentiveModel, example: Example): ModelProbe {
  const { heed, readOut } = model;
  const { forward } = readOut;
  let shares: Float32Array[] = [];
  readOut.forward = (x) => {
    const logits = forward(x);
    shares = softmaxRows(heed, logits);
    return logits;
  };
  try {
    const [attentions = []] = model.attentions([example], { compared: true });
    return { attentions, shares, tokens: answerTokensOf(model) };
  } finally {
    readOut.forward = forward;
  }
}
