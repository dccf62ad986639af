// A language model through Heed's public interface, with a cache as in generation.

import { loadModel } from "/heed/models.js";
import { noGrad, safetensors } from "/heed/nn.js";
import { weightShapes } from "./language_cases.mjs";

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

/** Resolves to a function that computes the logits [1, L, V]. */
export async function language(heed, one, inputs) {
  const { E, H, L, layers, vocabulary, context, past, dtype } = one;
  const tensors = Object.entries(weightShapes(one)).map(([name, shape]) => [
    name,
    { dtype: "float32", shape, data: inputs[name] },
  ]);
  const config = {
    ...{ model_type: "gpt2", n_embd: E, n_head: H, n_layer: layers },
    ...{ n_positions: context, vocab_size: vocabulary },
  };
  const files = {
    "config.json": new TextEncoder().encode(JSON.stringify(config)),
    "model.safetensors": safetensors.write(Object.fromEntries(tensors)),
  };
  const model = await loadModel(heed, files, { dtype });
  const ids = heed.tensor(inputs.tokens, [1, L]);
  const cache = model.createCache({ capacity: past + L });
  if (past > 0) fill(heed, cache, one, inputs.past);
  return () => {
    const logits = noGrad(() => heed.scope(() => model.forward(ids, { cache }).logits));
    cache.rewind(L); // so that the next call has the same past
    return logits;
  };
}
