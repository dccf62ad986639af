// heed.attention: its options, their checks, and the call.

import { type Precision, precisions } from "../core/constants.js";
import type { Engine, List } from "../core/engine.js";
import {
  readAttentionGradients,
  readAttentionResult,
  withAttentionGradientOptions,
  withAttentionOptions,
} from "../core/members.js";
import { recording, snapshot } from "../core/tape.js";
import { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkOptions,
  instanceOf,
  isBoolean,
  isListOf,
  isListOrTensor,
  isNumber,
  isObject,
  isReadable,
  isTensor,
  isWholeNumber,
  oneOf,
} from "../core/validate.js";
import { BlockMask } from "./blockMask.js";
import { KvCache } from "./kvCache.js";

const stages = ["scores", "capped", "masked", "weights", "entropy"] as const;

/**
 * The stages of attention: scores after the scale; after the softcap; after biases and masks; weights;
 * the entropy of each row of weights.
 */
export type CaptureStage = (typeof stages)[number];

/** Options of `attention`. A query sees the keys that all masks, causality, the window and the lengths allow. */
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
   * The offset, for all sequences or for each: a number, "topLeft" (0) or "bottomRight" (the last
   * query has the position of the last key). By default the length of the past, or
   * kvLengths[b] - L, or the difference of a packed sequence's lengths; otherwise 0.
   */
  causalOffset?: "topLeft" | "bottomRight" | number | readonly number[];
  /** [left, right]: query i sees key j only if p - left <= j <= p + right; -1 leaves a side open. */
  window?: readonly [left: number, right: number];
  /**
   * bool: true where a key may be seen. float32: added to the scores, -Infinity hides. Broadcasts as
   * in numpy to [B, H, L, S]; a last axis shorter than S (but not 1) hides the keys beyond it.
   */
  mask?: Tensor;
  /** [B] the number of keys of each sequence; the others are not read. */
  kvLengths?: readonly number[] | Tensor;

  /**
   * How the scores are computed, "float32" by default. "int8-scores" rounds queries and keys to whole
   * numbers of 7 bits (after SageAttention, 2024): faster, with a cosine similarity of the output above
   * 0.9995 on normally distributed inputs. Not with a cache.
   */
  precision?: Precision;
  /** Scores become softcap * tanh(score / softcap). */
  softcap?: number;
  /** float32, added to the scores, also together with a boolean mask; broadcasts to [B, H, L, S]. */
  bias?: Tensor;
  /**
   * [H] slope * |p - j| is subtracted from the scores; or a tensor [B, H], either axis of which may
   * be 1. For packed sequences, B is the number of sequences.
   */
  alibiSlopes?: readonly number[] | Tensor;
  /** [H] a logit per head that is added to the softmax's denominator only; or a tensor as for `alibiSlopes`. */
  sinks?: readonly number[] | Tensor;
  /** The proportion of weights that are set to zero at random; the others are scaled by 1 / (1 - dropout). */
  dropout?: number;
  /** The seed of the choice of dropped weights; 0 by default. */
  seed?: number;

  /** Blocks of queries and keys that are visible entirely, partly or not at all: `heed.blockMask`. */
  blockMask?: BlockMask;
  /**
   * Keys and values that precede k and v: [B, G, P, D] and [B, G, P, Dv]. Or a cache, to which k
   * and v are appended; `kvLengths` is then the number of new ones for each sequence.
   */
  past?: { readonly key: Tensor; readonly value: Tensor } | KvCache;
  /**
   * Bounds of packed sequences, for queries and keys together or separately. The inputs are then
   * q [Tq, H, D], k and v [Tk, G, ..], and sequence n has the rows from bounds[n] to bounds[n + 1].
   */
  cuSeqlens?: Bounds | { readonly q: Bounds; readonly k: Bounds };

  /** Return the weights [B, H, L, S]. */
  needWeights?: boolean;
  /** Return the log of the softmax denominator [B, H, L]. */
  needLse?: boolean;
  /** Return one or several stages of this computation, [B, H, L, S] each; entropy [B, H, L]. */
  capture?: CaptureStage | readonly CaptureStage[];
}

type Bounds = readonly number[] | Tensor;

/** A result that exists if its option is true. */
export type If<Wanted, Result> = Wanted extends true ? Result : undefined;

/** Makes unknown properties an error, which a type parameter alone would accept. */
export type NothingElse<O, Known> = { [Name in Exclude<keyof O, keyof Known>]: never };

type Captured<C> = C extends CaptureStage
  ? Tensor
  : C extends readonly (infer Stage extends CaptureStage)[]
    ? { [S in Stage]: Tensor }
    : undefined;

type Present<Past> = Past extends { readonly key: Tensor } ? Tensor : undefined;

/** Results that were not requested are undefined. */
export interface AttentionResult<O extends AttentionOptions = AttentionOptions> {
  /**
   * [B, H, L, Dv]; [B, L, H*Dv] for inputs of rank 3; [Tq, H, Dv] for packed ones. Zeros for a query
   * that sees no key.
   */
  output: Tensor;
  /** [B, H, L, S], after dropout; not for packed sequences. Zeros for a query that sees no key. */
  weights: If<O["needWeights"], Tensor>;
  /** [B, H, L], or [H, Tq]. For a query that sees no key, -Infinity or the sink. */
  lse: If<O["needLse"], Tensor>;
  /** The requested stage, or an object with several stages by name. */
  capture: Captured<O["capture"]>;
  /** The past and new keys together, [B, G, P + new, D]; undefined with a cache, which holds them. */
  presentKey: Present<O["past"]>;
  /** As `presentKey`, [B, G, P + new, Dv]. */
  presentValue: Present<O["past"]>;
}

const isStage = oneOf(...stages).accepts;

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
    accepts: (value) => isListOf(value, isWholeNumber(-1, 2 ** 53).accepts) && value.length === 2,
  },
  mask: isTensor,
  kvLengths: isListOrTensor,
  precision: oneOf(...precisions),
  softcap: isNumber,
  bias: isTensor,
  alibiSlopes: isListOrTensor,
  sinks: isListOrTensor,
  dropout: isNumber,
  seed: isWholeNumber(0),
  blockMask: instanceOf("a block mask", BlockMask),
  past: {
    expected: "{ key, value } or a cache",
    accepts: (value) =>
      value instanceof KvCache ||
      (isReadable(value, "key", "value") && "key" in value && "value" in value),
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
    accepts: (value) => isListOf(value, isStage) || isStage(value),
  },
} satisfies Record<keyof AttentionOptions, Check>;

/**
 * softmax(scale Q K^T + mask) V (Vaswani et al., 2017, section 3.2.1), tiled so that nothing of
 * size L x S is stored unless requested.
 *
 * @param q [B, H, L, D], or [B, L, H*D] with `heads`
 * @param k [B, G, S, D], or [B, S, G*D]; H must be a multiple of G
 * @param v [B, G, S, Dv], or [B, S, G*Dv]
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const q = heed.tensor([[[[1, 0], [0, 1], [1, 1]]]]); // [1, 1, 3, 2]
 * const { output, weights } = heed.attention(q, q, q, { isCausal: true, needWeights: true });
 * console.log(output.shape, Array.from(weights.data.slice(0, 3))); // prints: [ 1, 1, 3, 2 ] [ 1, 0, 0 ]
 * ```
 */
export function attention<const O extends AttentionOptions = Record<never, never>>(
  engine: Engine,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  options?: O & NothingElse<O, AttentionOptions>,
): AttentionResult<O> {
  const isAnyGiven = options !== undefined && checkOptions("attention", options, checks);
  const inputs = [engine.handle("q", q), engine.handle("k", k), engine.handle("v", v)];
  const { attention } = engine.module;
  const tape = recording();
  const o: AttentionOptions = isAnyGiven ? (tape ? snapshot(options) : options) : nothing;
  const isDifferentiable =
    !(o.past instanceof KvCache) && q.dtype === "float32" && o.precision !== "int8-scores";
  if (!isAnyGiven && !tape) {
    engine.run(attention, inputs);
  } else {
    const keepsStatistics = tape !== undefined && isDifferentiable;
    const named = o.needWeights ? calledHere : calledHereForCapture;
    engine.withLists((list) =>
      engine.run(attention, withOptions(engine, inputs, o, list, keepsStatistics), named),
    );
  }
  const result = readAttentionResult(engine);
  const { output, weights, lse, statistics, scores, capped, masked, entropy } = result;
  const { presentKey, presentValue } = result;
  const { capture } = o;
  if (tape) {
    const taken = inputsOf(q, k, v, o);
    if (statistics === undefined)
      tape.cut("attention with a cache, int8 scores or halves", taken, [output, lse]);
    else
      tape.record(
        "attention",
        taken,
        lse ? [output, statistics, lse] : [output, statistics],
        ([d, , dLse], needs) =>
          attentionBackward(engine, q, k, v, output, statistics, o, d, dLse, needs),
      );
    const others = [weights, scores, capped, masked, entropy, presentKey, presentValue];
    tape.cut("weights, stages and present keys of attention", taken, others);
  }
  return {
    output,
    weights: o.needWeights ? weights : undefined,
    lse,
    capture: capture && pick(capture, { scores, capped, masked, weights, entropy }),
    presentKey,
    presentValue,
  } as AttentionResult<O>;
}

/** The inputs that can have gradients, by the names of attentionBackward's results. */
function inputsOf(q: Tensor, k: Tensor, v: Tensor, o: AttentionOptions) {
  const { mask, bias, alibiSlopes: slopes, sinks, past } = o;
  const before = past instanceof KvCache ? undefined : past;
  return {
    q,
    k,
    v,
    mask,
    bias,
    alibiSlopes: slopes instanceof Tensor ? slopes : undefined,
    sinks: sinks instanceof Tensor ? sinks : undefined,
    "past.key": before?.key,
    "past.value": before?.value,
  };
}

function attentionBackward(
  engine: Engine,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  output: Tensor,
  statistics: Tensor,
  o: AttentionOptions,
  given: Tensor | undefined,
  dLse: Tensor | undefined,
  needs: (input: string) => boolean,
) {
  const d = given ?? engine.zeros(output.shape);
  const args = engine.handles({ d, q, k, v, output, statistics });
  engine.withLists((list) => {
    withOptions(engine, args, o, list, false);
    withAttentionGradientOptions(engine, args, {
      needMask: needs("mask"),
      needBias: needs("bias"),
      needAlibiSlopes: needs("alibiSlopes"),
      needSinks: needs("sinks"),
      dLse,
    });
    engine.run(engine.module.attentionBackward, args);
  });
  const { pastKey, pastValue, ...gradients } = readAttentionGradients(engine);
  if (d !== given) d.dispose();
  return { ...gradients, "past.key": pastKey, "past.value": pastValue };
}

/** Adds the options to the arguments of a call. */
function withOptions(
  engine: Engine,
  args: number[],
  o: AttentionOptions,
  list: List,
  needStatistics: boolean,
): number[] {
  const { causalOffset, window, past, capture } = o;
  const captures = (stage: CaptureStage) =>
    capture !== undefined && (capture === stage || capture.includes(stage));
  const bounds = readBounds(o.cuSeqlens);
  const cache = past instanceof KvCache ? past : undefined;
  const tensors = past instanceof KvCache ? undefined : past;
  return withAttentionOptions(engine, args, {
    heads: o.heads,
    kvHeads: o.kvHeads,
    scale: o.scale,
    isCausal: o.isCausal,
    causalAlignment: typeof causalOffset === "string" ? causalOffset : undefined,
    causalOffset: list("causalOffset", offsets(causalOffset)),
    windowLeft: window?.[0],
    windowRight: window?.[1],
    mask: o.mask,
    kvLengths: list("kvLengths", o.kvLengths),
    blockMask: o.blockMask?.handle("blockMask", engine.border),
    precision: o.precision,
    softcap: o.softcap,
    bias: o.bias,
    alibiSlopes: list("alibiSlopes", o.alibiSlopes, "float32"),
    sinks: list("sinks", o.sinks, "float32"),
    dropout: o.dropout,
    dropoutSeed: o.seed,
    pastKey: tensors && engine.checked("past.key", tensors.key),
    pastValue: tensors && engine.checked("past.value", tensors.value),
    cache: cache?.handle("past", engine.border),
    cuSeqlensQ: list("cuSeqlens", bounds?.q),
    cuSeqlensK: list("cuSeqlens", bounds?.k),
    needWeights: o.needWeights || captures("weights"),
    needLse: o.needLse,
    needStatistics,
    captureScores: captures("scores"),
    captureCapped: captures("capped"),
    captureMasked: captures("masked"),
    captureEntropy: captures("entropy"),
  });
}

/** One stage, or an object with the listed stages. */
function pick(
  capture: CaptureStage | readonly CaptureStage[],
  stages: Record<CaptureStage, Tensor | undefined>,
): unknown {
  return typeof capture === "string"
    ? stages[capture]
    : Object.fromEntries(capture.map((name) => [name, stages[name]]));
}

const nothing: AttentionOptions = Object.freeze({});
const calledHere = { cache: "past" };
const calledHereForCapture = { cache: "past", needWeights: "capture" };

function offsets(given: AttentionOptions["causalOffset"]): readonly number[] | undefined {
  return typeof given === "number" ? [given] : typeof given === "string" ? undefined : given;
}

function readBounds(given: AttentionOptions["cuSeqlens"]): { q: Bounds; k: Bounds } | undefined {
  return given === undefined || "q" in given ? given : { q: given, k: given };
}
