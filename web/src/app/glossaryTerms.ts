/** The technical terms that each room uses. */
import type { TermName } from "../shared/glossary";
import type { RoomId } from "./rooms";

export const termsOf: Readonly<Record<RoomId, readonly TermName[]>> = {
  steps: [
    ...(["token", "embedding", "position", "query", "key", "value", "score", "softmax"] as const),
    ...(["weight", "mask", "causal", "head", "self-attention", "encoder", "decoder"] as const),
    ...(["entropy", "seed"] as const),
  ],
  heads: [
    ...(["token", "query", "key", "weight", "head", "layer", "encoder", "decoder"] as const),
    ...(["right places", "uniform attention", "held out", "entropy"] as const),
  ],
  learn: [
    ...(["head", "layer", "weight", "right places", "uniform attention", "held out"] as const),
    ...(["loss", "learning rate", "seed"] as const),
  ],
  recurrent: [
    ...(["RNN", "Bahdanau attention", "self-attention", "encoder", "decoder", "weight"] as const),
    ...(["right places", "path length", "held out"] as const),
  ],
  beyond: [
    ...(["query", "key", "value", "weight", "kernel", "bandwidth", "non-local means"] as const),
    "PSNR",
  ],
  write: [
    ...([
      "token",
      "logit",
      "softmax",
      "temperature",
      "top-k and top-p",
      "seed",
      "perplexity",
    ] as const),
    ...([
      "weight",
      "query",
      "key",
      "value",
      "head",
      "layer",
      "causal",
      "induction",
      "cache",
      "residual stream",
      "RMS norm",
      "feed-forward network",
      "logit lens",
    ] as const),
  ],
  yours: [
    ...(["token", "layer", "head", "query", "key", "value", "weight", "causal"] as const),
    ...(["entropy", "softmax", "temperature", "top-k and top-p", "seed", "int8"] as const),
  ],
  speed: ["SIMD", "relaxed", "wide", "GFLOP/s", "head", "mask", "causal", "cache"],
};
