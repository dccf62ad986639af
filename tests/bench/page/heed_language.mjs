// Language models through Heed's public interface, with a cache as in generation.

import { loadModel } from "/heed/models.js";
import { noGrad, safetensors } from "/heed/nn.js";
import { centred, decoderWeights, eps, theta } from "./decoder_cases.mjs";
import { eps as encoderEps, encoderWeights } from "./encoder_cases.mjs";
import { weightShapes } from "./language_cases.mjs";

/** For each kind, the config of its model on the hub and the shapes of its weights. */
const models = {
  language: (one) => ({
    shapes: weightShapes(one),
    config: {
      ...{ model_type: "gpt2", n_embd: one.E, n_head: one.H, n_layer: one.layers },
      ...{ n_positions: one.context, vocab_size: one.vocabulary },
    },
  }),
  decoder: (one) => ({
    shapes: decoderWeights(one),
    config: {
      ...{ model_type: "llama", hidden_size: one.E, intermediate_size: one.F },
      ...{ num_attention_heads: one.H, num_key_value_heads: one.G },
      ...{ num_hidden_layers: one.layers, max_position_embeddings: one.context },
      ...{ vocab_size: one.vocabulary, tie_word_embeddings: true },
      ...{ rms_norm_eps: eps, rope_theta: theta },
    },
  }),
  encoder: (one) => ({
    shapes: encoderWeights(one),
    config: {
      ...{ model_type: "bert", architectures: ["BertModel"], vocab_size: one.vocabulary },
      ...{ hidden_size: one.E, intermediate_size: one.F, num_attention_heads: one.H },
      ...{ num_hidden_layers: one.layers, max_position_embeddings: one.context },
      layer_norm_eps: encoderEps,
    },
  }),
};

/** Loads the weights of a case as files of the hub. */
function modelOf(heed, one, inputs) {
  const { shapes, config } = models[one.kind](one);
  const tensors = Object.entries(shapes).map(([name, shape]) => [
    name,
    { dtype: "float32", shape, data: inputs[name] },
  ]);
  const files = {
    "config.json": new TextEncoder().encode(JSON.stringify(config)),
    "model.safetensors": safetensors.write(Object.fromEntries(tensors)),
  };
  return loadModel(heed, files, { dtype: one.dtype });
}

/** Puts the keys and values of a case into a cache. */
function fill(heed, cache, { H, E, past }, data) {
  const size = past * E;
  const shape = [1, H, past, E / H];
  for (const [i, { selfAttn }] of cache.layers.entries()) {
    const [k, v] = [0, 1].map((part) => (2 * i + part) * size);
    heed.scope(() =>
      selfAttn.append(
        heed.tensor(data.subarray(k, k + size), shape),
        heed.tensor(data.subarray(v, v + size), shape),
      ),
    );
  }
}

/** A call reads the tokens and forgets them, so that the next call has the same past. */
function reading(heed, model, cache, ids, options) {
  const [, length] = ids.shape;
  return () => {
    const logits = noGrad(() => heed.scope(() => model.forward(ids, { cache, ...options }).logits));
    cache.rewind(length);
    return logits;
  };
}

/** Resolves to a function that computes the logits [1, L, V]. */
export async function language(heed, one, inputs) {
  const { L, past } = one;
  const model = await modelOf(heed, one, inputs);
  const cache = model.createCache({ capacity: past + L });
  if (past > 0) fill(heed, cache, one, inputs.past);
  return reading(heed, model, cache, heed.tensor(inputs.tokens, [1, L]));
}

/** Computes the logits of the last token. */
export async function decoder(heed, one, inputs) {
  const { L, past } = one;
  const model = await modelOf(heed, one, inputs);
  const cache = model.createCache({ capacity: past + L });
  const options = { onlyLast: true };
  const prompt = heed.tensor(inputs.tokens.subarray(0, past), [1, past]);
  if (past > 0) noGrad(() => heed.scope(() => void model.forward(prompt, { cache, ...options })));
  const ids = heed.tensor(inputs.tokens.subarray(past), [1, L]);
  const read = reading(heed, model, cache, ids, options);
  return {
    answer() {
      const logits = read();
      const answer = centred(logits.data);
      logits.dispose();
      return answer;
    },
    run: () => read().dispose(),
  };
}

/** Resolves to a function that computes the states [B, L, E] of texts. */
export async function encoder(heed, one, inputs) {
  const { B, L } = one;
  const model = await modelOf(heed, one, inputs);
  const ids = heed.tensor(inputs.tokens, [B, L]);
  return () => noGrad(() => heed.scope(() => model.forward(ids).output));
}
