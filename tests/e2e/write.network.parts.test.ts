/** The numbers of the whole network in the room "Write", compared with the oracle in double precision. */
import { type Heed, load } from "heed";
import { CausalLanguageModel, withoutHeads } from "heed/models";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  explainEntry,
  explainLast,
  type LayerFacts,
  lengthOf,
  type Place,
} from "../../web/src/rooms/write/network/explain";
import type { NetworkAnswer } from "../../web/src/rooms/write/network/messages";
import { networkOf, weightsOfLayer } from "../../web/src/rooms/write/network/solve";
import { sourcesOf } from "../../web/src/rooms/write/network/sources";
import { llama, type Parts } from "../js/language_oracle";
import type { Parameters } from "../js/layer_oracle";
import { randomise } from "../js/modules";
import type { Values } from "../js/oracle";

/** Small enough that no formula is shortened. */
const sizes = { E: 8, H: 4, G: 2, D: 2, F: 8, V: 31, layers: 2 };
const config = {
  ...{ model_type: "llama", vocab_size: sizes.V, hidden_size: sizes.E, head_dim: sizes.D },
  ...{ intermediate_size: sizes.F, num_hidden_layers: sizes.layers, tie_word_embeddings: true },
  ...{ num_attention_heads: sizes.H, num_key_value_heads: sizes.G, rope_theta: 300 },
  ...{ max_position_embeddings: 32, rms_norm_eps: 1e-5 },
};
const ids = [3, 17, 4, 4, 29, 8];
const place = { layer: 1, head: 2 };

let heed: Heed;
let model: CausalLanguageModel;
let found: NetworkAnswer;
let parameters: Parameters;
let wanted: ReturnType<typeof llama>;

const text: Values = { data: ids, shape: [1, ids.length] };

beforeAll(async () => {
  heed = await load({ threads: 1 });
  model = new CausalLanguageModel(heed, config);
  parameters = randomise(model, 5);
  found = networkOf(model, { ids, head: place });
  wanted = llama(parameters, config, text);
});
afterAll(() => heed.dispose());

const last = ({ data, shape }: Values): number[] =>
  Array.from(data).slice(-(shape.at(-1) as number));

function expectNear(got: ArrayLike<number>, expected: ArrayLike<number>): void {
  expect(got.length).toBe(expected.length);
  for (let i = 0; i < got.length; ++i) expect(got[i]).toBeCloseTo(expected[i] as number, 4);
}

const range = (count: number) => Array.from({ length: count }, (_, i) => i);
const dot = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a).reduce((sum, each, i) => sum + each * (b[i] as number), 0);

function softmax(logits: readonly number[]): number[] {
  const powers = logits.map(Math.exp);
  const total = powers.reduce((a, b) => a + b, 0);
  return powers.map((each) => each / total);
}

describe("A token's way through the model", () => {
  test("has the vectors of the oracle in every layer", () => {
    for (const [i, layer] of found.layers.entries()) {
      const parts = wanted.parts[i] as Parts;
      const own = parameters.of(`model.layers.${i}`);
      expectNear(layer.input, last(parts.input));
      expectNear(layer.firstGain, own.get("input_layernorm.weight").data);
      expectNear(layer.firstNormed, last(parts.attentionInput));
      expectNear(layer.headOutputs, last(parts.headOutputs));
      expectNear(layer.attention, last(parts.attention));
      expectNear(layer.between, last(parts.between));
      expectNear(layer.secondGain, own.get("post_attention_layernorm.weight").data);
      expectNear(layer.secondNormed, last(parts.feedForwardInput));
      expectNear(layer.gate, last(parts.gate));
      expectNear(layer.up, last(parts.up));
      expectNear(layer.units, last(parts.units));
      expectNear(layer.feedForward, last(parts.feedForward));
      expectNear(layer.output, last(parts.output));
    }
    expect(found.layers).toHaveLength(sizes.layers);
  });

  test("has what each head and each unit adds, and where each head attends", () => {
    const { E, H, D, F } = sizes;
    for (const [i, layer] of found.layers.entries()) {
      const own = parameters.of(`model.layers.${i}`);
      const [output, down] = ["self_attn.o_proj.weight", "mlp.down_proj.weight"].map(
        (name) => own.get(name).data,
      ) as [number[], number[]];
      const joined = last((wanted.parts[i] as Parts).headOutputs);
      for (let head = 0; head < H; ++head) {
        const part = joined.map((each, j) => (Math.floor(j / D) === head ? each : 0));
        const added = range(E).map((row) => dot(part, output.slice(row * H * D)));
        expectNear(layer.heads.slice(head * E, (head + 1) * E), added);
        const all = (wanted.weights[i] as Values).data as number[];
        const end = (head + 1) * ids.length ** 2;
        const weights = all.slice(end - ids.length, end);
        expect(layer.mostWeights[head]).toBeCloseTo(Math.max(...weights), 5);
        expect(layer.most[head]).toBe(weights.indexOf(Math.max(...weights)));
      }
      const lengths = range(F).map((unit) =>
        lengthOf(
          Float32Array.from(
            range(E),
            (row) => (layer.units[unit] ?? 0) * (down[row * F + unit] ?? 0),
          ),
        ),
      );
      expectNear(layer.unitLengths, lengths);
    }
  });

  test("is read out as a model that ends there would speak", () => {
    const said = (layers: number) => {
      const logits = llama(parameters, { ...config, num_hidden_layers: layers }, text).logits;
      return softmax(last(logits as Values));
    };
    const end = said(2);
    const winner = end.indexOf(Math.max(...end));
    expect(found.readings).toHaveLength(5);
    for (const layers of [0, 1, 2]) {
      const reading = found.readings[2 * layers] ?? expect.fail("it is not read out");
      const shares = said(layers);
      const order = [...shares.keys()].sort((a, b) => (shares[b] ?? 0) - (shares[a] ?? 0));
      expect([...reading.ids]).toEqual(order.slice(0, 10));
      expectNear(
        reading.shares,
        Array.from(reading.ids, (id) => shares[id] as number),
      );
      expect(reading.winner).toBeCloseTo(shares[winner] as number, 5);
    }
    expectNear(
      Array.from(found.last.logits, (logit) => Math.exp(logit - found.last.logSum)),
      found.readings[4]?.shares ?? [],
    );
    // Between attention and feed-forward network: as if the latter added nothing.
    const { data } = model.stateDict()["model.layers.1.mlp.down_proj.weight"] ?? expect.fail();
    const kept = data.slice();
    data.fill(0);
    const without = networkOf(model, { ids, head: null });
    data.set(kept);
    expectNear(without.readings[4]?.shares ?? [], found.readings[3]?.shares ?? []);
    expect(without.head).toBeNull();
  });

  test("has the query, the keys and the values of the selected head", () => {
    const { D } = sizes;
    const { shares, values, unrotated, frequencies } = found.head ?? expect.fail("no head");
    const { queries, keys, scores, weights } = shares;
    const row = (all: Float32Array, token: number) => all.slice(token * D, (token + 1) * D);
    expectNear(
      scores,
      ids.map((_, token) => dot(queries, row(keys, token)) / Math.sqrt(D)),
    );
    expectNear(weights, softmax(Array.from(scores)));
    const all = wanted.weights[place.layer]?.data as number[];
    const end = (place.head + 1) * ids.length ** 2;
    expectNear(weights, all.slice(end - ids.length, end));
    const sum = range(D).map((d) =>
      dot(
        weights,
        ids.map((_, token) => row(values, token)[d] as number),
      ),
    );
    expectNear(found.layers[1]?.headOutputs.slice(place.head * D, (place.head + 1) * D) ?? [], sum);
    const angle = (ids.length - 1) * (frequencies[0] as number);
    const [a = 0, b = 0] = unrotated;
    expectNear(queries, [
      a * Math.cos(angle) - b * Math.sin(angle),
      b * Math.cos(angle) + a * Math.sin(angle),
    ]);
  });

  test("gets nothing from a dropped head", async () => {
    const path = "model.layers.1.self_attn";
    const less = await withoutHeads(model, [{ path, head: 2 }], () =>
      networkOf(model, { ids, head: place }),
    );
    const { E } = sizes;
    const added = less.layers[1]?.heads.slice(2 * E, 3 * E) ?? [];
    expectNear(added, new Array(E).fill(0));
    expectNear(less.layers[0]?.output ?? [], found.layers[0]?.output ?? []);
    expect(lengthOf(less.layers[1]?.attention ?? new Float32Array(1))).not.toBeCloseTo(
      lengthOf(found.layers[1]?.attention ?? new Float32Array(1)),
    );
  });

  test("leaves nothing in the engine", () => {
    const before = heed.memory().tensors.count;
    networkOf(model, { ids, head: place });
    weightsOfLayer(model, 0);
    expect(heed.memory().tensors.count).toBe(before);
  });
});

/** The value of a sum of products as it is written: "0.5 × (−1.2) + 0.3". */
function sumOf(words: string): number {
  const terms = words.replaceAll("−", "-").replaceAll(/[()]/g, "").split(" + ");
  return terms.reduce(
    (sum, term) =>
      sum + term.split(/\s×\s/).reduce((product, factor) => product * Number(factor), 1),
    0,
  );
}

describe("The formula of a number", () => {
  let facts: LayerFacts;
  beforeAll(() => {
    facts = {
      ...{ layer: 1, numbers: found.layers[1] as LayerFacts["numbers"], head: found.head },
      ...{ weights: weightsOfLayer(model, 1), tokens: ids.map(String), eps: found.eps },
    };
  });
  const formulaOf = (place: Place, i: number, of = facts) =>
    explainEntry(place, i, of)
      .formula.map(({ text }) => text)
      .join("");

  test.each<[Place, (i: number) => number | undefined]>([
    [{ of: "query" }, (i) => found.head?.unrotated[i]],
    [{ of: "sum" }, (i) => found.layers[1]?.headOutputs[place.head * sizes.D + i]],
    [{ of: "head", head: 3 }, (i) => found.layers[1]?.heads[3 * sizes.E + i]],
    [{ of: "between" }, (i) => found.layers[1]?.between[i]],
    [{ of: "gate" }, (i) => found.layers[1]?.gate[i]],
    [{ of: "up" }, (i) => found.layers[1]?.up[i]],
    [{ of: "unit" }, (i) => found.layers[1]?.units[i]],
    [{ of: "feed-forward" }, (i) => found.layers[1]?.feedForward[i]],
    [{ of: "output" }, (i) => found.layers[1]?.output[i]],
  ])("of %j sums up to what the engine found", (of, valueAt) => {
    for (const i of [0, 1]) {
      const [first = ""] = formulaOf(of, i).split("\n");
      const [terms = "", value] = first.split(" = ").slice(-2);
      const exact = valueAt(i) as number;
      expect(sumOf(value as string)).toBeCloseTo(exact, 2.9);
      expect(Math.abs(sumOf(terms) - exact)).toBeLessThan(0.02);
    }
  });

  test("of a norm divides by the root mean square", () => {
    const layer = found.layers[1] ?? expect.fail();
    for (const [of, results] of [
      [{ of: "first norm" }, layer.firstNormed],
      [{ of: "second norm" }, layer.secondNormed],
    ] as const) {
      const [line = ""] = formulaOf(of, 1).split("\n");
      const [, x, root, gain, y] =
        /= \(?(.+?)\)? ÷ (.+?) × \(?(.+?)\)? = (.+)/.exec(line.replaceAll("−", "-")) ?? [];
      expect(Math.abs((Number(x) / Number(root)) * Number(gain) - Number(y))).toBeLessThan(0.02);
      expect(Number(y)).toBeCloseTo(results[1] as number, 2.9);
    }
  });

  test("has no terms until the weights have come, and names other tokens' numbers", () => {
    const without = { ...facts, weights: null };
    expect(formulaOf({ of: "gate" }, 0, without)).toMatch(/^W_gate row 1 · … = −?[\d.]+$/);
    expect(formulaOf({ of: "key", token: 2 }, 1)).toContain("when token 3 was read");
    expect(formulaOf({ of: "score", token: 0 }, 0)).not.toContain("weight");
    expect(formulaOf({ of: "weight", token: 0 }, 0)).toContain("weight");
    expect(() => formulaOf({ of: "logit", rank: 0 }, 0)).toThrow("a layer has no logit");
  });

  test("of a logit and of a probability", () => {
    const { last: numbers, readings } = found;
    const stream = found.layers[1]?.output ?? expect.fail();
    const end = {
      ...{ stream, last: numbers, eps: found.eps, layers: 2 },
      tokens: Array.from(readings[4]?.ids ?? [], String),
    };
    const words = (place: Place) =>
      explainLast(place, 0, end)
        .formula.map(({ text }) => text)
        .join("");
    const [terms = "", logit] = words({ of: "logit", rank: 1 }).split(" = ");
    expect(sumOf(logit as string)).toBeCloseTo(numbers.logits[1] as number, 2.9);
    expect(Math.abs(sumOf(terms) - (numbers.logits[1] as number))).toBeLessThan(0.02);
    const share = words({ of: "share", rank: 1 }).split(" = ").at(-1);
    expect(Number(share)).toBeCloseTo(readings[4]?.shares[1] as number, 2.9);
  });
});

describe("A number's sources", () => {
  test.each<[Place, string, ReturnType<typeof sourcesOf>]>([
    [{ of: "weight", token: 3 }, "attended", [{ picture: "scores", col: 0 }]],
    [
      { of: "score", token: 3 },
      "scores",
      [
        { picture: "keys", place: { of: "key", token: 3 } },
        { picture: "keys", place: { of: "query" } },
      ],
    ],
    [
      { of: "sum" },
      "values",
      [
        { picture: "attended", col: 0 },
        { picture: "values", col: 5 },
      ],
    ],
    [{ of: "between" }, "after-attention", [{ picture: "after-attention", col: 5 }]],
    [{ of: "value", token: 3 }, "values", []],
  ])("of %j in %s are lit", (place, picture, sources) => {
    expect(sourcesOf(place, 5, picture)).toEqual(sources);
  });
});
