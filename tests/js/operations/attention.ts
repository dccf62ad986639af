// Attention in all its forms. Other suites test its options, caches and masks.

import type { Tensor } from "heed";
import { any } from "../refusals/case.js";
import { same } from "../same.js";
import { bools, floats, gradient, list, named, type Operation } from "./operation.js";

export const attention = {
  attention: {
    calls: {},
    gradients: {
      attention: gradient([list(1, 2, 3, 2), list(1, 1, 4, 2), list(1, 1, 4, 3)], (h, q, k, v) => {
        const options = { isCausal: true, causalOffset: 1, needLse: true } as const;
        const { output, lse } = h.attention(q, k, v, options);
        return [output, lse];
      }),
      "attention with a bias, slopes and sinks": gradient(
        [list(1, 2, 3, 2), list(1, 2, 3, 2), list(1, 2, 3, 2), list(2, 1, 3), list(2), list(2)],
        (h, q, k, v, bias, alibiSlopes, sinks) =>
          h.attention(q, k, v, { bias, alibiSlopes, sinks, softcap: 3 }).output,
      ),
      "attention with a past and a mask that is added": gradient(
        [
          list(1, 1, 2, 2),
          list(1, 1, 2, 2),
          list(1, 1, 2, 2),
          list(1, 1, 1, 2),
          list(1, 1, 1, 2),
          list(2, 3),
        ],
        (h, q, k, v, key, value, mask) =>
          h.attention(q, k, v, { past: { key, value }, mask }).output,
      ),
      "attention with dropout": gradient(
        [list(1, 1, 3, 2), list(1, 1, 5, 2), list(1, 1, 5, 2)],
        (h, q, k, v) => h.attention(q, k, v, { dropout: 0.3, seed: 5 }).output,
      ),
      "attention, of which only lse is used": gradient(
        [list(1, 1, 3, 2), list(1, 1, 5, 2)],
        (h, q, k) => h.attention(q, k, k, { needLse: true }).lse,
      ),
    },
  },
  multiHeadAttention: {
    calls: {
      multiHeadAttention: [
        {
          query: floats(1, 2, 4),
          key: floats(1, 3, 4),
          value: floats(1, 3, 4),
          qProjWeight: named(floats(4, 4)),
          kProjWeight: named(floats(4, 4)),
          vProjWeight: named(floats(4, 4)),
          inProjBias: named(floats(12)),
          outProjWeight: named(floats(4, 4)),
          outProjBias: named(floats(4)),
          keyMask: named(bools(1, 3)),
        },
        (h, { query, key, value, keyMask, ...parameters }) =>
          h.multiHeadAttention(any(query), any(key), any(value), any(parameters), {
            heads: 2,
            keyMask: any(keyMask),
          }),
      ],
    },
    gradients: {
      multiHeadAttention: gradient(
        [list(2, 3, 4), list(2, 2, 4), list(12, 4), list(12), list(4, 4), list(4)],
        (h, query, key, inProjWeight, inProjBias, outProjWeight, outProjBias) =>
          h.multiHeadAttention(
            query,
            key,
            key,
            { inProjWeight, inProjBias, outProjWeight, outProjBias },
            { heads: 2, keyMask: h.tensor(Uint8Array.of(1, 1, 0, 1), [2, 2], "bool") },
          ).output,
      ),
    },
  },
  linearAttention: {
    calls: {
      linearAttention: [
        { q: floats(1, 1, 2, 3), k: floats(1, 1, 2, 3), v: floats(1, 1, 2, 3) },
        (h, { q, k, v }) => h.linearAttention(any(q), any(k), any(v), {}),
      ],
    },
    gradients: "none",
  },
  mergeAttention: {
    calls: {
      mergeAttention: [
        {
          "a.output": floats(1, 1, 2, 3),
          "a.lse": floats(1, 1, 2),
          "b.output": floats(1, 1, 2, 3),
          "b.lse": floats(1, 1, 2),
        },
        (h, { "a.output": a, "a.lse": lseA, "b.output": b, "b.lse": lseB }) =>
          h.mergeAttention(any({ output: a, lse: lseA }), any({ output: b, lse: lseB })),
      ],
    },
    gradients: "none",
  },
  average: {
    calls: {
      average: [
        { x: floats(1, 3, 4), keyMask: named(bools(1, 3)) },
        (h, { x, ...options }) => h.average(any(x), { ...options, isCausal: true }),
      ],
    },
    options: ["isCausal, keyMask", (h, t, o) => h.average(t(1, 2, 3), o)],
    gradients: {
      average: gradient([list(2, 3, 2)], (h, x) =>
        h.average(x, {
          isCausal: true,
          keyMask: h.tensor(Uint8Array.of(1, 0, 1, 1, 1, 0), [2, 3], "bool"),
        }),
      ),
    },
    types: (h, x) => {
      // @ts-expect-error the result is the output alone
      h.average(x).weights;
    },
  },
  selfSimilarity: {
    calls: { selfSimilarity: [{ x: floats(1, 3, 4) }, (h, { x }) => h.selfSimilarity(any(x))] },
    gradients: {
      selfSimilarity: gradient([list(2, 3, 2)], (h, x) => h.selfSimilarity(x).output),
    },
    types: (h, x) => {
      const { weights } = h.selfSimilarity(x);
      same<typeof weights, Tensor>(true);
    },
  },
} satisfies Record<string, Operation>;
