// Multi-head attention: in one call, or in steps that a tape records and that can use a cache.

import type { Engine } from "../core/engine.js";
import { describe, refuse } from "../core/error.js";
import {
  readMultiHeadAttentionResult,
  withMultiHeadAttentionOptions,
  withMultiHeadAttentionParameters,
} from "../core/members.js";
import { optional } from "../core/objects.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkOptions,
  isBoolean,
  isNumber,
  isTensor,
  isWholeNumber,
} from "../core/validate.js";
import { type AttentionOptions, attention, type If, type NothingElse } from "./attention.js";
import { tensor, zeros } from "./create.js";
import type { KvCache } from "./kvCache.js";
import { linear } from "./linear.js";
import { reshape, split } from "./rearrange.js";
import { mean } from "./sums.js";

/** The parameters of torch.nn.MultiheadAttention, in its layout. */
export interface MultiHeadAttentionParameters {
  /** [3E, E]; or else the three weights below. */
  inProjWeight?: Tensor;
  /** [E, E] */
  qProjWeight?: Tensor;
  /** [E, size of a key] */
  kProjWeight?: Tensor;
  /** [E, size of a value] */
  vProjWeight?: Tensor;
  /** [3E] */
  inProjBias?: Tensor;
  /** [E, E] */
  outProjWeight: Tensor;
  /** [E] */
  outProjBias?: Tensor;
}

/** Options of `multiHeadAttention`. */
export interface MultiHeadAttentionOptions {
  /** Must divide E. */
  heads: number;
  /** Query i sees key j only if j <= i. */
  isCausal?: boolean;
  /** As in AttentionOptions. torch's boolean mask has the opposite sense: see `fromTorchMask`. */
  mask?: Tensor;
  /** bool [B, S], true where a key may be seen; torch's key_padding_mask has the opposite sense. */
  keyMask?: Tensor;
  /** Return the weights. */
  needWeights?: boolean;
  /** Weights as the mean over heads, [B, L, S], instead of [B, H, L, S]. */
  averageWeights?: boolean;
  /** The proportion of weights that are dropped, and its seed: see AttentionOptions. */
  dropout?: number;
  /** The seed of the choice of dropped weights; 0 by default. */
  seed?: number;
}

/** The result of `multiHeadAttention`. */
export interface MultiHeadAttentionResult<
  O extends MultiHeadAttentionOptions = MultiHeadAttentionOptions,
> {
  /** [B, L, E] */
  output: Tensor;
  /** [B, H, L, S], or [B, L, S] with `averageWeights`; undefined unless `needWeights`. */
  weights: If<O["needWeights"], Tensor>;
}

const parameterChecks = {
  inProjWeight: isTensor,
  qProjWeight: isTensor,
  kProjWeight: isTensor,
  vProjWeight: isTensor,
  inProjBias: isTensor,
  outProjWeight: isTensor,
  outProjBias: isTensor,
} satisfies Record<keyof MultiHeadAttentionParameters, Check>;

const multiHeadChecks = {
  heads: isWholeNumber(1),
  isCausal: isBoolean,
  mask: isTensor,
  keyMask: isTensor,
  needWeights: isBoolean,
  averageWeights: isBoolean,
  dropout: isNumber,
  seed: isWholeNumber(0),
} satisfies Record<keyof MultiHeadAttentionOptions, Check>;

/**
 * Multi-head attention: projections, attention, output projection (Vaswani et al., 2017, section
 * 3.2.2), with the parameters of torch.nn.MultiheadAttention.
 *
 * @param query [B, L, E]
 * @param key [B, S, size of a key]
 * @param value [B, S, size of a value]
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const x = heed.normal([1, 3, 4], { seed: 1 }); // [B, L, E]
 * const parameters = { inProjWeight: heed.normal([12, 4], { seed: 2 }), outProjWeight: heed.normal([4, 4], { seed: 3 }) };
 * const { output, weights } = heed.multiHeadAttention(x, x, x, parameters, { heads: 2, needWeights: true });
 * console.log(output.shape, weights.shape); // prints: [ 1, 3, 4 ] [ 1, 2, 3, 3 ]
 * ```
 */
export function multiHeadAttention<const O extends MultiHeadAttentionOptions>(
  engine: Engine,
  query: Tensor,
  key: Tensor,
  value: Tensor,
  parameters: MultiHeadAttentionParameters,
  options: O & NothingElse<O, MultiHeadAttentionOptions>,
): MultiHeadAttentionResult<O> {
  checkOptions("multiHeadAttention", options, multiHeadChecks);
  checkOptions("multiHeadAttention", parameters, parameterChecks, "parameter");
  const o: MultiHeadAttentionOptions = options;
  const { heads, isCausal, mask, keyMask, needWeights, averageWeights } = o;
  const args = engine.handles({ query, key, value });
  withMultiHeadAttentionParameters(engine, args, parameters);
  const members = { heads, isCausal, mask, keyMask, needWeights, averageWeights };
  withMultiHeadAttentionOptions(engine, args, members);
  const { module } = engine;
  if (recording() || o.dropout) {
    engine.run(module.checkMultiHeadAttention, args);
    return inSteps(engine, [query, key, value], parameters, o) as MultiHeadAttentionResult<O>;
  }
  engine.run(module.multiHeadAttention, args);
  return readMultiHeadAttentionResult(engine) as MultiHeadAttentionResult<O>;
}

/**
 * The same by operations that have gradients, or with a cache of projected keys and values.
 *
 * @param inputs with a cache, keys and values may be left out: queries then attend to the cached
 * ones
 */
export function inSteps(
  engine: Engine,
  inputs: Inputs,
  p: MultiHeadAttentionParameters,
  o: MultiHeadAttentionOptions,
  cache?: KvCache,
): MultiHeadAttentionResult {
  const run = (): MultiHeadAttentionResult => {
    const [q, k, v] = project(engine, inputs, p);
    const { heads, dropout = 0, seed = 0, isCausal = false, needWeights = false } = o;
    const attended = attention(engine, q, k, v, {
      ...{ heads, isCausal, needWeights, dropout, seed },
      ...joinedMasks(engine, o.mask, o.keyMask),
      ...optional({ past: cache }),
    });
    const { weights } = attended;
    return {
      output: linear(engine, attended.output, p.outProjWeight, p.outProjBias),
      weights: o.averageWeights && weights ? mean(engine, weights, { axis: 1 }) : weights,
    };
  };
  return engine.scope(() => (cache ? cache.appending(run) : run()));
}

type Inputs = readonly [query: Tensor, key: Tensor | undefined, value: Tensor | undefined];

type Projected = [q: Tensor, k: Tensor, v: Tensor];

/** Queries, keys and values, [B, .., E] each; keys and values that are not given have no rows. */
export function project(
  engine: Engine,
  [query, key, value]: Inputs,
  p: MultiHeadAttentionParameters,
): Projected {
  const { inProjWeight, inProjBias } = p;
  // One product for all three. A tape records three, whose gradients need no copy of the parts.
  if (inProjWeight && key === query && value === query && !recording())
    return split(engine, linear(engine, query, inProjWeight, inProjBias), 3, {
      axis: -1,
    }) as Projected;
  const biases = inProjBias ? split(engine, inProjBias, 3) : [];
  const weights = inProjWeight
    ? split(engine, inProjWeight, 3)
    : [p.qProjWeight, p.kProjWeight, p.vProjWeight];
  const projected = (x: Tensor, i: number) => linear(engine, x, weights[i] as Tensor, biases[i]);
  const q = projected(query, 0);
  if (key && value) return [q, projected(key, 1), projected(value, 2)];
  if (key || value) throw refuse("dtype", key ? "value" : "key", "a tensor", "undefined");
  const [B = 0, , E = 0] = q.shape;
  const none = zeros(engine, [B, 0, E]);
  return [q, none, none];
}

/** Two masks as options of attention, which takes one mask and a bias. */
function joinedMasks(
  engine: Engine,
  mask: Tensor | undefined,
  keyMask: Tensor | undefined,
): Pick<AttentionOptions, "mask" | "bias"> {
  if (keyMask === undefined) return optional({ mask });
  if (keyMask.dtype !== "bool" || keyMask.shape.length !== 2) {
    const got = `${keyMask.dtype} ${describe([...keyMask.shape])}`;
    throw refuse("shape", "keyMask", "bool [B, S]", got);
  }
  const [batch = 0, keys = 0] = keyMask.shape;
  const shape = [batch, 1, 1, keys];
  if (mask?.dtype !== "bool") {
    const seen = reshape(engine, keyMask, shape);
    return mask ? { mask: seen, bias: mask } : { mask: seen };
  }
  const bias = zeros(engine, shape);
  bias.data.set(Float32Array.from(keyMask.data, (see) => (see ? 0 : -Infinity)));
  return { mask, bias };
}

/**
 * Converts a boolean mask of torch.nn.MultiheadAttention, where true hides a key, to Heed's
 * meaning, where true makes it visible.
 *
 * @param mask bool of any shape, which is the result's
 * @throws HeedError "dtype", "memory", "disposed"
 * @example
 * ```ts
 * const padding = heed.tensor([[false, false, true]]); // key_padding_mask: the last one is hidden
 * console.log(heed.fromTorchMask(padding).toArray()); // prints: [ [ true, true, false ] ]
 * ```
 */
export function fromTorchMask(engine: Engine, mask: Tensor): Tensor {
  engine.handle("mask", mask);
  if (mask.dtype !== "bool") throw refuse("dtype", "mask", "bool", mask.dtype);
  const allowed = (mask.data as Uint8Array).map((value) => 1 - value);
  return tensor(engine, allowed, mask.shape, "bool");
}
