// Compares the engine with the oracle on the same questions.

import type { AttentionOptions, Heed, Tensor } from "heed";
import { attention, type Question, type Values } from "./oracle.js";
import { expectClose, expectSameBits } from "./values.js";

export function floats(heed: Heed, x: Values): Tensor {
  return heed.tensor(Float32Array.from(x.data), x.shape);
}

/** Returns the options that pass a question to the engine, except `maySee`. */
export function optionsOf(heed: Heed, question: Question): AttentionOptions {
  const { mask, bias, past, alibiSlopes, sinks } = question;
  const options: AttentionOptions = {};
  const same = ["scale", "softcap", "isCausal", "causalOffset", "window", "kvLengths"] as const;
  for (const name of same)
    if (question[name] !== undefined) Object.assign(options, { [name]: question[name] });
  if (mask !== undefined) {
    options.mask = mask.isBool
      ? heed.tensor(Uint8Array.from(mask.data), mask.shape, "bool")
      : floats(heed, mask);
  }
  if (bias !== undefined) options.bias = floats(heed, bias);
  if (past !== undefined)
    options.past = { key: floats(heed, past.key), value: floats(heed, past.value) };
  if (alibiSlopes !== undefined) options.alibiSlopes = Array.from(alibiSlopes);
  if (sinks !== undefined) options.sinks = Array.from(sinks);
  return options;
}

/** Requests all results from an engine, and compares each with the oracle's. */
export function expectAsOracle(heed: Heed, question: Question, more: AttentionOptions = {}): void {
  heed.scope(() => {
    const { q, k, v, past } = question;
    const [qt, kt, vt] = [floats(heed, q), floats(heed, k), floats(heed, v)];
    const options = { ...optionsOf(heed, question), ...more };
    const result = heed.attention(qt, kt, vt, {
      ...options,
      needWeights: true,
      needLse: true,
      capture: ["scores", "capped", "masked", "weights", "entropy"],
    });
    const answer = attention(question);
    const [B, H, L] = q.shape as [number, number, number, number];
    const S = (past?.key.shape[2] ?? 0) + (k.shape[2] as number);
    const pairs = [B, H, L, S];
    const { capture } = result;
    expectClose(capture.scores, pairs, answer.scores);
    expectClose(capture.capped, pairs, answer.capped);
    expectClose(capture.masked, pairs, answer.masked);
    expectClose(capture.weights, pairs, answer.weights);
    expectClose(capture.entropy, [B, H, L], answer.entropy);
    expectClose(result.weights, pairs, answer.weights);
    expectClose(result.lse, [B, H, L], answer.lse);
    expectClose(result.output, [B, H, L, v.shape[3] as number], answer.output);
    // Results that are not requested must not change the output.
    const plain = heed.attention(qt, kt, vt, options);
    expectSameBits(plain.output.data, result.output.data);
  });
}
