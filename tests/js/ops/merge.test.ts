// Merging parts of one attention, in any order, gives the whole attention.

import type { Heed, PartialAttention, Tensor } from "heed";
import { expect, test } from "vitest";
import { floats } from "../compare.js";
import { describeEngines } from "../engine.js";
import { attention, rowsOf, type Values } from "../oracle.js";
import { expectClose, expectSameBits, Random } from "../values.js";

interface Inputs {
  q: Values;
  k: Values;
  v: Values;
}

const [B, H, G, L, S, D, Dv] = [2, 4, 2, 9, 200, 8, 6];

function inputs(random: Random): Inputs {
  return {
    q: random.array([B, H, L, D], 3),
    k: random.array([B, G, S, D], 3),
    v: random.array([B, G, S, Dv]),
  };
}

/** Attention over the keys from `begin` to end - 1. */
function part(heed: Heed, { q, k, v }: Inputs, begin: number, end: number): PartialAttention {
  const [keys, values] = [floats(heed, rowsOf(k, begin, end)), floats(heed, rowsOf(v, begin, end))];
  const { output, lse } = heed.attention(floats(heed, q), keys, values, { needLse: true });
  return { output, lse };
}

function expectWhole(merged: PartialAttention, { q, k, v }: Inputs): void {
  const answer = attention({ q, k, v });
  expectClose(merged.output, [B, H, L, Dv], answer.output);
  expectClose(merged.lse, [B, H, L], answer.lse);
}

describeEngines((heed) => {
  test("NaN in a query of a decode step reaches its output and lse, with a sink too", () => {
    const random = new Random(11);
    for (const length of [5, 513, 700]) {
      const cache = heed().createKvCache({ heads: 1, headSize: 8, capacity: length });
      const keys = floats(heed(), random.array([1, 1, length, 8]));
      heed().attention(floats(heed(), random.array([1, 1, 1, 8])), keys, keys, { past: cache });
      const query = heed().tensor([[[[1, 2, Number.NaN, 4, 5, 6, 7, 8]]]]);
      const none = heed().zeros([1, 1, 0, 8]);
      for (const sinks of [undefined, heed().tensor([0])]) {
        const options = { past: cache, needLse: true, ...(sinks && { sinks }) } as const;
        const { output, lse } = heed().attention(query, none, none, options);
        expect([...output.data, ...lse.data].every(Number.isNaN), `${length} keys`).toBe(true);
      }
    }
  });

  test("parts cut anywhere and merged in any order give attention over all keys", () => {
    const random = new Random(81);
    for (let round = 0; round < 10; ++round) {
      const x = inputs(random);
      const cuts = [0, S, ...Array.from({ length: random.whole(1, 6) }, () => random.whole(0, S))];
      cuts.sort((a, b) => a - b);
      heed().scope(() => {
        const parts = cuts.slice(1).map((end, i) => part(heed(), x, cuts[i] as number, end));
        while (parts.length > 1) {
          const take = () => parts.splice(random.whole(0, parts.length - 1), 1)[0];
          parts.push(heed().mergeAttention(take() as PartialAttention, take() as PartialAttention));
        }
        expectWhole(parts[0] as PartialAttention, x);
      });
    }
  });

  test("a part without keys changes nothing, on either side", () => {
    const x = inputs(new Random(82));
    heed().scope(() => {
      const [some, none] = [part(heed(), x, 0, 100), part(heed(), x, 100, 100)];
      expect(none.lse.data.every((value) => value === -Infinity)).toBe(true);
      for (const merged of [heed().mergeAttention(some, none), heed().mergeAttention(none, some)]) {
        expectSameBits(merged.output.data, some.output.data);
        expectSameBits(merged.lse.data, some.lse.data);
      }
      const nothing = heed().mergeAttention(none, none);
      expectSameBits(nothing.output.data, new Float32Array(B * H * L * Dv));
      expectSameBits(nothing.lse.data, none.lse.data);
    });
  });

  test("the output of a part without keys is not read", () => {
    heed().scope(() => {
      const tensor = (values: number[], ...shape: number[]) => heed().tensor(values, shape);
      const a = { output: tensor([1, 2], 1, 1, 2, 1), lse: tensor([0, -Infinity], 1, 1, 2) };
      const b = {
        output: tensor([Number.NaN, 4], 1, 1, 2, 1),
        lse: tensor([-Infinity, 5], 1, 1, 2),
      };
      const merged = heed().mergeAttention(a, b);
      expect(merged.output.toArray()).toEqual([[[[1], [4]]]]);
      expect(merged.lse.toArray()).toEqual([[[0, 5]]]);
    });
  });

  test("queries that see keys in one part only are merged correctly beside those that see both", () => {
    const random = new Random(83);
    const x = inputs(random);
    const visible = random.bools([L, S], 0.02);
    visible.data.fill(0, 0, S);
    visible.data.fill(0, S, S + 100);
    visible.data.fill(1, S + 100, 2 * S);
    heed().scope(() => {
      const half = (isFirst: boolean): PartialAttention => {
        const mask = heed().tensor(
          visible.data.map((see, i) => (i % S < 100 === isFirst ? see : 0)),
          [L, S],
          "bool",
        );
        const tensors = [x.q, x.k, x.v].map((values) => floats(heed(), values));
        const { output, lse } = heed().attention(...(tensors as [Tensor, Tensor, Tensor]), {
          mask,
          needLse: true,
        });
        return { output, lse };
      };
      const merged = heed().mergeAttention(half(true), half(false));
      const answer = attention({ ...x, mask: { ...visible, isBool: true } });
      expect(answer.lse.includes(-Infinity)).toBe(true);
      expectClose(merged.output, [B, H, L, Dv], answer.output);
      expectClose(merged.lse, [B, H, L], answer.lse);
    });
  });

  test("parts with very different scores stay finite: the larger one is the result", () => {
    heed().scope(() => {
      const one = (value: number, lse: number): PartialAttention => ({
        output: heed().tensor([value], [1, 1, 1, 1]),
        lse: heed().tensor([lse], [1, 1, 1]),
      });
      for (const far of [1e4, -1e4, 1e38]) {
        const merged = heed().mergeAttention(one(1, far), one(2, far / 2));
        expect(merged.output.toArray()).toEqual([[[[far > 0 ? 1 : 2]]]]);
        expect(merged.lse.toArray()).toEqual([[[Math.fround(Math.max(far, far / 2))]]]);
      }
      const even = heed().mergeAttention(one(1, 1e4), one(2, 1e4));
      expect(even.output.toArray()).toEqual([[[[1.5]]]]);
    });
  });

  test("a sink counts once, in the part that has it", () => {
    const x = inputs(new Random(84));
    const sinks = [1, 2, 3, 4];
    heed().scope(() => {
      const [q, k, v] = [floats(heed(), x.q), floats(heed(), x.k), floats(heed(), x.v)];
      const first = heed().tensor(Array.from({ length: S }, (_, j) => j < 60));
      const with1 = heed().attention(q, k, v, { mask: first, sinks, needLse: true });
      const merged = heed().mergeAttention(with1, part(heed(), x, 60, S));
      const answer = attention({ ...x, sinks });
      expectClose(merged.output, [B, H, L, Dv], answer.output);
      expectClose(merged.lse, [B, H, L], answer.lse);
    });
  });

  test("a merge leaves the parts unchanged", () => {
    const x = inputs(new Random(85));
    heed().scope(() => {
      const parts = [part(heed(), x, 0, 50), part(heed(), x, 50, S)] as const;
      const before = parts.map(({ output, lse }) => [output.data.slice(), lse.data.slice()]);
      expectWhole(heed().mergeAttention(...parts), x);
      const after = parts.map(({ output, lse }) => [output.data.slice(), lse.data.slice()]);
      expect(after).toEqual(before);
    });
  });
});
