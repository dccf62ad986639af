/** The technical terms that each room uses. */
import type { TermName } from "../shared/glossary";
import type { RoomId } from "./rooms";

export const termsOf: Readonly<Record<RoomId, readonly TermName[]>> = {
  steps: [
    ...(["token", "embedding", "position", "query", "key", "value", "score", "softmax"] as const),
    ...(["weight", "mask", "causal", "head", "self-attention", "encoder", "decoder"] as const),
    ...(["entropy", "seed"] as const),
  ],
  learn: [
    ...(["head", "layer", "weight", "answer positions", "uniform attention"] as const),
    ...(["unseen examples", "loss", "learning rate", "seed"] as const),
  ],
  recurrent: [
    ...(["RNN", "Bahdanau attention", "self-attention", "encoder", "decoder", "weight"] as const),
    ...(["answer positions", "path length", "unseen examples"] as const),
  ],
  beyond: [
    ...(["query", "key", "value", "weight", "kernel", "bandwidth", "non-local means"] as const),
    "PSNR",
  ],
  models: [
    ...(["token", "query", "key", "value", "weight", "head", "layer", "causal"] as const),
    ...(["ablation", "encoder", "decoder", "answer positions", "uniform attention"] as const),
    ...(["unseen examples", "entropy", "induction", "logit", "softmax", "temperature"] as const),
    ...(["top-k and top-p", "seed", "perplexity", "cache", "residual stream"] as const),
    ...(["RMS norm", "feed-forward network", "logit lens", "int8"] as const),
  ],
  speed: ["SIMD", "relaxed", "wide", "GFLOP/s", "head", "mask", "causal", "cache"],
};
