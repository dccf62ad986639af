// The table "Kinds of attention" of the package's guide: each of its rows has a test of its name.

/// <reference types="vite/client" />

import type { Heed, Tensor } from "heed";
import { expect, test } from "vitest";
import guide from "../../../bindings/js/README.md?raw";
import { expectAsOracle, floats } from "../compare.js";
import { describeEngines } from "../engine.js";
import {
  attention,
  concatenate,
  joinHeads,
  packedAttention,
  type Question,
  rowsOf,
  splitHeads,
  type Values,
} from "../oracle.js";
import { cosine, expectClose, expectSameBits, Random, upload } from "../values.js";

/** Two sequences, four query heads and two key/value heads; more than one tile of each. */
function question(random: Random, L = 60, S = 150) {
  return {
    q: random.array([2, 4, L, 12], 2),
    k: random.array([2, 2, S, 12], 2),
    v: random.array([2, 2, S, 10]),
  };
}

const rows: Record<string, (heed: Heed, random: Random) => void> = {
  "scale of the scores"(heed, random) {
    for (const scale of [0.7, -0.3, 0]) expectAsOracle(heed, { ...question(random), scale });
  },

  causal(heed, random) {
    for (const [L, S] of [
      [150, 150],
      [10, 150],
      [150, 10],
    ] as const) {
      expectAsOracle(heed, { ...question(random, L, S), isCausal: true });
    }
  },

  "position of the diagonal"(heed, random) {
    const offsets = ["topLeft", "bottomRight", 7, -20, [30, -5], [4]] as const;
    for (const causalOffset of offsets) {
      expectAsOracle(heed, { ...question(random), isCausal: true, causalOffset });
      expectAsOracle(heed, { ...question(random, 150, 60), window: [9, 3], causalOffset });
    }
    // bottomRight counts only the keys that exist.
    const lengths = { kvLengths: [100, 20], causalOffset: "bottomRight" } as const;
    expectAsOracle(heed, { ...question(random), isCausal: true, ...lengths });
  },

  "sliding window"(heed, random) {
    for (const window of [
      [0, 0],
      [5, -1],
      [-1, 5],
      [40, 40],
      [-1, -1],
    ] as const) {
      expectAsOracle(heed, { ...question(random), window });
    }
    expectAsOracle(heed, { ...question(random, 150, 150), window: [30, 30], isCausal: true });
    // A window that is wider than any sequence.
    expectAsOracle(heed, { ...question(random), window: [2 ** 40, 2 ** 53] });
  },

  "boolean mask, true = may be seen"(heed, random) {
    for (const shape of [
      [2, 4, 60, 150],
      [2, 1, 1, 150],
      [60, 150],
      [60, 40],
    ]) {
      const mask = { ...random.bools(shape), isBool: true };
      expectAsOracle(heed, { ...question(random), mask });
    }
  },

  "additive mask"(heed, random) {
    const mask = random.array([4, 60, 150], 3);
    for (let i = 0; i < mask.data.length; i += 5) mask.data[i] = -Infinity;
    expectAsOracle(heed, { ...question(random), mask: { ...mask, isBool: false } });
    const short = { ...random.array([60, 40], 3), isBool: false };
    expectAsOracle(heed, { ...question(random), mask: short });
    const bias = random.array([4, 1, 150], 3);
    expectAsOracle(heed, { ...question(random), bias });
    const allowed = { ...random.bools([60, 150]), isBool: true };
    expectAsOracle(heed, { ...question(random), bias, mask: allowed });
  },

  "key lengths per sequence"(heed, random) {
    for (const kvLengths of [
      [150, 0],
      [1, 129],
    ]) {
      expectAsOracle(heed, { ...question(random), kvLengths });
      expectAsOracle(heed, { ...question(random), kvLengths, isCausal: true });
    }
  },

  "packed sequences"(heed, random) {
    const [H, G, D, Dv] = [4, 2, 12, 10];
    const same = [0, 3, 3, 60, 131];
    for (const cuSeqlens of [
      { q: same, k: same },
      { q: [0, 5, 5, 55, 60], k: [0, 9, 20, 150, 150] },
    ]) {
      const [Tq, Tk] = [cuSeqlens.q.at(-1) as number, cuSeqlens.k.at(-1) as number];
      const q = random.array([Tq, H, D], 2);
      const k = random.array([Tk, G, D], 2);
      const v = random.array([Tk, G, Dv]);
      for (const more of [
        {},
        { isCausal: true },
        { window: [4, 2] as const, softcap: 5 },
        { isCausal: true, causalOffset: [0, 1, 2, 3], alibiSlopes: [0.1, 0.2, 0.3, 0] },
        { isCausal: true, causalOffset: "topLeft" as const, sinks: [1, -1, 0, 2] },
      ]) {
        const answer = packedAttention({ q, k, v, cuSeqlens, ...more });
        heed.scope(() => {
          const ints = (list: number[]) => heed.tensor(Int32Array.from(list));
          const forms = [cuSeqlens, { q: ints(cuSeqlens.q), k: ints(cuSeqlens.k) }];
          for (const form of cuSeqlens.k === same ? [...forms, same] : forms) {
            const result = heed.attention(upload(heed, q), upload(heed, k), upload(heed, v), {
              ...more,
              cuSeqlens: form,
              needLse: true,
              capture: "entropy",
            });
            expectClose(result.output, [Tq, H, Dv], answer.output);
            expectClose(result.lse, [H, Tq], answer.lse);
            expectClose(result.capture, [H, Tq], answer.entropy);
          }
        });
      }
    }
  },

  "grouped and multi-query heads"(heed, random) {
    const [B, L, S, D, Dv] = [2, 9, 11, 8, 6];
    for (const [H, G] of [
      [8, 2],
      [6, 1],
      [3, 3],
    ] as const) {
      const [q, k, v] = [
        random.array([B, L, H * D]),
        random.array([B, S, G * D]),
        random.array([B, S, G * Dv]),
      ];
      const split = { q: splitHeads(q, H), k: splitHeads(k, G), v: splitHeads(v, G) };
      expectAsOracle(heed, split);
      heed.scope(() => {
        // Without kvHeads, there are as many as heads.
        const options = { heads: H, ...(G !== H && { kvHeads: G }), needWeights: true } as const;
        const tensors = [upload(heed, q), upload(heed, k), upload(heed, v)] as const;
        const { output, weights } = heed.attention(...tensors, options);
        const answer = attention(split);
        const joined = joinHeads({ data: answer.output, shape: [B, H, L, Dv] });
        expectClose(output, [B, L, H * Dv], joined.data);
        expectClose(weights, [B, H, L, S], answer.weights);
      });
    }
  },

  softcap(heed, random) {
    for (const softcap of [0.5, 20]) expectAsOracle(heed, { ...question(random), softcap });
    const bias = random.array([60, 150], 3);
    expectAsOracle(heed, { ...question(random), softcap: 2, bias, isCausal: true });
  },

  ALiBi(heed, random) {
    const alibiSlopes = [0.5, 0.25, 0, -0.125];
    expectAsOracle(heed, { ...question(random), alibiSlopes });
    // Distances are counted from the query's position.
    const causalOffset = [90, 3];
    expectAsOracle(heed, { ...question(random), alibiSlopes, isCausal: true, causalOffset });
  },

  "attention sinks"(heed, random) {
    const sinks = [3, -2, 0, -Infinity];
    expectAsOracle(heed, { ...question(random), sinks });
    // A query that sees no key gets zeros, and the sink as its log-sum-exp.
    expectAsOracle(heed, { ...question(random), sinks, kvLengths: [0, 140], isCausal: true });
  },

  dropout(heed, random) {
    const { q, k, v } = question(random);
    heed.scope(() => {
      const [qt, kt, vt] = [upload(heed, q), upload(heed, k), upload(heed, v)];
      const attend = (options: { dropout?: number; seed?: number }, values = vt) => {
        const given = { ...options, isCausal: true, causalOffset: 90 };
        const { output, weights, lse } = heed.attention(qt, kt, values, {
          ...given,
          needWeights: true,
          needLse: true,
        });
        return { output, weights: weights.data.slice(), lse: lse.data.slice() };
      };
      const plain = attend({});
      const dropped = attend({ dropout: 0.3, seed: 5 });
      // Each weight is dropped or multiplied by 1 / 0.7; the log-sum-exp counts all weights.
      let [seen, lost, worst] = [0, 0, 0];
      for (const [i, weight] of plain.weights.entries()) {
        const left = dropped.weights[i] as number;
        if (weight === 0) expect(left).toBe(0);
        if (weight > 0) ++seen;
        if (weight > 0 && left === 0) ++lost;
        if (left !== 0) worst = Math.max(worst, Math.abs(left - weight / 0.7));
      }
      expect(worst).toBeLessThan(1e-6);
      expect(Math.abs(lost / seen - 0.3)).toBeLessThan(5 * Math.sqrt((0.3 * 0.7) / seen));
      expectSameBits(dropped.lse, plain.lse);
      // With an identity matrix as values, the output equals the weights that produced it.
      const identity = new Float32Array(2 * 2 * 150 * 150).map((_, i) =>
        i % 150 === Math.floor(i / 150) % 150 ? 1 : 0,
      );
      const shown = attend({ dropout: 0.3, seed: 5 }, heed.tensor(identity, [2, 2, 150, 150]));
      expectClose(shown.output, [2, 4, 60, 150], dropped.weights);
      // The seed determines the dropped weights; it is 0 by default.
      const other = attend({ dropout: 0.3, seed: 6 }).weights;
      expect(other.some((weight, i) => (weight === 0) !== (dropped.weights[i] === 0))).toBe(true);
      expectSameBits(attend({ dropout: 0.3, seed: 5 }).weights, dropped.weights);
      expectSameBits(attend({ dropout: 0.3 }).weights, attend({ dropout: 0.3, seed: 0 }).weights);
      expectSameBits(attend({ dropout: 0, seed: 5 }).weights, plain.weights);
    });
  },

  "past and present"(heed, random) {
    const past = { key: random.array([2, 2, 131, 12], 2), value: random.array([2, 2, 131, 10]) };
    const asked = { ...question(random, 7, 9), past };
    expectAsOracle(heed, asked);
    expectAsOracle(heed, { ...asked, isCausal: true });
    expectAsOracle(heed, { ...asked, isCausal: true, kvLengths: [139, 20] });
    heed.scope(() => {
      const { q, k, v } = asked;
      const attend = (given: { key: Tensor; value: Tensor }) =>
        heed.attention(upload(heed, q), upload(heed, k), upload(heed, v), { past: given });
      const first = attend({ key: upload(heed, past.key), value: upload(heed, past.value) });
      const both = { key: concatenate(past.key, k), value: concatenate(past.value, v) };
      expectClose(first.presentKey, [2, 2, 140, 12], both.key.data, 0);
      expectClose(first.presentValue, [2, 2, 140, 10], both.value.data, 0);
      // The present is the past of the next call.
      const second = attend({ key: first.presentKey, value: first.presentValue });
      expectClose(second.output, [2, 4, 7, 10], attention({ q, k, v, past: both }).output);
    });
  },

  "cache in place"(heed, random) {
    const { q, k, v } = question(random, 140, 140);
    const answer = attention({ q, k, v, isCausal: true });
    const output = { data: answer.output, shape: [2, 4, 140, 10] };
    const sizes = { batch: 2, heads: 2, headSize: 12, valueSize: 10, capacity: 140 };
    heed.scope(() => {
      using cache = heed.createKvCache(sizes);
      const steps = [0, 125, 126, 131, 140];
      for (const [i, from] of steps.slice(0, -1).entries()) {
        const to = steps[i + 1] as number;
        const part = (x: Values) => floats(heed, rowsOf(x, from, to));
        const result = heed.attention(part(q), part(k), part(v), { past: cache, isCausal: true });
        expectClose(result.output, [2, 4, to - from, 10], rowsOf(output, from, to).data);
        expect(cache.lengths).toEqual([to, to]);
      }
    });
  },

  "block mask"(heed, random) {
    const maySee = ({ b, h, q, k }: { b: number; h: number; q: number; k: number }) =>
      (q * 7 + k * 3 + h + b) % 5 < 2 || (k > 130 && q < 48);
    for (const sizes of [
      { batch: 2, heads: 4 },
      { batch: 1, heads: 4 },
      { batch: 2, heads: 1 },
      {},
    ]) {
      using blockMask = heed.blockMask(maySee, { ...sizes, queries: 60, keys: 150 });
      const { batch, heads } = blockMask.sizes;
      const asked: Question = {
        ...question(random),
        maySee: ({ b, h, q, k }) =>
          maySee({ b: batch === 1 ? 0 : b, h: heads === 1 ? 0 : h, q, k }),
      };
      expectAsOracle(heed, asked, { blockMask });
      expectAsOracle(heed, { ...asked, isCausal: true, window: [-1, 20] }, { blockMask });
    }
  },

  "log-sum-exp, merging parts"(heed, random) {
    const { q, k, v } = question(random);
    const answer = attention({ q, k, v });
    heed.scope(() => {
      const part = (from: number, to: number) => {
        const visible = new Uint8Array(150).map((_, j) => +(j >= from && j < to));
        return heed.attention(floats(heed, q), floats(heed, k), floats(heed, v), {
          mask: heed.tensor(visible, [150], "bool"),
          needLse: true,
        });
      };
      const merged = [part(0, 30), part(30, 31), part(31, 31), part(31, 150)].reduce((a, b) =>
        Object.assign(a, heed.mergeAttention(a, b)),
      );
      expectClose(merged.output, [2, 4, 60, 10], answer.output);
      expectClose(merged.lse, [2, 4, 60], answer.lse);
    });
  },

  weights(heed, random) {
    const { q, k, v } = question(random);
    const mask = random.bools([60, 150], 0.1);
    mask.data.fill(0, 0, 150);
    const answer = attention({ q, k, v, mask: { ...mask, isBool: true } });
    heed.scope(() => {
      const { weights } = heed.attention(floats(heed, q), floats(heed, k), floats(heed, v), {
        mask: upload(heed, mask),
        needWeights: true,
      });
      expectClose(weights, [2, 4, 60, 150], answer.weights);
    });
  },

  "any stage of the computation"(heed, random) {
    const asked: Question = {
      ...question(random),
      softcap: 3,
      isCausal: true,
      causalOffset: 20,
      alibiSlopes: [0.1, 0.2, 0.3, 0.4],
      sinks: [1, 2, 3, 4],
      kvLengths: [150, 40],
    };
    const answer = attention(asked);
    heed.scope(() => {
      const { q, k, v, ...options } = asked;
      const given = options as object;
      for (const stage of ["scores", "capped", "masked", "weights", "entropy"] as const) {
        const { capture } = heed.attention(floats(heed, q), floats(heed, k), floats(heed, v), {
          ...given,
          capture: stage,
        });
        const shape = stage === "entropy" ? [2, 4, 60] : [2, 4, 60, 150];
        expectClose(capture, shape, answer[stage]);
      }
    });
  },

  "int8 scores"(heed, random) {
    const asked = question(random, 150, 300);
    const [q, k, v] = [upload(heed, asked.q), upload(heed, asked.k), upload(heed, asked.v)];
    const output = (precision: "float32" | "int8-scores") =>
      heed.attention(q, k, v, { isCausal: true, precision }).output.data as Float32Array;
    const [exact, rounded] = [output("float32"), output("int8-scores")];
    expect(cosine(exact, rounded)).toBeGreaterThan(0.9995);
    expect(cosine(exact, rounded)).toBeLessThan(1 - 1e-9);
  },

  "16-bit floats"(heed, random) {
    const asked = question(random);
    // Only the rounding of the result differs: the oracle starts from the rounded inputs.
    for (const [dtype, epsilon] of [
      ["float16", 2 ** -11],
      ["bfloat16", 2 ** -8],
    ] as const) {
      heed.scope(() => {
        const half = (x: Values) => heed.tensor(Float32Array.from(x.data), x.shape, dtype);
        const whole = (x: Tensor) => ({
          data: heed.cast(x, "float32").data.slice(),
          shape: x.shape,
        });
        const [q, k, v] = [half(asked.q), half(asked.k), half(asked.v)];
        const { output, lse } = heed.attention(q, k, v, { isCausal: true, needLse: true });
        const answer = attention({ q: whole(q), k: whole(k), v: whole(v), isCausal: true });
        expect(output.dtype).toBe(dtype);
        expectClose(heed.cast(output, "float32"), [2, 4, 60, 10], answer.output, epsilon);
        expectClose(lse, [2, 4, 60], answer.lse);
      });
    }
  },
};

describeEngines((heed) => {
  for (const [name, check] of Object.entries(rows)) {
    test(name, () => check(heed(), new Random(name.length)));
  }
});

test("the rows of the guide's table are these tests, and these tests are its rows", () => {
  const section = guide.split(/^## /m).find((text) => text.startsWith("Kinds of attention\n"));
  const lines = [...(section ?? "").matchAll(/^\| (.*?) \|/gm)].map(([, cell]) => cell);
  const [, line, ...cells] = lines;
  expect(line).toBe("---");
  expect(cells.sort()).toEqual(Object.keys(rows).sort());
});
