/** The results of a layer of a language model, computed by the code of the model. */
import type { Tensor } from "heed";
import { nn } from "heed/nn";
import { expect, vi } from "vitest";
import type { LanguageModel } from "../../web/src/worker/languageHeads";

/** Matrices of “Step by step”. */
export const computed = [
  ...(["embedding", "input", "weights", "joined", "result", "between", "units", "after"] as const),
];

type Results = Record<(typeof computed)[number] | "added", Float32Array>;
type Keep = (tensors: Partial<Record<keyof Results, Tensor>>) => void;

type Encoder = Exclude<LanguageModel, { readOut: unknown }>;
type PostNormLayer = Exclude<Encoder["model"]["layers"][number], { inputLayernorm: unknown }>;

/** Runs an encoder, and keeps the results of the modules of a layer. */
function encode(model: Encoder, ids: Tensor, layer: number, keep: Keep): void {
  const own = model.model.layers[layer] as PostNormLayer;
  /** Hands the input and the result of each call to a function. Returns a function that ends this. */
  function hear<X extends [Tensor, ...unknown[]], R>(
    module: { forward(...given: X): R },
    hearing: (found: R, input: Tensor) => void,
  ): () => void {
    const forward = module.forward.bind(module);
    const spy = vi.spyOn(module, "forward").mockImplementation((...given) => {
      const found = forward(...given);
      hearing(found, given[0]);
      return found;
    });
    return () => spy.mockRestore();
  }
  const ends = [
    hear(own.selfAttn, ({ headOutputs: joined, output: result }, x) =>
      keep({ embedding: x, input: x, joined, result }),
    ),
    hear(own.mlp, ({ units, output: added }) => keep({ units, added })),
    hear(own.postAttentionLayernorm, (between) => keep({ between })),
    hear(own.outputLayernorm, (after) => keep({ after })),
  ];
  model.forward(ids);
  for (const end of ends) end();
}

/** Runs a decoder, and keeps the results of a layer. */
function decode(
  model: Exclude<LanguageModel, Encoder>,
  ids: Tensor,
  layer: number,
  keep: Keep,
): void {
  model.forward(ids, {
    receiveLayer: (i, { headOutputs: joined, attention: result, ...parts }) => {
      if (i !== layer) return;
      const { input, attentionInput, between, units, output, feedForward } = parts;
      keep({ embedding: input, input: attentionInput, joined, result });
      keep({ between, units, after: output, added: feedForward });
    },
  });
}

export function computedBy(model: LanguageModel, ids: readonly number[], layer: number): Results {
  const { heed } = model;
  const found: Partial<Results> = {};
  const keep: Keep = (tensors) => {
    for (const [name, { data }] of Object.entries(tensors))
      found[name as keyof Results] = data.slice() as Float32Array;
  };
  heed.scope(() => {
    const tensor = heed.tensor(Int32Array.from(ids), [1, ids.length]);
    nn.captureAttention(
      model,
      (path, weights) => {
        if (path === `model.layers.${layer}.self_attn`) keep({ weights });
      },
      () => {
        if ("readOut" in model) decode(model, tensor, layer, keep);
        else encode(model, tensor, layer, keep);
      },
    );
  });
  return found as Results;
}

/** The largest difference of two numbers at the same place. */
export const farthest = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a).reduce((most, value, i) => Math.max(most, Math.abs(value - (b[i] as number))), 0);

/** Expects as many numbers, each of them near the exact one. */
export function expectClose(
  own: ArrayLike<number>,
  exact: ArrayLike<number>,
  what?: string,
  within = 2e-5,
): void {
  expect(own.length, what).toBe(exact.length);
  expect(farthest(own, exact), what).toBeLessThan(within);
}
