// Tests of the types of heed, checked by `tsc -p tests/js`; nothing here runs. A line under a
// ts-expect-error that compiles is an error.

import {
  type AllocationSite,
  type AttentionOptions,
  type BlockMask,
  type BlockMaskSizes,
  type CaptureStage,
  type Heed,
  HeedError,
  type HeedErrorCode,
  type HeedInfo,
  type KvCache,
  load,
  type MaskFunction,
  type MemoryUse,
  maskFunctions,
  pause,
  type Tensor,
  type Variant,
} from "heed";
import { detach, grad, noGrad, type Tape, valueAndGrad } from "heed/nn";
import { same } from "../same.js";

declare const heed: Heed;
declare const x: Tensor;
declare const ids: Tensor;

export async function loading(): Promise<void> {
  const engine = await load({ threads: 2, variant: "simd", wasmUrl: new URL("https://a.b/") });
  same<typeof engine, Heed>(true);
  same<typeof engine.info, HeedInfo>(true);
  same<HeedInfo["variant"], Variant>(true);
  same<HeedInfo["reason"], string | null>(true);
  await load();
  await pause();
  // @ts-expect-error pause takes no duration
  await pause(5);
  await load({ wasmUrl: "/heed/", debug: true });
  for (const variant of ["wide", "relaxed", "simd"] as const) await load({ variant });
  // @ts-expect-error an unknown option
  await load({ thread: 2 });
  // @ts-expect-error an unknown binary
  await load({ variant: "avx" });
  // @ts-expect-error a number as a string
  await load({ threads: "2" });
  // @ts-expect-error debug is a boolean
  await load({ debug: () => {} });
  // @ts-expect-error info is read-only
  engine.info.threads = 3;
}

export function memory(cache: KvCache): void {
  same<ReturnType<typeof heed.memory>, MemoryUse>(true);
  same<MemoryUse["tensors"]["bytes"], number>(true);
  same<MemoryUse["sites"], readonly AllocationSite[] | undefined>(true);
  same<AllocationSite["leaked"]["count"], number>(true);
  heed.keep(cache).append(x, x);
  same<ReturnType<typeof x.item>, number | boolean>(true);
  const disposables: Disposable[] = [x, cache];
  // @ts-expect-error an object's engine is internal
  x.engine;
  // @ts-expect-error an object's kind is internal
  disposables[0]?.kind;
}

export function tensors(): void {
  heed.tensor(1);
  heed.tensor(true);
  heed.tensor([[1], [2]] as const);
  heed.tensor([[true], [false]]);
  heed.tensor(Float32Array.of(1), [1] as const, "float32");
  // @ts-expect-error a string is not a number
  heed.tensor(["1"]);
  // @ts-expect-error numbers and booleans do not mix
  heed.tensor([1, true]);
  // @ts-expect-error a Float64Array is not a source
  heed.tensor(new Float64Array(1));
  heed.tensor(new Uint16Array(1), [1], "bfloat16");
  heed.tensor(new Uint8Array(1), undefined, "bool");
  // @ts-expect-error bytes need a type
  heed.tensor(new Uint8Array(1), [1]);
  // @ts-expect-error the bits of a 16-bit type need a type
  heed.tensor(new Uint16Array(1));
  heed.tensor([1], [1], "float16");
  same<typeof x.data, Float32Array | Int32Array | Uint8Array | Uint16Array>(true);
  // @ts-expect-error an unknown element type
  heed.tensor([1], [1], "float64");
  same<ReturnType<typeof heed.cast>, Tensor>(true);
  // @ts-expect-error whole numbers cannot be cast
  heed.cast(x, "int32");
  // @ts-expect-error a shape is a list
  heed.tensor([1], 1);
  same<typeof x.dtype, "float32" | "int32" | "bool" | "float16" | "bfloat16">(true);
  same<typeof x.shape, readonly number[]>(true);
  // @ts-expect-error a shape is read-only
  x.shape[0] = 2;
  using scoped = heed.tensor([1]);
  same<typeof scoped, Tensor>(true);
  const kept = heed.scope(() => ({ a: x, b: [x] }));
  same<typeof kept, { a: Tensor; b: Tensor[] }>(true);
}

export function attention(): void {
  const plain = heed.attention(x, x, x);
  same<typeof plain.output, Tensor>(true);
  same<typeof plain.weights, undefined>(true);
  same<typeof plain.lse, undefined>(true);
  same<typeof plain.capture, undefined>(true);

  const all = heed.attention(x, x, x, { isCausal: true, needWeights: true, needLse: true });
  same<typeof all.weights, Tensor>(true);
  same<typeof all.lse, Tensor>(true);
  same<typeof all.capture, undefined>(true);

  const denied = heed.attention(x, x, x, { needWeights: false, needLse: false });
  same<typeof denied.weights, undefined>(true);
  same<typeof denied.lse, undefined>(true);

  const one = heed.attention(x, x, x, { capture: "masked" });
  same<typeof one.capture, Tensor>(true);
  same<typeof one.weights, undefined>(true);

  const several = heed.attention(x, x, x, { capture: ["scores", "weights"] });
  same<keyof typeof several.capture, "scores" | "weights">(true);
  same<typeof several.capture.scores, Tensor>(true);
  // @ts-expect-error a stage that was not requested
  several.capture.masked;

  const stages = ["scores", "capped", "masked", "weights", "entropy"] as const;
  same<CaptureStage, (typeof stages)[number]>(true);
  const entropy = heed.attention(x, x, x, { capture: "entropy" });
  same<typeof entropy.capture, Tensor>(true);
  const every = heed.attention(x, x, x, { capture: stages });
  same<keyof typeof every.capture, CaptureStage>(true);
  same<typeof every.capture.capped, Tensor>(true);
}

export function attentionWithAPast(cache: KvCache, either: AttentionOptions["past"]): void {
  const without = heed.attention(x, x, x, { isCausal: true });
  same<typeof without.presentKey, undefined>(true);
  same<typeof without.presentValue, undefined>(true);
  const tensors = heed.attention(x, x, x, { past: { key: x, value: x } });
  same<typeof tensors.presentKey, Tensor>(true);
  same<typeof tensors.presentValue, Tensor>(true);
  // A cache holds the present itself.
  const cached = heed.attention(x, x, x, { past: cache });
  same<typeof cached.presentKey, undefined>(true);
  const later = heed.attention(x, x, x, either === undefined ? {} : { past: either });
  same<typeof later.presentKey, Tensor | undefined>(true);
  // @ts-expect-error a past without values
  heed.attention(x, x, x, { past: { key: x } });
  // @ts-expect-error a tensor is not a past
  heed.attention(x, x, x, { past: x });
}

export function attentionOfAllKinds(mask: BlockMask): void {
  heed.attention(x, x, x, {
    ...{ causalOffset: "bottomRight", window: [3, -1], softcap: 30, dropout: 0.1, seed: 7 },
    ...{ bias: x, alibiSlopes: [0.5], sinks: x, blockMask: mask },
  } as const);
  heed.attention(x, x, x, { causalOffset: [1, 2], cuSeqlens: [0, 3] });
  heed.attention(x, x, x, { causalOffset: -4, cuSeqlens: { q: ids, k: [0, 3] } });
  // @ts-expect-error an unknown alignment
  heed.attention(x, x, x, { causalOffset: "left" });
  // @ts-expect-error a window has two sides
  heed.attention(x, x, x, { window: [1] });
  // @ts-expect-error one slope for all is not a list
  heed.attention(x, x, x, { alibiSlopes: 0.5 });
  // @ts-expect-error a bias is a tensor
  heed.attention(x, x, x, { bias: [1] });
  // @ts-expect-error the bounds of the keys are missing
  heed.attention(x, x, x, { cuSeqlens: { q: [0, 3] } });
  // @ts-expect-error a function is not a block mask
  heed.attention(x, x, x, { blockMask: () => true });
  // @ts-expect-error PyTorch's name
  heed.attention(x, x, x, { slidingWindow: 3 });
  // @ts-expect-error a stage's number
  heed.attention(x, x, x, { capture: 3 });
}

export function caches(): void {
  using cache = heed.createKvCache({ heads: 2, headSize: 4, capacity: 8, dtype: "int8" });
  same<typeof cache, KvCache>(true);
  same<typeof cache.lengths, number[]>(true);
  cache.append(x, x, [1]);
  cache.rewind(1);
  cache.share({ from: 0, to: 1, tokens: 2 });
  // @ts-expect-error a capacity is missing
  heed.createKvCache({ heads: 2, headSize: 4 });
  // @ts-expect-error an unknown format
  heed.createKvCache({ heads: 2, headSize: 4, capacity: 8, dtype: "f16" });
  // @ts-expect-error an unknown option
  heed.createKvCache({ heads: 2, headSize: 4, capacity: 8, rolling: true });
  // @ts-expect-error the number of tokens is missing
  cache.share({ from: 0, to: 1 });
  // @ts-expect-error lengths are read-only
  cache.lengths = [0];
}

export function blockMasks(): void {
  const even: MaskFunction = ({ q, k }) => (q + k) % 2 === 0;
  const sizes: BlockMaskSizes = { queries: 4, keys: 4 };
  const both = maskFunctions.and(maskFunctions.causal(), even);
  using mask = heed.blockMask(both, sizes);
  same<typeof mask, BlockMask>(true);
  same<typeof mask.density, number>(true);
  // @ts-expect-error a function that does not return a boolean
  heed.blockMask(({ q }) => q, sizes);
  // @ts-expect-error an unknown coordinate
  heed.blockMask(({ batch }) => batch === 0, sizes);
  // @ts-expect-error the number of keys is missing
  heed.blockMask(even, { queries: 4 });
  // @ts-expect-error an unknown mask
  maskFunctions.sliding(3);
}

export function parts(): void {
  const part = heed.attention(x, x, x, { needLse: true });
  const merged = heed.mergeAttention(part, part);
  same<typeof merged.lse, Tensor>(true);
  heed.mergeAttention(merged, { output: x, lse: x });
  // @ts-expect-error a part without its log-sum-exp
  heed.mergeAttention(heed.attention(x, x, x), merged);
}

export function attentionWithOptionsKnownLater(options: AttentionOptions, wanted: boolean): void {
  // A result is optional if its option is known only at run time.
  const later = heed.attention(x, x, x, options);
  same<typeof later.weights, Tensor | undefined>(true);
  same<typeof later.lse, Tensor | undefined>(true);
  const maybe = heed.attention(x, x, x, { needWeights: wanted });
  same<typeof maybe.weights, Tensor | undefined>(true);
  same<typeof maybe.lse, undefined>(true);
}

export function attentionRefuses(): void {
  // @ts-expect-error an unknown option
  heed.attention(x, x, x, { causal: true });
  // @ts-expect-error an unknown option in addition to a known one
  heed.attention(x, x, x, { isCausal: true, needWeight: true });
  // @ts-expect-error an unknown stage
  heed.attention(x, x, x, { capture: "score" });
  // @ts-expect-error an unknown stage in a list
  heed.attention(x, x, x, { capture: ["scores", "score"] });
  // @ts-expect-error a mask is a tensor
  heed.attention(x, x, x, { mask: [[true]] });
  // @ts-expect-error a number is not a tensor
  heed.attention(1, x, x);
  // @ts-expect-error values are missing
  heed.attention(x, x);
  heed.attention(x, x, x, { kvLengths: [1, 2] as const });
  heed.attention(x, x, x, { kvLengths: x });
}

export function multiHeadAttention(): void {
  const parameters = { inProjWeight: x, outProjWeight: x };
  const plain = heed.multiHeadAttention(x, x, x, parameters, { heads: 2 });
  same<typeof plain.output, Tensor>(true);
  same<typeof plain.weights, undefined>(true);
  const all = heed.multiHeadAttention(x, x, x, parameters, { heads: 2, needWeights: true });
  same<typeof all.weights, Tensor>(true);
  // @ts-expect-error the number of heads is missing
  heed.multiHeadAttention(x, x, x, parameters, {});
  // @ts-expect-error the options are missing
  heed.multiHeadAttention(x, x, x, parameters);
  // @ts-expect-error the output projection is missing
  heed.multiHeadAttention(x, x, x, { inProjWeight: x }, { heads: 2 });
  // @ts-expect-error an unknown parameter
  heed.multiHeadAttention(x, x, x, { ...parameters, outProj: x }, { heads: 2 });
  // @ts-expect-error an unknown option
  heed.multiHeadAttention(x, x, x, parameters, { heads: 2, needWeight: true });
}

export function steps(): void {
  same<ReturnType<typeof heed.softmax>, Tensor>(true);
  heed.linear(x, x);
  heed.linear(x, x, x);
  using packed = heed.packWeights(x, { format: "int8" });
  heed.linear(x, packed, { bias: x, activation: "geluTanh" });
  // @ts-expect-error an unknown activation
  heed.linear(x, x, { activation: "swish" });
  // @ts-expect-error an unknown format
  heed.packWeights(x, { format: "int2" });
  heed.embedding(ids, x);
  heed.sinusoidalEncoding(4, 8, { base: 100 });
  // @ts-expect-error an unknown option
  heed.sinusoidalEncoding(4, 8, { start: 1 });
  heed.average(x, { isCausal: true, keyMask: x });
  // @ts-expect-error an unknown option
  heed.average(x, { mask: x });
  heed.rope(x, { style: "interleaved", rotarySize: 4, positionIds: ids });
  // @ts-expect-error an unknown style
  heed.rope(x, { style: "neox" });
  // @ts-expect-error an unknown option
  heed.rope(x, { theta: 1 });
  const { presentState } = heed.linearAttention(x, x, x, { rule: "gatedDelta", decay: x, beta: x });
  same<typeof presentState, Tensor>(true);
  // @ts-expect-error an unknown rule
  heed.linearAttention(x, x, x, { rule: "gate" });
}

export function gradients(tape: Tape, module: { parameters(): Tensor[] }): void {
  const plain = valueAndGrad([x] as const, () => heed.sum(x));
  same<typeof plain.value, number>(true);
  same<typeof plain.gradients, Tensor[]>(true);
  same<typeof plain.aux, undefined>(true);
  const kept = valueAndGrad(module, () => [heed.sum(x), { logits: x, count: 3 }]);
  same<typeof kept.aux, { logits: Tensor; count: number }>(true);
  const pair = valueAndGrad([x], () => [heed.sum(x), x] as const, { debug: true });
  same<typeof pair.aux, Tensor>(true);
  same<ReturnType<typeof grad>, Tensor[]>(true);
  grad([x], () => [heed.sum(x), "beside it"]);
  same<ReturnType<typeof detach>, Tensor>(true);
  const constant = noGrad(() => ({ x }));
  same<typeof constant, { x: Tensor }>(true);
  same<ReturnType<typeof tape.gradients>, Tensor[]>(true);
  // @ts-expect-error a tensor is not a list of tensors
  grad(x, () => heed.sum(x));
  // @ts-expect-error a loss is a tensor
  grad([x], () => 3);
  // @ts-expect-error an async function
  grad([x], async () => heed.sum(x));
  // @ts-expect-error two values in addition to the loss
  valueAndGrad([x], () => [heed.sum(x), x, x]);
  // @ts-expect-error an unknown option
  valueAndGrad([x], () => heed.sum(x), { verbose: true });
  // @ts-expect-error a number has no gradient
  detach(3);
}

export function errors(error: unknown): void {
  if (error instanceof HeedError) {
    same<typeof error.code, HeedErrorCode>(true);
    // @ts-expect-error an unknown code
    error.code === "size";
  }
}
