// Tests of the types of heed/nn, checked by `tsc -p tests/js`; nothing here runs. A line under a
// ts-expect-error that compiles is an error.

import type { Heed, Tensor } from "heed";
import {
  beamSearch,
  generate,
  grad,
  type Hypothesis,
  nn,
  optim,
  type Step,
  safetensors,
  valueAndGrad,
} from "heed/nn";
import { same } from "../same.js";

declare const heed: Heed;
declare const x: Tensor;
declare const step: Step;

export class Model extends nn.Module {
  readonly embed: nn.Embedding;
  readonly layers: nn.TransformerEncoderLayer[];
  constructor(heed: Heed) {
    super(heed);
    this.embed = new nn.Embedding(heed, 10, 4, { paddingIndex: 0 });
    this.layers = [new nn.TransformerEncoderLayer(heed, 4, 2, { activation: "gelu" })];
  }
  forward(ids: Tensor, { isCausal = false } = {}): Tensor {
    let x = this.embed.forward(ids);
    for (const layer of this.layers) x = layer.forward(x, { isCausal });
    return x;
  }
}

// @ts-expect-error a module has a method forward
export class Nothing extends nn.Module {}

export function modules(): void {
  using model = new Model(heed);
  same<ReturnType<typeof model.forward>, Tensor>(true);
  same<ReturnType<typeof model.parameters>, Tensor[]>(true);
  same<ReturnType<typeof model.stateDict>, Record<string, Tensor>>(true);
  same<ReturnType<typeof model.eval>, Model>(true);
  same<typeof model.training, boolean>(true);
  model.loadStateDict(model.stateDict(), { strict: false });
  model.loadStateDict({ weight: { shape: [1], data: [1] } });
  // @ts-expect-error a tensor has a shape
  model.loadStateDict({ weight: { data: [1] } });
  // @ts-expect-error an unknown option
  model.loadStateDict({}, { exact: true });
  // @ts-expect-error a module needs an engine
  new nn.Linear(3, 4);
  // @ts-expect-error PyTorch's way to write options
  new nn.Linear(heed, 3, 4, false);
  // @ts-expect-error an unknown option
  new nn.Linear(heed, 3, 4, { hasBias: false });
  // @ts-expect-error an unknown activation
  new nn.TransformerEncoderLayer(heed, 4, 2, { activation: "silu" });
  // @ts-expect-error PyTorch's name
  new nn.MultiHeadAttention(heed, 4, 2, { numHeads: 2 });
  const linear = new nn.Linear(heed, 3, 4);
  linear.weight = model.embed.weight;
  // @ts-expect-error the padding index is read-only
  model.embed.paddingIndex = 3;
}

export function attention(cacheOfLayer: nn.LayerCache): void {
  const layer = new nn.MultiHeadAttention(heed, 4, 2);
  const plain = layer.forward(x, x, x);
  same<typeof plain.output, Tensor>(true);
  same<typeof plain.weights, undefined>(true);
  const all = layer.forward(x, x, x, { needWeights: true, isCausal: true });
  same<typeof all.weights, Tensor>(true);
  using cache = layer.createCache({ capacity: 3 });
  layer.forward(x, undefined, undefined, { cache });
  // @ts-expect-error an unknown option
  layer.forward(x, x, x, { causal: true });
  // @ts-expect-error the layer determines the heads
  layer.forward(x, x, x, { heads: 2 });

  const decoder = new nn.TransformerDecoder(heed, 4, 2, 1, { norm: true });
  using caches = decoder.createCache({ batch: 2, capacity: 3, memoryLength: 4 });
  same<typeof caches, nn.TransformerCache>(true);
  same<ReturnType<typeof decoder.forward>, Tensor>(true);
  decoder.forward(x, x, { tgtIsCausal: true, cache: caches });
  // @ts-expect-error a stack takes the cache of all layers
  decoder.forward(x, x, { cache: cacheOfLayer });
  // @ts-expect-error the length of the memory is missing
  decoder.createCache({ capacity: 3 });
  const kept = nn.captureAttention(
    decoder,
    (path, weights) => {
      same<typeof path, string>(true);
      same<typeof weights, Tensor>(true);
    },
    () => 3,
  );
  same<typeof kept, number>(true);
  const gru = new nn.GRU(heed, 3, 4, { layers: 2 });
  const { output, state } = gru.forward(x, { lengths: [1, 2] });
  same<typeof output, Tensor>(true);
  gru.forward(x, { state });
}

export function training(): void {
  const model = new Model(heed);
  const optimizer = new optim.AdamW(model, { learningRate: 1e-3, betas: [0.9, 0.98] });
  const schedule = optim.warmupCosine({ warmupSteps: 10, totalSteps: 100 });
  optimizer.learningRate = schedule(optimizer.stepCount + 1);
  const result = valueAndGrad(model, () => [x, { seen: x }] as const);
  same<typeof result.value, number>(true);
  same<typeof result.aux, { readonly seen: Tensor }>(true);
  const norm = optim.clipGradNorm(result.gradients, 1);
  same<typeof norm, number>(true);
  optimizer.step(result.gradients);
  new optim.SGD([x], { momentum: 0.9 }).step(grad([x], () => x));
  // @ts-expect-error PyTorch's name
  new optim.Adam(model, { lr: 1 });
  // @ts-expect-error the number of steps is read-only
  optimizer.stepCount = 3;
  // @ts-expect-error the number of all steps is missing
  optim.warmupCosine({ warmupSteps: 10 });
  const bytes = safetensors.write(model.stateDict(), { task: "reverse" });
  model.loadStateDict(safetensors.read(bytes).tensors);
  safetensors.read(new ArrayBuffer(8));
  // @ts-expect-error metadata consists of strings
  safetensors.write(model.stateDict(), { epoch: 3 });
}

export async function sequences(signal: AbortSignal): Promise<void> {
  const found = await beamSearch(heed, step, { startTokens: [1], maxLength: 5, beams: 2, signal });
  same<typeof found, Hypothesis[]>(true);
  const rows = await generate(heed, step, { startTokens: [[1]], maxLength: 5, temperature: 1 });
  same<typeof rows, number[][]>(true);
  const counting: Step = (all, order) => {
    same<typeof order, readonly number[]>(true);
    return all.length > 0 ? x : Promise.resolve(x);
  };
  await generate(heed, counting, { startTokens: [[1]], maxLength: 5 });
  // @ts-expect-error one sequence, not several
  await beamSearch(heed, step, { startTokens: [[1]], maxLength: 5, beams: 2 });
  // @ts-expect-error the number of beams is missing
  await beamSearch(heed, step, { startTokens: [1], maxLength: 5 });
}
