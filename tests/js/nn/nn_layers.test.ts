// Layers, compared with an implementation in double precision.

import type { Heed } from "heed";
import { nn } from "heed/nn";
import { describe, expect, test } from "vitest";
import { floats } from "../compare.js";
import { describeEngines, engine, refusal } from "../engine.js";
import { gruLayer, layerNorm, linear, map, mapRows, rmsNorm, scored } from "../layer_oracle.js";
import { expectValues, ids, randomise } from "../modules.js";
import { activations, type Values } from "../oracle.js";
import { Random } from "../values.js";

const bools = (heed: Heed, { data, shape }: Values) =>
  heed.tensor(Uint8Array.from(data), shape, "bool");

describeEngines((heed) => {
  test("Linear", () => {
    heed().scope(() => {
      const x = new Random(721).array([2, 3, 5]);
      for (const bias of [true, false]) {
        const layer = new nn.Linear(heed(), 5, 4, { bias });
        const p = randomise(layer, 722);
        expectValues(layer.forward(floats(heed(), x)), linear(p, x));
        const activated = map(linear(p, x), activations.gelu);
        expectValues(layer.forward(floats(heed(), x), "gelu"), activated);
      }
    });
  });

  test("SwiGLU", () => {
    heed().scope(() => {
      const x = new Random(723).array([3, 5]);
      for (const bias of [false, true]) {
        const layer = new nn.SwiGLU(heed(), 5, 7, { bias });
        const p = randomise(layer, 724);
        const gate = map(linear(p.of("gate_proj"), x), activations.silu);
        const up = linear(p.of("up_proj"), x);
        const data = Array.from(gate.data, (value, i) => value * (up.data[i] as number));
        const product = { data, shape: gate.shape };
        expectValues(layer.forward(floats(heed(), x)), linear(p.of("down_proj"), product));
      }
    });
  });

  test("Embedding", () => {
    heed().scope(() => {
      const layer = new nn.Embedding(heed(), 6, 3, { paddingIndex: 2 });
      expect(layer.weight.toArray()).toHaveProperty("2", [0, 0, 0]);
      const table = randomise(layer, 725).get("weight");
      const tokens = ids(heed(), [2, 4], 6, 726);
      const data = Array.from(tokens.data as Int32Array, (id) =>
        Array.from(table.data).slice(3 * id, 3 * id + 3),
      );
      expectValues(layer.forward(tokens), { data: data.flat(), shape: [2, 4, 3] }, 0);
    });
  });

  test("LayerNorm and RMSNorm", () => {
    heed().scope(() => {
      const x = new Random(727).array([4, 6], 3);
      const t = floats(heed(), x);
      for (const options of [{}, { bias: false }, { elementwiseAffine: false }, { eps: 0.1 }]) {
        const layer = new nn.LayerNorm(heed(), 6, options);
        const p = randomise(layer, 728);
        expectValues(layer.forward(t), layerNorm(p, x, layer.eps));
      }
      for (const options of [{}, { elementwiseAffine: false }, { eps: 0.1 }]) {
        const layer = new nn.RMSNorm(heed(), 6, options);
        const p = randomise(layer, 729);
        expectValues(layer.forward(t), rmsNorm(p, x, layer.eps));
      }
      // Two axes are normalised like one axis with all their elements.
      const both = new nn.LayerNorm(heed(), [2, 3]);
      const p = randomise(both, 730);
      const { data } = layerNorm(p, x);
      expectValues(both.forward(heed().reshape(t, [4, 2, 3])), { data, shape: [4, 2, 3] });
    });
  });

  test("PositionalEncoding adds sines and cosines of the position", () => {
    heed().scope(() => {
      const x = new Random(731).array([2, 5, 6]);
      const layer = new nn.PositionalEncoding(heed(), 6).eval();
      for (const offset of [0, 3]) {
        let row = 0;
        const expected = mapRows(x, (values) => {
          const position = offset + (row++ % 5);
          return values.map((value, c) => {
            const angle = position / 10000 ** ((c - (c % 2)) / 6);
            return value + (c % 2 === 0 ? Math.sin(angle) : Math.cos(angle));
          });
        });
        expectValues(layer.forward(floats(heed(), x), { offset }), expected);
      }
    });
  });

  test("Dropout drops a proportion in train mode, different elements each time, the same ones for a seed", () => {
    heed().scope(() => {
      const x = heed().ones([100, 100]);
      const make = () => new nn.Dropout(heed(), 0.3, { generator: new nn.Generator(5) });
      const layer = make();
      const [first, second] = [layer.forward(x).data.slice(), layer.forward(x).data.slice()];
      const kept = first.filter((value) => value !== 0);
      expect(kept.every((value) => Math.abs(value - 1 / 0.7) < 1e-6)).toBe(true);
      expect(Math.abs(kept.length / 10000 - 0.7)).toBeLessThan(0.02);
      expect(second).not.toEqual(first);
      const again = make();
      expect([again.forward(x).data.slice(), again.forward(x).data.slice()]).toEqual([
        first,
        second,
      ]);
      expect(layer.eval().forward(x)).toBe(x);
      expect(new nn.Dropout(heed(), 0).forward(x)).toBe(x);
    });
  });

  test("GRU, of one layer and of three", () => {
    const random = new Random(732);
    const [B, L, I, hidden] = [3, 6, 4, 5];
    const x = random.array([B, L, I]);
    for (const layers of [1, 3]) {
      for (const lengths of [undefined, [6, 2, 1]]) {
        heed().scope(() => {
          const gru = new nn.GRU(heed(), I, hidden, { layers, bias: lengths === undefined });
          const p = randomise(gru, 733);
          const before = lengths && random.array([layers, B, hidden]);
          let expected: Values = x;
          const ends: number[] = [];
          for (let i = 0; i < layers; ++i) {
            const size = B * hidden;
            const own = before && Array.from(before.data.slice(i * size, (i + 1) * size));
            const { output, state } = gruLayer(p, i, expected, own, lengths);
            expected = output;
            ends.push(...state);
          }
          const { output, state } = gru.forward(floats(heed(), x), {
            ...(before && { state: floats(heed(), before) }),
            ...(lengths && { lengths }),
          });
          expectValues(output, expected);
          expectValues(state, { data: ends, shape: [layers, B, hidden] });
        });
      }
    }
  });

  test("GRU gives the same results step by step and at once", () => {
    heed().scope(() => {
      const gru = new nn.GRU(heed(), 3, 4, { layers: 2 });
      const x = floats(heed(), new Random(734).array([2, 5, 3]));
      const whole = gru.forward(x);
      let state: nn.GRUForwardOptions["state"];
      for (let t = 0; t < 5; ++t) {
        const row = heed().slice(x, { axis: 1, start: t, length: 1 });
        const step = gru.forward(row, state ? { state } : {});
        state = step.state;
        const expected = heed().slice(whole.output, { axis: 1, start: t, length: 1 });
        expectValues(step.output, { data: expected.data.slice(), shape: [2, 1, 4] }, 1e-6);
      }
      expectValues(state as never, { data: whole.state.data.slice(), shape: [2, 2, 4] }, 1e-6);
    });
  });

  test("GRU drops between its layers in train mode only", () => {
    heed().scope(() => {
      const gru = new nn.GRU(heed(), 3, 4, { layers: 2, dropout: 0.5 });
      const x = floats(heed(), new Random(735).array([2, 5, 3]));
      const run = () => gru.forward(x).output.toArray();
      expect(run()).not.toEqual(run());
      gru.eval();
      expect(run()).toEqual(run());
    });
  });

  const [B, L, S, Dq, Dk, Dv, A] = [2, 3, 5, 4, 6, 3, 7];
  const random = new Random(736);
  const inputs: [Values, Values, Values] = [
    random.array([B, L, Dq]),
    random.array([B, S, Dk]),
    random.array([B, S, Dv]),
  ];
  const keyMask = { data: [1, 0, 1, 1, 1, 1, 1, 0, 0, 0], shape: [B, S] };
  const dot = (a: ArrayLike<number>, b: ArrayLike<number>) =>
    Array.from(a).reduce((sum, value, i) => sum + value * (b[i] as number), 0);

  test("BahdanauAttention, with keys projected once or each time", () => {
    heed().scope(() => {
      for (const bias of [false, true]) {
        const layer = new nn.BahdanauAttention(heed(), Dq, Dk, A, { bias });
        const p = randomise(layer, 737);
        const [query, keys, values] = inputs;
        const projected = [
          linear(p.of("query_layer"), query),
          linear(p.of("key_layer"), keys),
          values,
        ] as const;
        const v = p.get("energy_layer.weight").data;
        const score = (q: number[], k: number[]) =>
          dot(
            v,
            q.map((value, a) => Math.tanh(value + (k[a] as number))),
          );
        const [q, k, values_] = inputs.map((x) => floats(heed(), x)) as never as Parameters<
          typeof layer.forward
        >;
        for (const mask of [undefined, keyMask]) {
          const expected = scored(score, projected, mask);
          const options = mask ? { keyMask: bools(heed(), mask) } : {};
          const result = layer.forward(q, k, values_, options);
          expectValues(result.output, expected.output);
          expectValues(result.weights, expected.weights);
          const once = layer.forward(q, layer.projectKeys(k), values_, {
            ...options,
            areKeysProjected: true,
          });
          expect(once.output.toArray()).toEqual(result.output.toArray());
        }
      }
    });
  });

  test("LuongAttention with each of its scores", () => {
    heed().scope(() => {
      for (const score of ["dot", "general", "concat"] as const) {
        const keySize = score === "dot" ? Dq : Dk;
        const layer = new nn.LuongAttention(heed(), Dq, keySize, { score, attentionSize: A });
        const p = randomise(layer, 738);
        const keys = random.array([B, S, keySize]);
        const rows = (weight: Values) =>
          Array.from({ length: weight.shape[0] as number }, (_, r) => {
            const size = weight.shape[1] as number;
            return Array.from(weight.data).slice(r * size, (r + 1) * size);
          });
        const scores = {
          dot,
          general: (q: number[], k: number[]) =>
            dot(
              q,
              rows(p.get("weight")).map((row) => dot(row, k)),
            ),
          concat: (q: number[], k: number[]) =>
            dot(
              p.get("score_weight").data,
              rows(p.get("weight")).map((row) => Math.tanh(dot(row, [...q, ...k]))),
            ),
        };
        const three = [inputs[0], keys, inputs[2]] as const;
        const [q, k, v] = three.map((x) => floats(heed(), x)) as never as Parameters<
          typeof layer.forward
        >;
        for (const mask of [undefined, keyMask]) {
          const expected = scored(scores[score], three, mask);
          const result = layer.forward(q, k, v, mask ? { keyMask: bools(heed(), mask) } : {});
          expectValues(result.output, expected.output);
          expectValues(result.weights, expected.weights);
        }
      }
    });
  });
});

describe("initial parameters", () => {
  const heed = engine({ threads: 1 });
  const numbers = (values: ArrayLike<number>) => {
    const all = Array.from(values);
    const mean = all.reduce((sum, x) => sum + x, 0) / all.length;
    const deviation = Math.sqrt(all.reduce((sum, x) => sum + (x - mean) ** 2, 0) / all.length);
    return { mean, deviation, most: Math.max(...all.map(Math.abs)), size: all.length };
  };
  /** Expects that the values are uniform in +-bound. */
  const expectUniform = (values: ArrayLike<number>, bound: number) => {
    const { mean, deviation, most, size } = numbers(values);
    const near = 5 / Math.sqrt(size);
    expect(Math.abs(mean) / bound).toBeLessThan(near);
    expect(Math.abs(deviation / (bound / Math.sqrt(3)) - 1)).toBeLessThan(near);
    expect(most).toBeLessThanOrEqual(bound * (1 + 1e-6));
    expect(most).toBeGreaterThan(bound * (1 - near));
  };
  const all = (value: number) => (each: number) => each === value;

  test("have torch's distributions", () => {
    heed().scope(() => {
      const h = heed();
      const linear = new nn.Linear(h, 64, 90);
      expectUniform(linear.weight.data, 1 / 8);
      expectUniform(linear.bias?.data ?? [], 1 / 8);
      const { mean, deviation } = numbers(new nn.Embedding(h, 100, 60).weight.data);
      expect(Math.abs(mean)).toBeLessThan(0.06);
      expect(Math.abs(deviation - 1)).toBeLessThan(0.05);
      const norm = new nn.LayerNorm(h, 6);
      expect(norm.weight?.data.every(all(1)) && norm.bias?.data.every(all(0))).toBe(true);
      const attention = new nn.MultiHeadAttention(h, 48, 4);
      expectUniform(attention.inProjWeight?.data ?? [], Math.sqrt(6 / (4 * 48)));
      expectUniform(attention.outProj.weight.data, 1 / Math.sqrt(48));
      expect(attention.inProjBias?.data.every(all(0))).toBe(true);
      expect(attention.outProj.bias?.data.every(all(0))).toBe(true);
      const cross = new nn.MultiHeadAttention(h, 48, 4, { kdim: 24, vdim: 96 });
      expectUniform(cross.qProjWeight?.data ?? [], Math.sqrt(6 / 96));
      expectUniform(cross.kProjWeight?.data ?? [], Math.sqrt(6 / 72));
      expectUniform(cross.vProjWeight?.data ?? [], Math.sqrt(6 / 144));
      for (const [name, { data }] of new nn.GRU(h, 30, 49, { layers: 2 }).namedParameters()) {
        expect(name).toMatch(/_l[01]$/);
        expectUniform(data, 1 / 7);
      }
      const options = {
        dModel: 32,
        heads: 2,
        encoderLayers: 1,
        decoderLayers: 1,
        dimFeedforward: 64,
      };
      for (const [, { data, shape }] of new nn.Transformer(h, options).namedParameters())
        if (shape.length === 2)
          expectUniform(data, Math.sqrt(6 / ((shape[0] as number) + (shape[1] as number))));
    });
  });

  test("are the same for the same seed, and differ for others", () => {
    heed().scope(() => {
      const make = (options = {}) => new nn.Linear(heed(), 3, 2, options).weight.toArray();
      const seeded = (seed: number) => make({ generator: new nn.Generator(seed) });
      expect(seeded(1)).toEqual(seeded(1));
      expect(seeded(1)).not.toEqual(seeded(2));
      expect(make()).not.toEqual(make());
      nn.manualSeed(heed(), 7);
      const [first, second] = [make(), make()];
      expect(first).not.toEqual(second);
      nn.manualSeed(heed(), 7);
      expect([make(), make()]).toEqual([first, second]);
      const { state } = nn.defaultGenerator(heed());
      const third = make();
      nn.defaultGenerator(heed()).state = state;
      expect(make()).toEqual(third);
    });
  });

  test("generated seeds are whole numbers that differ", () => {
    const generator = new nn.Generator(0);
    const seeds = new Set(Array.from({ length: 10_000 }, () => generator.next()));
    expect(seeds.size).toBe(10_000);
    expect([...seeds].every((seed) => Number.isSafeInteger(seed) && seed >= 0)).toBe(true);
    expect(refusal(() => new nn.Generator(-1)).message).toBe(
      "seed: expected a whole number from 0 to 4294967295, got -1",
    );
  });
});
