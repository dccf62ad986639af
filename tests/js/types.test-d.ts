// What the types say, checked by `tsc -p tests/js`; nothing here runs. A line under @ts-expect-error
// that compiles is an error.

import {
  type AttentionOptions,
  type Heed,
  HeedError,
  type HeedErrorCode,
  type HeedInfo,
  load,
  type Tensor,
  type Variant,
} from "heed";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function same<A, B>(proof: Equal<A, B>): void;
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
  await load({ wasmUrl: "/heed/" });
  // @ts-expect-error an unknown option
  await load({ thread: 2 });
  // @ts-expect-error an unknown binary
  await load({ variant: "avx" });
  // @ts-expect-error a number in words
  await load({ threads: "2" });
  // @ts-expect-error what was loaded does not change
  engine.info.threads = 3;
}

export function tensors(): void {
  heed.tensor(1);
  heed.tensor(true);
  heed.tensor([[1], [2]] as const);
  heed.tensor([[true], [false]]);
  heed.tensor(Float32Array.of(1), [1] as const, "float32");
  // @ts-expect-error text is no number
  heed.tensor(["1"]);
  // @ts-expect-error numbers and booleans do not mix
  heed.tensor([1, true]);
  // @ts-expect-error doubles are not kept
  heed.tensor(new Float64Array(1));
  // @ts-expect-error an unknown element type
  heed.tensor([1], [1], "float64");
  // @ts-expect-error a shape is a list
  heed.tensor([1], 1);
  same<typeof x.dtype, "float32" | "int32" | "bool">(true);
  same<typeof x.shape, readonly number[]>(true);
  // @ts-expect-error a shape does not change
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
  // @ts-expect-error a stage that was not asked for
  several.capture.masked;
}

export function attentionWithOptionsKnownLater(options: AttentionOptions, wanted: boolean): void {
  // What is known only when the program runs may be there or not.
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
  // @ts-expect-error an unknown option beside a known one
  heed.attention(x, x, x, { isCausal: true, needWeight: true });
  // @ts-expect-error an unknown stage
  heed.attention(x, x, x, { capture: "score" });
  // @ts-expect-error an unknown stage in a list
  heed.attention(x, x, x, { capture: ["scores", "score"] });
  // @ts-expect-error a mask is a tensor
  heed.attention(x, x, x, { mask: [[true]] });
  // @ts-expect-error a number is no tensor
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
  heed.embedding(ids, x);
  heed.sinusoidalEncoding(4, 8, { base: 100 });
  // @ts-expect-error an unknown option
  heed.sinusoidalEncoding(4, 8, { start: 1 });
  heed.average(x, { isCausal: true, keyMask: x });
  // @ts-expect-error an unknown option
  heed.average(x, { mask: x });
  const similarity = heed.selfSimilarity(x);
  same<typeof similarity.weights, Tensor>(true);
}

export function errors(error: unknown): void {
  if (error instanceof HeedError) {
    same<typeof error.code, HeedErrorCode>(true);
    // @ts-expect-error no such code
    error.code === "size";
  }
}
