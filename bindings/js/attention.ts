// heed.attention: its options, their checks, and the call.

import { BlockMask } from "./blockMask.js";
import type { Engine } from "./engine.js";
import { describe, refuse } from "./error.js";
import { KvCache } from "./kvCache.js";
import type { Tensor } from "./tensor.js";
import {
  type Check,
  checkOptions,
  isBoolean,
  isListOrTensor,
  isNumber,
  isTensor,
  isWholeNumber,
} from "./validate.js";

/**
 * The stages of attention: scores after the scale; after the softcap; after biases and masks; weights;
 * the entropy of each row of weights.
 */
export type CaptureStage = "scores" | "capped" | "masked" | "weights" | "entropy";

export interface AttentionOptions {
  /** Query heads of inputs [B, L, H*D]. */
  heads?: number;
  /** Key/value heads of inputs [B, S, G*D]; as many as `heads` by default. */
  kvHeads?: number;
  /** Multiplies the scores; 1/sqrt(D) by default. */
  scale?: number;

  /** Query i, at position p = i + offset, sees key j only if j <= p. */
  isCausal?: boolean;
  /**
   * The offset, for all sequences or for each: a number, "topLeft" (0) or "bottomRight" (the last query
   * stands at the last key). By default the length of the past, or kvLengths[b] - L, or the difference
   * of a packed sequence's lengths; else 0.
   */
  causalOffset?: "topLeft" | "bottomRight" | number | readonly number[];
  /** [left, right]: query i sees key j only if p - left <= j <= p + right; -1 leaves a side open. */
  window?: readonly [left: number, right: number];
  /**
   * bool: true where a key may be seen. float32: added to the scores, -Infinity hides. Broadcasts like
   * numpy to [B, H, L, S]; a last axis shorter than S (but not 1) hides the keys beyond it.
   */
  mask?: Tensor;
  /** [B] how many keys of each sequence exist; the rest are not read. */
  kvLengths?: readonly number[] | Tensor;

  /** Scores become softcap * tanh(score / softcap). */
  softcap?: number;
  /** float32, added to the scores beside a boolean mask; broadcasts to [B, H, L, S]. */
  bias?: Tensor;
  /** [H] slope * |p - j| is taken off the scores. */
  alibiSlopes?: readonly number[] | Tensor;
  /** [H] a logit for each head that joins the softmax's denominator and nothing else. */
  sinks?: readonly number[] | Tensor;
  /** The share of weights set to zero at random; the others grow by 1 / (1 - dropout). */
  dropout?: number;
  /** Decides which weights are dropped; 0 by default. */
  seed?: number;

  /** Blocks of queries and keys that are seen wholly, partly or not at all: `heed.blockMask`. */
  blockMask?: BlockMask;
  /**
   * Keys and values before those of k and v: [B, G, P, D] and [B, G, P, Dv], or a cache, to which k and
   * v are appended (`kvLengths` then tells how many of them each sequence takes).
   */
  past?: { readonly key: Tensor; readonly value: Tensor } | KvCache;
  /**
   * Bounds of packed sequences, for queries and keys alike or for each: q is then [Tq, H, D], k and v
   * [Tk, G, ..], and sequence n has the rows from bounds[n] to bounds[n + 1].
   */
  cuSeqlens?: Bounds | { readonly q: Bounds; readonly k: Bounds };

  /** Return the weights [B, H, L, S]. */
  needWeights?: boolean;
  /** Return the log of the softmax denominator [B, H, L]. */
  needLse?: boolean;
  /** Return one stage of this very computation, or several, [B, H, L, S] each; entropy [B, H, L]. */
  capture?: CaptureStage | readonly CaptureStage[];
}

type Bounds = readonly number[] | Tensor;

/** A result that is there if its option is true, and may be there if that is known only later. */
export type If<Wanted, Result> = Wanted extends true ? Result : undefined;

/** A type parameter accepts properties that nobody knows; this refuses them. */
export type NothingElse<O, Known> = { [Name in Exclude<keyof O, keyof Known>]: never };

type Captured<C> = C extends CaptureStage
  ? Tensor
  : C extends readonly (infer Stage extends CaptureStage)[]
    ? { [S in Stage]: Tensor }
    : undefined;

type Present<Past> = Past extends { readonly key: Tensor } ? Tensor : undefined;

/** What was asked for is there; the rest is undefined. */
export interface AttentionResult<O extends AttentionOptions = AttentionOptions> {
  /**
   * [B, H, L, Dv]; [B, L, H*Dv] for inputs of rank 3; [Tq, H, Dv] for packed ones. Zeros for a query
   * that sees no key.
   */
  output: Tensor;
  weights: If<O["needWeights"], Tensor>;
  /** [B, H, L], or [H, Tq]. For a query that sees no key -Infinity, or the sink. */
  lse: If<O["needLse"], Tensor>;
  capture: Captured<O["capture"]>;
  /** The past and the new keys together, [B, G, P + new, D]; a cache holds its own. */
  presentKey: Present<O["past"]>;
  presentValue: Present<O["past"]>;
}

const stages: readonly unknown[] = [
  "scores",
  "capped",
  "masked",
  "weights",
  "entropy",
] satisfies CaptureStage[];

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object";

const checks = {
  heads: isWholeNumber(1),
  kvHeads: isWholeNumber(1),
  scale: isNumber,
  isCausal: isBoolean,
  causalOffset: {
    expected: '"topLeft", "bottomRight", a whole number or a list of them',
    accepts: (value) =>
      value === "topLeft" ||
      value === "bottomRight" ||
      Number.isInteger(value) ||
      Array.isArray(value),
  },
  window: {
    expected: "[left, right], each a whole number of -1 or more",
    accepts: (value) =>
      Array.isArray(value) &&
      value.length === 2 &&
      value.every((side) => Number.isInteger(side) && side >= -1),
  },
  mask: isTensor,
  kvLengths: isListOrTensor,
  softcap: isNumber,
  bias: isTensor,
  alibiSlopes: isListOrTensor,
  sinks: isListOrTensor,
  dropout: isNumber,
  seed: isWholeNumber(0),
  blockMask: { expected: "a block mask", accepts: (value) => value instanceof BlockMask },
  past: {
    expected: "{ key, value } or a cache",
    accepts: (value) =>
      value instanceof KvCache || (isObject(value) && "key" in value && "value" in value),
  },
  cuSeqlens: {
    expected: "a list, an int32 tensor, or { q, k } of them",
    accepts: (value) =>
      isListOrTensor.accepts(value) ||
      (isObject(value) && isListOrTensor.accepts(value.q) && isListOrTensor.accepts(value.k)),
  },
  needWeights: isBoolean,
  needLse: isBoolean,
  capture: {
    expected: `${stages.map((stage) => `"${stage}"`).join(", ")} or a list of them`,
    accepts: (value) =>
      Array.isArray(value)
        ? value.every((stage) => stages.includes(stage))
        : stages.includes(value),
  },
} satisfies Record<keyof AttentionOptions, Check>;

export function attention<O extends AttentionOptions>(
  engine: Engine,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  options: O | undefined,
): AttentionResult<O> {
  const o: AttentionOptions = options === undefined ? {} : options;
  checkOptions("attention", o, checks);
  const handles = [engine.handle("q", q), engine.handle("k", k), engine.handle("v", v)] as const;
  const captured = [o.capture ?? []].flat() as CaptureStage[];
  const calledHere = { cache: "past", ...(!o.needWeights && { needWeights: "capture" }) };
  return engine.call((context, own) => {
    const { module } = engine;
    const native = own(new module.AttentionOptions());
    const list = (name: string, value: Bounds, dtype: "float32" | "int32" = "int32") =>
      engine.handleOrList(name, value, dtype, own);

    if (o.heads !== undefined) native.heads = o.heads;
    if (o.kvHeads !== undefined) native.kvHeads = o.kvHeads;
    if (o.scale !== undefined) native.setScale(o.scale);

    if (o.isCausal) native.isCausal = true;
    if (o.causalOffset === "topLeft" || o.causalOffset === "bottomRight") {
      native.causalAlignment = module.CausalAlignment[o.causalOffset];
    } else if (o.causalOffset !== undefined) {
      native.setCausalOffset(list("causalOffset", [o.causalOffset].flat()));
    }
    if (o.window) [native.windowLeft, native.windowRight] = o.window;
    if (o.mask) native.setMask(engine.handle("mask", o.mask));
    if (o.kvLengths) native.setKvLengths(list("kvLengths", o.kvLengths));

    if (o.softcap !== undefined) native.softcap = o.softcap;
    if (o.bias) native.setBias(engine.handle("bias", o.bias));
    if (o.alibiSlopes) native.setAlibiSlopes(list("alibiSlopes", o.alibiSlopes, "float32"));
    if (o.sinks) native.setSinks(list("sinks", o.sinks, "float32"));
    if (o.dropout !== undefined) native.dropout = o.dropout;
    if (o.seed !== undefined) native.setDropoutSeed(o.seed);

    if (o.blockMask) native.setBlockMask(o.blockMask.handle("blockMask", module));
    if (o.past instanceof KvCache) {
      native.setCache(o.past.handle("past", module));
    } else if (o.past) {
      native.setPastKey(engine.handle("past.key", o.past.key));
      native.setPastValue(engine.handle("past.value", o.past.value));
    }
    if (o.cuSeqlens) {
      const bounds = "q" in o.cuSeqlens ? o.cuSeqlens : { q: o.cuSeqlens, k: o.cuSeqlens };
      native.setCuSeqlensQ(list("cuSeqlens", bounds.q));
      native.setCuSeqlensK(list("cuSeqlens", bounds.k));
    }

    if (o.needWeights || captured.includes("weights")) native.needWeights = true;
    if (o.needLse) native.needLse = true;
    if (captured.includes("scores")) native.captureScores = true;
    if (captured.includes("capped")) native.captureCapped = true;
    if (captured.includes("masked")) native.captureMasked = true;
    if (captured.includes("entropy")) native.captureEntropy = true;

    const result = own(module.attention(context, ...handles, native));
    const stage: Record<CaptureStage, Tensor | undefined> = {
      scores: engine.optional(result.scores()),
      capped: engine.optional(result.capped()),
      masked: engine.optional(result.masked()),
      weights: engine.optional(result.weights()),
      entropy: engine.optional(result.entropy()),
    };
    return {
      output: engine.tensor(result.output()),
      weights: o.needWeights ? stage.weights : undefined,
      lse: engine.optional(result.lse()),
      capture:
        typeof o.capture === "string"
          ? stage[o.capture]
          : o.capture && Object.fromEntries(captured.map((name) => [name, stage[name]])),
      presentKey: engine.optional(result.presentKey()),
      presentValue: engine.optional(result.presentValue()),
    } as AttentionResult<O>;
  }, calledHere);
}

/** Partial results of one attention: over some of its keys. */
export interface PartialAttention {
  /** [B, H, L, Dv] */
  output: Tensor;
  /** [B, H, L]; -Infinity for a query that saw no key of this part. */
  lse: Tensor;
}

export function mergeAttention(
  engine: Engine,
  a: PartialAttention,
  b: PartialAttention,
): PartialAttention {
  if (!isObject(a)) throw refuse("option", "a", "{ output, lse }", describe(a));
  if (!isObject(b)) throw refuse("option", "b", "{ output, lse }", describe(b));
  const handles = [
    engine.handle("a.output", a.output),
    engine.handle("a.lse", a.lse),
    engine.handle("b.output", b.output),
    engine.handle("b.lse", b.lse),
  ] as const;
  return engine.call((context, own) => {
    const merged = own(engine.module.mergeAttention(context, ...handles));
    return { output: engine.tensor(merged.output()), lse: engine.tensor(merged.lse()) };
  });
}
