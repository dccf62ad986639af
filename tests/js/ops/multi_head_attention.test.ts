import type { MultiHeadAttentionParameters, Tensor } from "heed";
import { Tape } from "heed/nn";
import { expect, test } from "vitest";
import { describeEngines } from "../engine.js";
import { multiHead, Parameters } from "../layer_oracle.js";
import type { Values } from "../oracle.js";
import { expectClose, expectSameBits, Random, sizeOf, upload } from "../values.js";

type Floats = Values & { data: Float32Array };

function square(random: Random, E: number, size = E): Floats {
  return random.array([E, size], 0.5);
}

function floats(shape: readonly number[], fill = 0): Float32Array {
  return new Float32Array(sizeOf(shape)).fill(fill);
}

describeEngines((heed) => {
  const [B, L, S, E, H] = [2, 5, 7, 12, 3];
  test("projects, attends and projects again, with biases", () => {
    const random = new Random(21);
    const x = random.array([B, L, E]);
    const inside = { weight: square(random, 3 * E, E), bias: random.array([3 * E]) };
    const out = { weight: square(random, E), bias: random.array([E]) };
    const values = new Parameters({
      ...{ in_proj_weight: inside.weight, in_proj_bias: inside.bias },
      ...{ "out_proj.weight": out.weight, "out_proj.bias": out.bias },
    });
    const answer = multiHead(values, H, [x, x, x]);
    heed().scope(() => {
      const t = upload(heed(), x);
      const parameters: MultiHeadAttentionParameters = {
        inProjWeight: upload(heed(), inside.weight),
        inProjBias: upload(heed(), inside.bias),
        outProjWeight: upload(heed(), out.weight),
        outProjBias: upload(heed(), out.bias),
      };
      const { output, weights } = heed().multiHeadAttention(t, t, t, parameters, {
        heads: H,
        needWeights: true,
      });
      expectClose(output, [B, L, E], answer.output.data);
      expectClose(weights, [B, H, L, L], answer.weights.data);
      const plain = heed().multiHeadAttention(t, t, t, parameters, { heads: H });
      expect(plain.weights).toBeUndefined();
      expectSameBits(plain.output.data, output.data);
    });
  });

  test("takes separate weights for keys and values of other sizes, without biases", () => {
    const random = new Random(22);
    const [keySize, valueSize] = [5, 9];
    const inputs: [Floats, Floats, Floats] = [
      random.array([B, L, E]),
      random.array([B, S, keySize]),
      random.array([B, S, valueSize]),
    ];
    const weights = {
      q: square(random, E),
      k: square(random, E, keySize),
      v: square(random, E, valueSize),
      out: square(random, E),
    };
    const values = new Parameters({
      ...{ q_proj_weight: weights.q, k_proj_weight: weights.k, v_proj_weight: weights.v },
      "out_proj.weight": weights.out,
    });
    const answer = multiHead(values, H, inputs);
    heed().scope(() => {
      const [query, key, value] = inputs.map((x) => upload(heed(), x)) as [Tensor, Tensor, Tensor];
      const result = heed().multiHeadAttention(
        query,
        key,
        value,
        {
          qProjWeight: upload(heed(), weights.q),
          kProjWeight: upload(heed(), weights.k),
          vProjWeight: upload(heed(), weights.v),
          outProjWeight: upload(heed(), weights.out),
        },
        { heads: H, needWeights: true },
      );
      expectClose(result.output, [B, L, E], answer.output.data);
      expectClose(result.weights, [B, H, L, S], answer.weights.data);
    });
  });

  test("averages the weights over heads on request", () => {
    heed().scope(() => {
      const random = new Random(23);
      const t = upload(heed(), random.array([B, L, E]));
      const parameters = {
        inProjWeight: upload(heed(), random.array([3 * E, E])),
        outProjWeight: upload(heed(), square(random, E)),
      };
      const options = { heads: H, needWeights: true } as const;
      const each = heed().multiHeadAttention(t, t, t, parameters, options).weights.data.slice();
      const { weights } = heed().multiHeadAttention(t, t, t, parameters, {
        ...options,
        averageWeights: true,
      });
      const mean = floats([B, L, L]).map((_, at) => {
        const [b, pair] = [Math.floor(at / (L * L)), at % (L * L)];
        const sum = [0, 1, 2].reduce((s, h) => s + (each[(b * H + h) * L * L + pair] ?? 0), 0);
        return sum / H;
      });
      expectClose(weights, [B, L, L], mean, 1e-6);
    });
  });

  test("intersects mask, key mask and causality", () => {
    const random = new Random(24);
    const x = random.array([B, L, E]);
    const [inside, out] = [square(random, 3 * E, E), square(random, E)];
    const values = new Parameters({ in_proj_weight: inside, "out_proj.weight": out });
    const keyMask = { data: Uint8Array.of(1, 1, 0, 1, 1, 0, 1, 1, 1, 0), shape: [B, L] };
    const own = [
      { ...random.bools([L, L], 0.8), isBool: true },
      { ...random.array([B, H, L, L]), isBool: false },
      { ...random.bools([L, 1], 0.7), isBool: true },
    ];
    for (const mask of [undefined, ...own]) {
      for (const isCausal of [false, true]) {
        const shape = [B, H, L, L];
        const both = floats(shape).map((_, at) => {
          const [b, h] = [Math.floor(at / (H * L * L)), Math.floor(at / (L * L)) % H];
          const [i, j] = [Math.floor(at / L) % L, at % L];
          if (keyMask.data[b * L + j] === 0) return -Infinity;
          if (mask === undefined) return 0;
          const wide = mask.shape.length === 4;
          const columns = mask.shape.at(-1) as number;
          const row = (wide ? (b * H + h) * L : 0) + i;
          const element = mask.data[row * columns + (columns === 1 ? 0 : j)] as number;
          return mask.isBool ? (element ? 0 : -Infinity) : element;
        });
        const answer = multiHead(values, H, [x, x, x], {
          isCausal,
          mask: { data: both, shape, isBool: false },
        });
        heed().scope(() => {
          const t = upload(heed(), x);
          const parameters = {
            inProjWeight: upload(heed(), inside),
            outProjWeight: upload(heed(), out),
          };
          const options = {
            heads: H,
            isCausal,
            needWeights: true,
            keyMask: upload(heed(), keyMask),
            ...(mask && { mask: upload(heed(), mask) }),
          } as const;
          // While a tape records, the operation is computed in steps that have gradients.
          const run = () => heed().multiHeadAttention(t, t, t, parameters, options);
          for (const result of [run(), new Tape([t]).run(run)]) {
            expectClose(result.output, [B, L, E], answer.output.data);
            expectClose(result.weights, shape, answer.weights.data);
          }
        });
      }
    }
  });

  test("reads no key that either mask hides, on a tape and with dropout too", () => {
    const random = new Random(64);
    const query = random.array([2, 3, 4]);
    const key = random.array([2, 3, 4]);
    const weights = [random.array([12, 4]), random.array([4, 4])] as const;
    const keyMask = { data: Uint8Array.of(1, 1, 0, 1, 1, 1), shape: [2, 3] };
    const bool = { data: Uint8Array.of(1, 1, 1, 1, 0, 1, 1, 1, 1), shape: [3, 3] };
    const short = { data: Uint8Array.of(1, 1, 0, 1, 1, 1), shape: [3, 2] };
    const float = { data: Float32Array.of(1, 2, 0, 3, 1, 2, 0, 1, 2), shape: [3, 3] };
    for (const mask of [undefined, bool, short, float]) {
      const run = (hidden: number, dropout: number) => {
        const k = { data: key.data.slice(), shape: key.shape };
        k.data.fill(hidden, 8, 12);
        return heed().scope(() => {
          const [q, keys] = [upload(heed(), query), upload(heed(), k)];
          const [inProjWeight, outProjWeight] = weights.map((weight) => upload(heed(), weight)) as [
            Tensor,
            Tensor,
          ];
          const options = {
            ...{ heads: 2, dropout, seed: 3, keyMask: upload(heed(), keyMask) },
            ...(mask && { mask: upload(heed(), mask) }),
          };
          const attend = () =>
            heed().multiHeadAttention(q, keys, keys, { inProjWeight, outProjWeight }, options)
              .output;
          return [attend(), new Tape([q]).run(attend)].map((output) => output.data.slice());
        });
      };
      for (const dropout of [0, 0.3]) {
        const [plain, taped] = run(0, dropout);
        for (const hidden of [Number.NaN, Infinity]) {
          // The results need not be equal bit by bit: in the relaxed binary the last bit may differ.
          const far = run(hidden, dropout).flatMap((output, i) =>
            [...output].map((x, n) => Math.abs(x - ((i === 0 ? plain : taped)?.[n] as number))),
          );
          expect(far.every((distance) => distance < 1e-5)).toBe(true);
        }
      }
    }
  });
});
