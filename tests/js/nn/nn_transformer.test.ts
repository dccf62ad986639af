// Attention as a module, transformers, their caches, and their weights.

import type { Heed, Tensor } from "heed";
import { grad, nn, valueAndGrad } from "heed/nn";
import { describe, expect, test } from "vitest";
import { floats } from "../compare.js";
import { describeEngines, engine, refusal } from "../engine.js";
import {
  decoderLayer,
  decoderParts,
  encoderLayer,
  encoderParts,
  layerNorm,
  multiHead,
  type Sublayers,
} from "../layer_oracle.js";
import { expectValues, randomise } from "../modules.js";
import type { Values } from "../oracle.js";
import { expectSameBits, Random } from "../values.js";

const [B, L, S, E, H] = [2, 5, 7, 12, 3];
const random = new Random(741);
const tgt = random.array([B, L, E]);
const src = random.array([B, S, E]);
const tgtKeys = { data: [1, 1, 1, 1, 1, 1, 1, 1, 0, 0], shape: [B, L] };
const srcKeys = { data: [1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0], shape: [B, S] };
const bools = (heed: Heed, { data, shape }: Values) =>
  heed.tensor(Uint8Array.from(data), shape, "bool");
const rowsOf = (heed: Heed, x: Tensor, start: number, length: number) =>
  heed.slice(x, { axis: 1, start, length });
const copyOf = ({ data, shape }: Tensor): Values => ({
  data: Array.from(data as Float32Array),
  shape,
});

const kinds = [
  { heads: H },
  { heads: H, normFirst: true },
  { heads: H, activation: "gelu" },
  { heads: H, activation: "gelu", normFirst: true, bias: false },
] as const;
const optionsOf = ({ heads: _, ...kind }: (typeof kinds)[number]) => ({
  dimFeedforward: 20,
  dropout: 0,
  ...kind,
});

describeEngines((heed) => {
  test("MultiHeadAttention equals its parts, for all sizes and masks", () => {
    heed().scope(() => {
      for (const options of [{}, { bias: false }, { kdim: 5, vdim: 8 }, { vdim: 8, bias: false }]) {
        const layer = new nn.MultiHeadAttention(heed(), E, H, options);
        const p = randomise(layer, 742);
        const { kdim = E, vdim = E } = options as { kdim?: number; vdim?: number };
        const inputs = [tgt, random.array([B, S, kdim]), random.array([B, S, vdim])] as const;
        const [q, k, v] = inputs.map((x) => floats(heed(), x)) as [Tensor, Tensor, Tensor];
        const plain = multiHead(p, H, inputs);
        expectValues(layer.forward(q, k, v).output, plain.output);
        const masked = multiHead(p, H, inputs, { isCausal: true, keyMask: srcKeys });
        const keyMask = bools(heed(), srcKeys);
        const result = layer.forward(q, k, v, { isCausal: true, keyMask, needWeights: true });
        expectValues(result.output, masked.output);
        expectValues(result.weights, masked.weights);
        const mean = layer.forward(q, k, v, {
          ...{ isCausal: true, keyMask, needWeights: true, averageWeights: true },
        });
        const data = Array.from({ length: B * L * S }, (_, at) => {
          const [b, pair] = [Math.floor(at / (L * S)), at % (L * S)];
          const each = [0, 1, 2].map((h) => masked.weights.data[(b * H + h) * L * S + pair] ?? 0);
          return each.reduce((sum, weight) => sum + weight, 0) / H;
        });
        expectValues(mean.weights, { data, shape: [B, L, S] });
      }
    });
  });

  test.each(kinds)("an encoder layer computes as its equations: %o", (kind) => {
    heed().scope(() => {
      const layer = new nn.TransformerEncoderLayer(heed(), E, H, optionsOf(kind));
      const p = randomise(layer, 743);
      const x = floats(heed(), tgt);
      expectValues(layer.forward(x), encoderLayer(p, kind, tgt, {}), 1e-4);
      const masks = { isCausal: true, keyMask: tgtKeys };
      const options = { isCausal: true, keyMask: bools(heed(), tgtKeys) };
      expectValues(layer.forward(x, options), encoderLayer(p, kind, tgt, masks), 1e-4);
    });
  });

  test.each(kinds)("a decoder layer computes as its equations: %o", (kind) => {
    heed().scope(() => {
      const layer = new nn.TransformerDecoderLayer(heed(), E, H, optionsOf(kind));
      const p = randomise(layer, 744);
      const both = [tgt, src] as const;
      const [x, memory] = both.map((values) => floats(heed(), values)) as [Tensor, Tensor];
      expectValues(layer.forward(x, memory), decoderLayer(p, kind, both, {}, {}), 1e-4);
      const options = {
        ...{ tgtIsCausal: true, tgtKeyMask: bools(heed(), tgtKeys) },
        memoryKeyMask: bools(heed(), srcKeys),
      };
      const own = { isCausal: true, keyMask: tgtKeys };
      const expected = decoderLayer(p, kind, both, own, { keyMask: srcKeys });
      expectValues(layer.forward(x, memory, options), expected, 1e-4);
    });
  });

  test("a transformer equals its layers in sequence, with a norm after each stack", () => {
    heed().scope(() => {
      const kind = { heads: H, normFirst: true };
      const model = new nn.Transformer(heed(), {
        ...{ dModel: E, heads: H, encoderLayers: 2, decoderLayers: 2 },
        ...optionsOf(kinds[1]),
      });
      const p = randomise(model, 745);
      const two = [0, 1];
      const encoder = p.of("encoder");
      let memory: Values = src;
      for (const i of two)
        memory = encoderLayer(encoder.of(`layers.${i}`), kind, memory, { keyMask: srcKeys });
      memory = layerNorm(encoder.of("norm"), memory);
      const decoder = p.of("decoder");
      let x: Values = tgt;
      for (const i of two)
        x = decoderLayer(
          decoder.of(`layers.${i}`),
          kind,
          [x, memory],
          { isCausal: true },
          { keyMask: srcKeys },
        );
      const keyMask = bools(heed(), srcKeys);
      const options = { srcKeyMask: keyMask, memoryKeyMask: keyMask, tgtIsCausal: true };
      const output = model.forward(floats(heed(), src), floats(heed(), tgt), options);
      expectValues(output, layerNorm(decoder.of("norm"), x), 1e-4);
    });
  });

  test.each(kinds)("stacks pass what each part of each layer computes: %o", (kind) => {
    heed().scope(() => {
      const options = optionsOf(kind);
      const encoder = new nn.TransformerEncoder(heed(), E, H, 2, options);
      const decoder = new nn.TransformerDecoder(heed(), E, H, 2, { ...options, norm: true });
      const [p, q] = [randomise(encoder, 751), randomise(decoder, 752)];
      let seen: number[] = [];
      /** Compares the parts that a stack passes to `receiveLayer` with the oracle's layers. */
      const comparing =
        (wanted: Sublayers[]): nn.ReceiveTransformerLayer =>
        (layer, parts) => {
          seen.push(layer);
          const own = wanted[layer] as Sublayers;
          expect(parts.multiheadAttn === undefined).toBe(own.multiheadAttn === undefined);
          for (const name of ["selfAttn", "multiheadAttn", "feedForward"] as const)
            for (const key of ["before", "input", "added", "after"] as const) {
              const [found, expected] = [parts[name]?.[key], own[name]?.[key]];
              if (found && expected) expectValues(found, expected, 1e-4);
            }
          expectValues(parts.feedForward.units, own.feedForward.units as Values, 1e-4);
        };
      const encoded = [encoderParts(p.of("layers.0"), kind, src, { keyMask: srcKeys })];
      const between = (encoded[0] as Sublayers).feedForward.after;
      encoded.push(encoderParts(p.of("layers.1"), kind, between, { keyMask: srcKeys }));
      const keyMask = bools(heed(), srcKeys);
      const memory = encoder.forward(floats(heed(), src), {
        keyMask,
        receiveLayer: comparing(encoded),
      });
      expect(seen).toEqual([0, 1]);
      const both = (x: Values) => [x, encoded[1]?.feedForward.after as Values] as const;
      const masks = [{ isCausal: true }, { keyMask: srcKeys }] as const;
      const first = decoderParts(q.of("layers.0"), kind, both(tgt), ...masks);
      const next = both(first.feedForward.after);
      const second = decoderParts(q.of("layers.1"), kind, next, ...masks);
      seen = [];
      const given = { tgtIsCausal: true, memoryKeyMask: keyMask };
      const x = floats(heed(), tgt);
      const receiveLayer = comparing([first, second]);
      const told = decoder.forward(x, memory, { ...given, receiveLayer });
      expect(seen).toEqual([0, 1]);
      expectSameBits(told.data, decoder.forward(x, memory, given).data);
      const wrong = { receiveLayer: "all" as never };
      expect(refusal(() => encoder.forward(x, wrong)).message).toContain(
        "receiveLayer: expected a function",
      );
    });
  });

  test("a decoder with a cache gives the same results step by step and at once", () => {
    heed().scope(() => {
      const decoder = new nn.TransformerDecoder(heed(), E, H, 2, {
        ...{ dimFeedforward: 20, norm: true, normFirst: true },
      }).eval();
      randomise(decoder, 746);
      const [x, memory] = [tgt, src].map((values) => floats(heed(), values)) as [Tensor, Tensor];
      const memoryKeyMask = bools(heed(), srcKeys);
      const options = { tgtIsCausal: true, memoryKeyMask };
      const whole = decoder.forward(x, memory, options);
      using cache = decoder.createCache({ batch: B, capacity: L, memoryLength: S });
      expect(cache.lengths).toEqual([0, 0]);
      let start = 0;
      for (const length of [2, 1, 1, 1]) {
        // The scope frees the tensors of the step; the cache stays.
        const step = heed().scope(() =>
          copyOf(decoder.forward(rowsOf(heed(), x, start, length), memory, { ...options, cache })),
        );
        expect(step.data).toHaveLength(B * length * E);
        expectValues(rowsOf(heed(), whole, start, length), step, 1e-5);
        start += length;
      }
      expect(cache.lengths).toEqual([L, L]);
      expect(cache.bytes).toBeGreaterThan(0);
      cache.rewind(2);
      const again = decoder.forward(rowsOf(heed(), x, 3, 2), memory, { ...options, cache });
      expectValues(again, copyOf(rowsOf(heed(), whole, 3, 2)), 1e-5);
    });
  });

  test("an encoder with a cache and a causal mask gives the same results step by step, with all masks", () => {
    heed().scope(() => {
      const model = new nn.TransformerEncoder(heed(), E, H, 2, { dimFeedforward: 20 }).eval();
      randomise(model, 747);
      const x = floats(heed(), tgt);
      const band = (rows: number, from: number, keys: number) =>
        Array.from({ length: rows }, (_, i) =>
          Array.from({ length: keys }, (_, j) => from + i - j < 3),
        );
      for (const isFloat of [false, true]) {
        const maskOf = (rows: number, from: number, keys: number) => {
          const seen = band(rows, from, keys);
          const added = seen.map((row, i) =>
            row.map((see, j) => (see ? (i + from - j) / 8 : -Infinity)),
          );
          return isFloat ? heed().tensor(added) : heed().tensor(seen);
        };
        for (const hasKeyMask of [false, true]) {
          const keys = (count: number) => {
            const kept = tgtKeys.data.map((_, at) => at % L !== 1);
            const rows = [0, 1].map((b) => kept.slice(b * L, b * L + count));
            return hasKeyMask ? { keyMask: heed().tensor(rows) } : {};
          };
          const all = { mask: maskOf(L, 0, L), isCausal: true, ...keys(L) };
          const whole = model.forward(x, all);
          using cache = model.createCache({ batch: B, capacity: L });
          for (let t = 0; t < L; ++t) {
            const options = { mask: maskOf(1, t, t + 1), isCausal: true, ...keys(t + 1), cache };
            const step = model.forward(rowsOf(heed(), x, t, 1), options);
            expectValues(step, copyOf(rowsOf(heed(), whole, t, 1)), 1e-5);
          }
        }
      }
    });
  });

  test("a reordered cache continues with the sequences of its new order", () => {
    heed().scope(() => {
      const decoder = new nn.TransformerDecoder(heed(), E, H, 1, { dimFeedforward: 20 }).eval();
      randomise(decoder, 748);
      const x = floats(heed(), random.array([3, 4, E]));
      const memory = floats(heed(), random.array([3, S, E]));
      const order = [2, 0, 0];
      const pick = (t: Tensor) =>
        heed().concat(order.map((b) => heed().slice(t, { axis: 0, start: b, length: 1 })));
      const options = { tgtIsCausal: true };
      using cache = decoder.createCache({ batch: 3, capacity: 4, memoryLength: S });
      decoder.forward(rowsOf(heed(), x, 0, 2), memory, { ...options, cache });
      cache.reorder(order);
      const next = rowsOf(heed(), x, 2, 2);
      const got = decoder.forward(next, memory, { ...options, cache });
      const joined = heed().concat([pick(rowsOf(heed(), x, 0, 2)), next], { axis: 1 });
      const whole = decoder.forward(joined, pick(memory), options);
      expectValues(got, copyOf(rowsOf(heed(), whole, 2, 2)), 1e-5);
    });
  });

  test("a cache without tokens reads the memory again", () => {
    heed().scope(() => {
      const random = new Random(762);
      const decoder = new nn.TransformerDecoder(heed(), E, H, 2, { dimFeedforward: 20 }).eval();
      randomise(decoder, 763);
      const x = floats(heed(), random.array([1, 2, E]));
      const [one, other] = [1, 2].map(() => floats(heed(), random.array([1, S, E]))) as [
        Tensor,
        Tensor,
      ];
      const cache = decoder.createCache({ capacity: 4, memoryLength: S });
      decoder.forward(x, one, { tgtIsCausal: true, cache });
      cache.rewind(2);
      const got = decoder.forward(x, other, { tgtIsCausal: true, cache });
      expectValues(got, copyOf(decoder.forward(x, other, { tgtIsCausal: true })), 1e-5);
      const attention = new nn.MultiHeadAttention(heed(), E, H);
      const past = attention.createCache({ capacity: 4 });
      expect(() => attention.forward(x, x, undefined, { cache: past })).toThrow(
        "value: expected a tensor, got undefined",
      );
      expect(past.lengths).toEqual([0]);
      past.dispose();
      cache.dispose();
    });
  });
});

describe("weights", () => {
  const heed = engine({ threads: 1 });

  test("of every attention are handed out under its path, in training and out of it", () => {
    heed().scope(() => {
      const model = new nn.Transformer(heed(), {
        dModel: E,
        heads: H,
        encoderLayers: 1,
        decoderLayers: 2,
        dimFeedforward: 20,
        dropout: 0,
      });
      const p = randomise(model, 749);
      const [x, y] = [src, tgt].map((values) => floats(heed(), values)) as [Tensor, Tensor];
      const expected = multiHead(p.of("encoder").of("layers.0").of("self_attn"), H, [
        src,
        src,
        src,
      ]);
      const plain = model.forward(x, y, { tgtIsCausal: true });
      const seen = new Map<string, Values>();
      const receive = (path: string, weights: Tensor) => seen.set(path, copyOf(weights));
      const run = () =>
        nn.captureAttention(model, receive, () => model.forward(x, y, { tgtIsCausal: true }));
      const output = run();
      expectValues(output, copyOf(plain), 1e-6);
      const shapes = {
        "encoder.layers.0.self_attn": [B, H, S, S],
        "decoder.layers.0.self_attn": [B, H, L, L],
        "decoder.layers.0.multihead_attn": [B, H, L, S],
        "decoder.layers.1.self_attn": [B, H, L, L],
        "decoder.layers.1.multihead_attn": [B, H, L, S],
      };
      expect(Object.fromEntries([...seen].map(([path, { shape }]) => [path, shape]))).toEqual(
        shapes,
      );
      const first = seen.get("encoder.layers.0.self_attn") as Values;
      const worst = Math.max(
        ...Array.from(expected.weights.data, (w, i) => Math.abs(w - (first.data[i] ?? 0))),
      );
      expect(worst).toBeLessThan(1e-5);

      const before = new Map(seen);
      seen.clear();
      const loss = (forward: () => Tensor) => () =>
        heed().mean(heed().multiply(forward(), forward()));
      const captured = valueAndGrad(model, loss(run));
      expect([...seen.keys()]).toEqual([...before.keys()]);
      expect(seen.get("decoder.layers.1.multihead_attn")).toEqual(
        before.get("decoder.layers.1.multihead_attn"),
      );
      const ordinary = grad(
        model,
        loss(() => model.forward(x, y, { tgtIsCausal: true })),
      );
      for (const [i, gradient] of captured.gradients.entries())
        expectValues(gradient, copyOf(ordinary[i] as Tensor), 1e-5);
    });
  });

  test("of a part are handed out under the path in that part, and no others", () => {
    heed().scope(() => {
      const model = new nn.Transformer(heed(), {
        ...{ dModel: E, heads: H, encoderLayers: 1, decoderLayers: 1, dimFeedforward: 20 },
      }).eval();
      const [x, y] = [src, tgt].map((values) => floats(heed(), values)) as [Tensor, Tensor];
      const paths: string[] = [];
      const attention = (model.decoder.layers[0] as nn.TransformerDecoderLayer).multiheadAttn;
      for (const root of [model.encoder, attention])
        nn.captureAttention(
          root,
          (path) => paths.push(path),
          () => model.forward(x, y),
        );
      model.forward(x, y);
      expect(paths).toEqual(["layers.0.self_attn", ""]);
    });
  });

  test("come from the queries, keys, values and scores that are handed out with them", () => {
    heed().scope(() => {
      const layer = new nn.MultiHeadAttention(heed(), E, H);
      const x = floats(heed(), src);
      let output: Tensor | undefined;
      const run = () => layer.forward(x, x, x, { isCausal: true }).output;
      const result = nn.captureAttention(
        layer,
        (_, weights, compared) => {
          const { query, key, value, scores } = compared?.() ?? expect.fail("nothing to compare");
          const options = { isCausal: true, needWeights: true, capture: "scores" } as const;
          const again = heed().attention(query, key, value, options);
          expectValues(weights, copyOf(again.weights));
          expectValues(scores(), copyOf(again.capture));
          const joined = heed().reshape(heed().transpose(again.output, [0, 2, 1, 3]), [B, S, E]);
          output = heed().keep(layer.outProj.forward(joined));
        },
        run,
      );
      expectValues(result, copyOf(output as Tensor));
      output?.dispose();
    });
  });

  test("are handed out for recurrent attentions and for steps with a cache", () => {
    heed().scope(() => {
      const bahdanau = new nn.BahdanauAttention(heed(), E, E, 4);
      const luong = new nn.LuongAttention(heed(), E, E);
      const [keys, query] = [src, tgt].map((values) => floats(heed(), values)) as [Tensor, Tensor];
      const shapes: (readonly number[])[] = [];
      const receive: nn.ReceiveWeights = (_, { shape }, compared) => {
        shapes.push(shape);
        expect(compared).toBeUndefined();
      };
      for (const layer of [bahdanau, luong])
        nn.captureAttention(layer, receive, () => layer.forward(query, keys, keys));
      const layer = new nn.MultiHeadAttention(heed(), E, H);
      using cache = layer.createCache({ batch: B, capacity: 2 });
      const step = () => rowsOf(heed(), query, 0, 1);
      nn.captureAttention(layer, receive, () => {
        for (let t = 0; t < 2; ++t) {
          const x = step();
          layer.forward(x, x, x, { cache });
        }
      });
      expect(shapes).toEqual([
        [B, L, S],
        [B, L, S],
        [B, H, 1, 1],
        [B, H, 1, 2],
      ]);
    });
  });

  test("are not captured asynchronously", () => {
    const layer = new nn.LuongAttention(heed(), 2, 2);
    const error = refusal(() =>
      nn.captureAttention(
        layer,
        () => {},
        async () => {},
      ),
    );
    expect(error.message).toBe(
      "captureAttention: expected a function that is not async, got a Promise",
    );
  });
});

test("attention's dropout applies in train mode only and depends on the generator", async () => {
  const { load } = await import("heed");
  const heed = await load({ threads: 1 });
  const make = () => {
    const layer = new nn.MultiHeadAttention(heed, E, H, {
      ...{ dropout: 0.5, generator: new nn.Generator(3) },
    });
    randomise(layer, 750);
    return layer;
  };
  heed.scope(() => {
    const x = floats(heed, tgt);
    const layer = make();
    const run = (layer: nn.MultiHeadAttention) => layer.forward(x, x, x).output.toArray();
    const first = run(layer);
    expect(run(layer)).not.toEqual(first);
    expect(run(make())).toEqual(first);
    layer.eval();
    expect(run(layer)).toEqual(run(layer));
  });
  heed.dispose();
});
