/** The results of a layer of a language model, computed by the code of the model. */
import type { Tensor } from "heed";
import { nn } from "heed/nn";
import { vi } from "vitest";
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
  const { selfAttn, mlp, postAttentionLayernorm, outputLayernorm } = own;
  const forwards = [selfAttn, mlp, postAttentionLayernorm, outputLayernorm].map((each) =>
    each.forward.bind(each),
  ) as unknown as [(typeof selfAttn)["forward"], (typeof mlp)["forward"], Change, Change];
  type Change = (x: Tensor) => Tensor;
  const [attend, feed, normFirst, normLast] = forwards;
  const spies = [
    vi.spyOn(selfAttn, "forward").mockImplementation((x, context) => {
      const found = attend(x, context);
      keep({ embedding: x, input: x, joined: found.headOutputs, result: found.output });
      return found;
    }),
    vi.spyOn(mlp, "forward").mockImplementation((x) => {
      const found = feed(x);
      keep({ units: found.units, added: found.output });
      return found;
    }),
    vi.spyOn(postAttentionLayernorm, "forward").mockImplementation((x) => {
      const between = normFirst(x);
      keep({ between });
      return between;
    }),
    vi.spyOn(outputLayernorm, "forward").mockImplementation((x) => {
      const after = normLast(x);
      keep({ after });
      return after;
    }),
  ];
  model.forward(ids);
  for (const spy of spies) spy.mockRestore();
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
export const farthest = (a: Float32Array, b: Float32Array) =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - (b[i] as number))), 0);
