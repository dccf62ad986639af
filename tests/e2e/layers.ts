/** The results of a layer of a language model, computed by the code of the model. */
import type { CausalLanguageModel } from "heed/models";
import { nn } from "heed/nn";

/** Matrices of “Step by step”. */
export const computed = [
  ...(["embedding", "input", "weights", "joined", "result", "between", "units", "after"] as const),
];

export function computedBy(model: CausalLanguageModel, ids: readonly number[], layer: number) {
  const { heed } = model;
  const found: Record<string, Float32Array> = {};
  const copy = ({ data }: { data: unknown }) => (data as Float32Array).slice();
  heed.scope(() => {
    const run = () =>
      model.forward(heed.tensor(Int32Array.from(ids), [1, ids.length]), {
        receiveLayer: (i, parts) => {
          if (i !== layer) return;
          Object.assign(found, {
            embedding: copy(parts.input),
            input: copy(parts.attentionInput),
            joined: copy(parts.headOutputs),
            result: copy(parts.attention),
            between: copy(parts.between),
            units: copy(parts.units),
            after: copy(parts.output),
            added: copy(parts.feedForward),
          });
        },
      });
    nn.captureAttention(
      model,
      (path, weights) => {
        if (path === `model.layers.${layer}.self_attn`) found.weights = copy(weights);
      },
      run,
    );
  });
  return found as Record<(typeof computed)[number] | "added", Float32Array>;
}

/** The largest difference of two numbers at the same place. */
export const farthest = (a: Float32Array, b: Float32Array) =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - (b[i] as number))), 0);
