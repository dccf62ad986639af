// heed.multiHeadAttention: its parameters, their checks, and the call.

import type { Engine } from "../core/engine.js";
import { describe, refuse } from "../core/error.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkOptions,
  checkTensor,
  isBoolean,
  isNumber,
  isTensor,
  isWholeNumber,
} from "../core/validate.js";
import { type AttentionOptions, attention, type If } from "./attention.js";
import type { OriginOperations } from "./origins.js";

/** The parameters of torch.nn.MultiheadAttention, in its layout. */
export interface MultiHeadAttentionParameters {
  /** [3E, E]; or leave it out and give the three below. */
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

export interface MultiHeadAttentionOptions {
  /** Must divide E. */
  heads: number;
  isCausal?: boolean;
  /** As in AttentionOptions. torch's boolean mask has the opposite sense: see `fromTorchMask`. */
  mask?: Tensor;
  /** bool [B, S], true where a key may be seen; torch's key_padding_mask has the opposite sense. */
  keyMask?: Tensor;
  needWeights?: boolean;
  /** Weights as the mean over heads, [B, L, S], instead of [B, H, L, S]. */
  averageWeights?: boolean;
  /** The share of weights that are dropped, which ones the seed says: see AttentionOptions. */
  dropout?: number;
  seed?: number;
}

export interface MultiHeadAttentionResult<
  O extends MultiHeadAttentionOptions = MultiHeadAttentionOptions,
> {
  /** [B, L, E] */
  output: Tensor;
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

export function multiHeadAttention<O extends MultiHeadAttentionOptions>(
  heed: OriginOperations,
  engine: Engine,
  query: Tensor,
  key: Tensor,
  value: Tensor,
  parameters: MultiHeadAttentionParameters,
  options: O,
): MultiHeadAttentionResult<O> {
  checkOptions("multiHeadAttention", options, multiHeadChecks);
  checkOptions("multiHeadAttention", parameters, parameterChecks, "parameter");
  const p = parameters;
  if (recording() || options.dropout) {
    const run = () => inSteps(heed, engine, [query, key, value], p, options);
    return engine.scope(run) as MultiHeadAttentionResult<O>;
  }
  engine.run(engine.module.multiHeadAttention, [
    engine.handle("query", query),
    engine.handle("key", key),
    engine.handle("value", value),
    engine.handleOrNone("inProjWeight", p.inProjWeight),
    engine.handleOrNone("qProjWeight", p.qProjWeight),
    engine.handleOrNone("kProjWeight", p.kProjWeight),
    engine.handleOrNone("vProjWeight", p.vProjWeight),
    engine.handleOrNone("inProjBias", p.inProjBias),
    engine.handleOrNone("outProjWeight", p.outProjWeight),
    engine.handleOrNone("outProjBias", p.outProjBias),
    options.heads ?? 0,
    Number(options.isCausal ?? false),
    engine.handleOrNone("mask", options.mask),
    engine.handleOrNone("keyMask", options.keyMask),
    Number(options.needWeights ?? false),
    Number(options.averageWeights ?? false),
  ]);
  return {
    output: engine.tensor(),
    weights: engine.optional(),
  } as MultiHeadAttentionResult<O>;
}

/** The same by operations that have gradients. */
function inSteps(
  heed: OriginOperations,
  engine: Engine,
  inputs: readonly [query: Tensor, key: Tensor, value: Tensor],
  p: MultiHeadAttentionParameters,
  o: MultiHeadAttentionOptions,
): MultiHeadAttentionResult {
  checkShapes(engine, inputs, p, o);
  const { inProjWeight, inProjBias, outProjWeight, outProjBias } = p;
  const weights = inProjWeight
    ? heed.split(inProjWeight, 3)
    : [p.qProjWeight, p.kProjWeight, p.vProjWeight];
  const biases = inProjBias ? heed.split(inProjBias, 3) : [];
  const [q, k, v] = inputs.map((x, i) => heed.linear(x, weights[i] as Tensor, biases[i])) as [
    Tensor,
    Tensor,
    Tensor,
  ];
  const { dropout = 0, seed = 0, isCausal = false, needWeights = false } = o;
  const masks = joinedMasks(heed, o.mask, o.keyMask);
  const options = { heads: o.heads, isCausal, needWeights, dropout, seed, ...masks };
  const heads = attention(engine, q, k, v, options);
  return {
    output: heed.linear(heads.output, outProjWeight, outProjBias),
    weights:
      o.averageWeights && heads.weights ? heed.mean(heads.weights, { axis: 1 }) : heads.weights,
  };
}

/** Two masks as options of attention, which takes one of them and a bias. */
export function joinedMasks(
  heed: OriginOperations,
  mask: Tensor | undefined,
  keyMask: Tensor | undefined,
): Pick<AttentionOptions, "mask" | "bias"> {
  if (keyMask === undefined) return mask ? { mask } : {};
  if (keyMask.dtype !== "bool" || keyMask.shape.length !== 2) {
    const got = `${keyMask.dtype} ${describe([...keyMask.shape])}`;
    throw refuse("shape", "keyMask", "bool [B, S]", got);
  }
  const [batch = 0, keys = 0] = keyMask.shape;
  const shape = [batch, 1, 1, keys];
  if (mask?.dtype !== "bool") {
    const seen = heed.reshape(keyMask, shape);
    return mask ? { mask: seen, bias: mask } : { mask: seen };
  }
  const bias = heed.zeros(shape);
  bias.data.set(Float32Array.from(keyMask.data, (see) => (see ? 0 : -Infinity)));
  return { mask, bias };
}

/** Refuses what C++ refuses, in its words. */
function checkShapes(
  engine: Engine,
  [query, key, value]: readonly [Tensor, Tensor, Tensor],
  p: MultiHeadAttentionParameters,
  o: MultiHeadAttentionOptions,
): void {
  const any = undefined;
  checkTensor(engine, "query", query, [any, any, any]);
  checkTensor(engine, "key", key, [any, any, any]);
  checkTensor(engine, "value", value, [any, any, any]);
  const [B, , E] = query.shape as [number, number, number];
  const [, S] = key.shape;
  const size = p.inProjWeight ? E : any;
  checkTensor(engine, "key", key, [B, S, size]);
  checkTensor(engine, "value", value, [B, S, size]);
  const { heads = 0, keyMask } = o;
  if (heads < 1 || E % heads !== 0)
    throw refuse("option", "heads", `a divisor of the embedding size ${E}`, String(heads));
  if (keyMask) checkTensor(engine, "keyMask", keyMask, [B, S], "bool");
  if (p.outProjWeight === undefined) throw refuse("option", "outProjWeight", "a tensor", "nothing");
  checkTensor(engine, "outProjWeight", p.outProjWeight, [E, E]);
  if (p.outProjBias) checkTensor(engine, "outProjBias", p.outProjBias, [E]);
  if (p.inProjBias) checkTensor(engine, "inProjBias", p.inProjBias, [3 * E]);
  const inputs = { qProjWeight: query, kProjWeight: key, vProjWeight: value };
  for (const name of ["qProjWeight", "kProjWeight", "vProjWeight"] as const) {
    const weight = p[name];
    if (p.inProjWeight && weight)
      throw refuse("option", name, "nothing beside inProjWeight", "a tensor");
    if (p.inProjWeight) {
      checkTensor(engine, "inProjWeight", p.inProjWeight, [3 * E, E]);
    } else if (weight === undefined) {
      throw refuse("option", name, "a tensor, because inProjWeight is left out", "nothing");
    } else {
      checkTensor(engine, name, weight, [E, inputs[name].shape[2]]);
    }
  }
}
