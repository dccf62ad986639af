// Attention weights of any module in a model, while it runs.

import { inCommon } from "../core/copies.js";
import { describe, refuse } from "../core/error.js";
import type { Tensor } from "../core/tensor.js";
import { checkArgument, isFunction } from "../core/validate.js";
import { Module } from "./module.js";

/** The queries and keys of each head, projected and not yet scaled. */
export interface Compared {
  /** [B, H, L, D] */
  readonly query: Tensor;
  /** [B, H, S, D] */
  readonly key: Tensor;
}

/** @param compared computes the queries and keys again, unrecorded; undefined for an attention without them */
export type ReceiveWeights = (path: string, weights: Tensor, compared?: () => Compared) => void;

const state = inCommon("capture", () => ({
  receiving: undefined as { root: Module; receive: ReceiveWeights } | undefined,
}));

/**
 * Runs a function and passes on the weights of every attention in `root` as they are computed, in training
 * and evaluation:
 *
 *     const seen = {};
 *     nn.captureAttention(model, (path, weights) => (seen[path] = weights.toArray()), () =>
 *       model.forward(src, tgt));
 *     seen["decoder.layers.1.multihead_attn"]; // [B, H, L, S]
 *
 * A module that attends several times passes on its weights each time. They are valid until the model has
 * run: copy those to keep. All other results stay the same.
 *
 * @param receive takes the path of the attention module in `root`, "" for itself, and its weights:
 *   [B, H, L, S] of MultiHeadAttention, [B, L, S] of BahdanauAttention and LuongAttention; of
 *   MultiHeadAttention without a cache also a function that gives the queries and keys they come from
 * @param run must not be async
 */
export function captureAttention<T>(root: Module, receive: ReceiveWeights, run: () => T): T {
  checkArgument("root", root, {
    expected: "a module",
    accepts: (value) => value instanceof Module,
  });
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

/** The receiver of this module's weights, if there is one. */
export function receiverOf(
  module: Module,
): ((weights: Tensor, compared?: () => Compared) => void) | undefined {
  if (state.receiving === undefined) return undefined;
  const { root, receive } = state.receiving;
  const path = module === root ? "" : root.nameOf(module);
  return path === undefined ? undefined : (weights, compared) => receive(path, weights, compared);
}
