// Captures the attention weights of a model's modules while the model runs.

import { inCommon } from "../core/copies.js";
import { describe, refuse } from "../core/error.js";
import { noGrad } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import { checkArgument, instanceOf, isFunction } from "../core/validate.js";
import type { Heed } from "../heed.js";
import type { AttentionOptions } from "../ops/attention.js";
import { Module } from "./module.js";

/** The inputs of each head: the projections, with their positions and before the scale. */
export interface Compared {
  /** [B, H, L, D] */
  readonly query: Tensor;
  /** [B, G, S, D], where G is H unless heads share keys. */
  readonly key: Tensor;
  /** [B, G, S, D] */
  readonly value: Tensor;
  /** Computes the scaled scores with their bias, before masks, [B, H, L, S]. */
  readonly scores: () => Tensor;
}

/**
 * Receives the weights of one attention.
 *
 * @param compared computes queries, keys and values, without recording them for gradients; undefined if the
 *   attention cannot provide them
 */
export type ReceiveWeights = (path: string, weights: Tensor, compared?: () => Compared) => void;

/** Compares projected queries, keys and values, [B, L, H * size] each. */
export function comparedOf(
  heed: Heed,
  projected: readonly Tensor[],
  size: number,
  options: AttentionOptions & { capture: "scores" | "masked" },
): Compared {
  return noGrad(() => {
    const [query, key, value] = projected.map((x) => {
      const [batch, rows, width] = x.shape as [number, number, number];
      const split = heed.reshape(x, [batch, rows, width / size, size]);
      return heed.transpose(split, [0, 2, 1, 3]);
    }) as [Tensor, Tensor, Tensor];
    const scores = () => noGrad(() => heed.attention(query, key, value, options).capture as Tensor);
    return { query, key, value, scores };
  });
}

const state = inCommon("capture", () => ({
  receiving: undefined as { root: Module; receive: ReceiveWeights } | undefined,
}));

/**
 * Runs a function, and calls `receive` with the weights of every attention in `root` as soon as
 * they are computed, in training and in evaluation. For example:
 *
 *     const seen = {};
 *     nn.captureAttention(model, (path, weights) => (seen[path] = weights.toArray()), () =>
 *       model.forward(src, tgt));
 *     seen["decoder.layers.1.multihead_attn"]; // [B, H, L, S]
 *
 * A module that attends several times passes its weights each time. The weights are valid until the model
 * has run: copy the ones that you need later. The results of the model do not change.
 *
 * @param receive gets the path of the attention module in `root`, "" for `root` itself, and its weights:
 *   [B, H, L, S] for MultiHeadAttention, [B, L, S] for BahdanauAttention and LuongAttention.
 *   MultiHeadAttention without a cache also passes a function that returns the queries, keys, values and
 *   scores of these weights
 * @param run must not be async
 * @returns the result of `run`
 * @throws HeedError "option" if `run` returns a promise
 * @example
 * ```ts
 * const layer = new nn.TransformerEncoderLayer(heed, 8, 2);
 * const seen: string[] = [];
 * nn.captureAttention(layer, (path, weights) => seen.push(`${path} ${weights.shape}`), () => layer.forward(heed.ones([1, 3, 8])));
 * console.log(seen); // prints: [ 'self_attn 1,2,3,3' ]
 * ```
 */
export function captureAttention<T>(root: Module, receive: ReceiveWeights, run: () => T): T {
  checkArgument("root", root, instanceOf("a module", Module));
  checkArgument("receive", receive, isFunction);
  checkArgument("run", run, isFunction);
  const outer = state.receiving;
  state.receiving = { root, receive };
  try {
    const result = run();
    if (result instanceof Promise) {
      result.catch(() => {});
      throw refuse("option", "captureAttention", "a function that is not async", describe(result));
    }
    return result;
  } finally {
    state.receiving = outer;
  }
}

/** Runs a function without gradients, in a scope, and passes the weights of attention in `root` to `receive`, if given. */
export function inferring<T>(root: Module, receive: ReceiveWeights | undefined, run: () => T): T {
  const captured = () => (receive ? captureAttention(root, receive, run) : run());
  return noGrad(() => root.heed.scope(captured));
}

/** Returns the function that receives this module's weights; undefined if there is none. */
export function receiverOf(
  module: Module,
): ((weights: Tensor, compared?: () => Compared) => void) | undefined {
  if (state.receiving === undefined) return undefined;
  const { root, receive } = state.receiving;
  const path = module === root ? "" : root.nameOf(module);
  return path === undefined ? undefined : (weights, compared) => receive(path, weights, compared);
}
