/** The numbers of the whole network of a language model, compared with the oracle in double precision. */
import { type Heed, load } from "heed";
import { CausalLanguageModel, type HubConfig, withoutHeads } from "heed/models";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { causalNetwork } from "../../web/src/network/causal";
import { explain } from "../../web/src/network/explain";
import type { Facts } from "../../web/src/network/facts";
import { lengthOf } from "../../web/src/network/formulas";
import { layerMatrices } from "../../web/src/network/layer";
import type {
  AttentionNumbers,
  FeedForwardNumbers,
  RowName,
  Spot,
  StackNumbers,
} from "../../web/src/network/messages";
import { sourcesOf } from "../../web/src/network/sources";
import { spotFrom, textOfSpot } from "../../web/src/network/spots";
import { llama, type Parts } from "../js/language_oracle";
import { layerNorm, type Parameters } from "../js/layer_oracle";
import { parametersOf, randomise } from "../js/modules";
import { activations, type Values } from "../js/oracle";
import { dot, expectNear, range, softmax, sumOf } from "./networkSums";

/** Small sizes, so that no formula is abbreviated. */
const sizes = { E: 8, H: 4, G: 2, D: 2, F: 8, V: 31, layers: 2 };
const plain = {
  ...{ model_type: "llama", vocab_size: sizes.V, hidden_size: sizes.E, head_dim: sizes.D },
  ...{ intermediate_size: sizes.F, num_hidden_layers: sizes.layers, tie_word_embeddings: true },
  ...{ num_attention_heads: sizes.H, num_key_value_heads: sizes.G, rope_theta: 300 },
  ...{ max_position_embeddings: 32, rms_norm_eps: 1e-5 },
};
const ids = [3, 17, 4, 4, 29, 8];
const text: Values = { data: ids, shape: [1, ids.length] };
const head = 2;
const wordOf = (id: number) => `token ${id}`;

let heed: Heed;
beforeAll(async () => {
  heed = await load({ threads: 1 });
});
afterAll(() => heed.dispose());

const last = ({ data, shape }: Values): number[] =>
  Array.from(data).slice(-(shape.at(-1) as number));

/** The parts of the open layer. */
function partsIn({ open }: StackNumbers) {
  const [attention, feedForward] = open?.parts ?? [];
  return {
    attention: attention as AttentionNumbers,
    feedForward: feedForward as FeedForwardNumbers,
  };
}

const models = {
  "the layout of the room's own model": plain,
  "a model with biases and a head of its own": {
    ...{ ...plain, tie_word_embeddings: false, attention_bias: true, mlp_bias: true },
  },
  "a model that normalises its queries": { ...plain, model_type: "qwen3" },
  "a model with a window": { ...plain, model_type: "mistral", sliding_window: 3 },
} satisfies Record<string, HubConfig>;

describe.each<[string, HubConfig]>(Object.entries(models))(
  "The trace of a token through %s",
  (name, config) => {
    let model: CausalLanguageModel;
    let parameters: Parameters;
    let wanted: ReturnType<typeof llama>;
    const windows = name.includes("window") ? [3, 3] : [];
    const ask = (layer: number | null, ablated: readonly string[] = []) =>
      causalNetwork(model, { ids, layer, head, ablated }, wordOf);
    const factsOf = (numbers: StackNumbers): Facts => ({
      ...{ numbers, matrices: layerMatrices(model, 1), tokens: ids.map(String), sources: [] },
      place: ids.length - 1,
    });
    beforeAll(() => {
      model = new CausalLanguageModel(heed, config);
      parameters = randomise(model, 5);
      wanted = llama(parameters, config, text, windows);
    });

    test("has the oracle's vectors in every layer", () => {
      for (const layer of range(sizes.layers)) {
        const found = ask(layer);
        const { attention, feedForward } = partsIn(found);
        const parts = wanted.parts[layer] as Parts;
        const own = parameters.of(`model.layers.${layer}`);
        expect(found.open?.layer).toBe(layer);
        expectNear(attention.norm.input, last(parts.input));
        expectNear(attention.norm.gain, own.get("input_layernorm.weight").data);
        expectNear(attention.norm.result, last(parts.attentionInput));
        expectNear(attention.headOutputs, last(parts.headOutputs));
        expectNear(attention.added, last(parts.attention));
        expectNear(attention.output, last(parts.between));
        expectNear(feedForward.norm.input, last(parts.between));
        expectNear(feedForward.norm.gain, own.get("post_attention_layernorm.weight").data);
        expectNear(feedForward.norm.result, last(parts.feedForwardInput));
        expectNear(feedForward.gate, last(parts.gate));
        expectNear(feedForward.up, last(parts.up));
        expectNear(feedForward.units, last(parts.units));
        expectNear(feedForward.added, last(parts.feedForward));
        expectNear(feedForward.output, last(parts.output));
        expectNear(
          found.lengths.map(({ stream }) => stream),
          wanted.parts.map(({ output }) => lengthOf(Float32Array.from(last(output)))),
        );
        const added = [parts.attention, parts.feedForward].map((part) =>
          Float32Array.from(last(part)),
        );
        expectNear(found.lengths[layer]?.added, added.map(lengthOf));
      }
      const { start, open } = ask(null);
      expect(open).toBeNull();
      expectNear(start.stream, last(wanted.parts[0]?.input as Values));
      expectNear(start.token, start.stream);
    });

    test("has the vectors that each head and each unit adds, and the tokens that each head attends to", () => {
      const { E, H, D, F } = sizes;
      for (const layer of range(sizes.layers)) {
        const { attention, feedForward } = partsIn(ask(layer));
        const own = parameters.of(`model.layers.${layer}`);
        const [output, down] = ["self_attn.o_proj.weight", "mlp.down_proj.weight"].map(
          (name) => own.get(name).data,
        ) as [number[], number[]];
        const joined = last((wanted.parts[layer] as Parts).headOutputs);
        for (const head of range(H)) {
          const part = joined.map((each, j) => (Math.floor(j / D) === head ? each : 0));
          const added = range(E).map((row) => dot(part, output.slice(row * H * D)));
          expectNear(attention.heads.slice(head * E, (head + 1) * E), added);
          const all = (wanted.weights[layer] as Values).data as number[];
          const end = (head + 1) * ids.length ** 2;
          const weights = all.slice(end - ids.length, end);
          expect(attention.mostWeights[head]).toBeCloseTo(Math.max(...weights), 5);
          expect(attention.most[head]).toBe(weights.indexOf(Math.max(...weights)));
        }
        const sum = range(E).map(
          (i) =>
            dot(
              range(H).map((head) => attention.heads[head * E + i] as number),
              range(H).fill(1),
            ) + (attention.bias?.[i] ?? 0),
        );
        expectNear(attention.added, sum);
        const lengths = range(F).map((unit) => {
          const column = range(E).map((row) => down[row * F + unit] as number);
          return Math.abs(feedForward.units[unit] as number) * lengthOf(Float32Array.from(column));
        });
        expectNear(feedForward.unitLengths, lengths);
      }
    });

    test("is read out as if the model ended there", () => {
      const prediction = (layers: number) => {
        const shorter = { ...config, num_hidden_layers: layers };
        return softmax(last(llama(parameters, shorter, text, windows).logits as Values));
      };
      const { readings, end } = ask(0);
      const shares = prediction(2);
      const winner = shares.indexOf(Math.max(...shares));
      expect(readings).toHaveLength(5);
      for (const layers of [0, 1, 2]) {
        const reading = readings?.[2 * layers] ?? expect.fail("it is not read out");
        const shares = prediction(layers);
        const order = [...shares.keys()].sort((a, b) => (shares[b] ?? 0) - (shares[a] ?? 0));
        expect([...reading.ids]).toEqual(order.slice(0, 10));
        expect(reading.words[0]).toBe(wordOf(reading.ids[0] as number));
        expectNear(
          reading.shares,
          Array.from(reading.ids, (id) => shares[id] as number),
        );
        expect(reading.winner).toBeCloseTo(shares[winner] as number, 5);
      }
      const { norm, prediction: said } = end ?? expect.fail();
      const { logits, logSum, rows } = said ?? expect.fail();
      expectNear(
        Array.from(logits, (logit) => Math.exp(logit - logSum)),
        readings?.[4]?.shares,
      );
      expectNear(
        logits,
        Array.from(logits, (_, i) =>
          dot(norm.result, rows?.slice(i * sizes.E, (i + 1) * sizes.E) ?? []),
        ),
      );
      // The reading between attention and feed-forward network equals the end of a model whose feed-forward network
      // adds nothing.
      const state = model.stateDict();
      const zeroed = ["weight", "bias"].flatMap(
        (name) => state[`model.layers.1.mlp.down_proj.${name}`]?.data ?? [],
      );
      const kept = zeroed.map((data) => data.slice());
      for (const data of zeroed) data.fill(0);
      const without = ask(null).readings?.[4];
      for (const [i, data] of zeroed.entries()) data.set(kept[i] as Float32Array);
      expectNear(without?.shares, readings?.[3]?.shares);
    });

    test("has the query, the keys and the values of the selected head", () => {
      const { D } = sizes;
      const { attention } = partsIn(ask(1));
      const { shares, values, projected, queryNorm, frequencies } = attention.head;
      const { queries, keys, scores, weights } = shares;
      const row = (all: Float32Array, token: number) => all.slice(token * D, (token + 1) * D);
      const hidden = ids.length - (windows[1] ?? ids.length);
      expectNear(
        scores.slice(hidden),
        ids.map((_, token) => dot(queries, row(keys, token)) / Math.sqrt(D)).slice(hidden),
      );
      expect([...scores.slice(0, hidden)]).toEqual(range(hidden).fill(Number.NEGATIVE_INFINITY));
      expectNear(weights, softmax(Array.from(scores)));
      const all = wanted.weights[1]?.data as number[];
      const end = (head + 1) * ids.length ** 2;
      expectNear(weights, all.slice(end - ids.length, end));
      const sum = range(D).map((d) =>
        dot(
          weights,
          ids.map((_, token) => row(values, token)[d] as number),
        ),
      );
      expectNear(attention.headOutputs.slice(head * D, (head + 1) * D), sum);
      const angle = (ids.length - 1) * (frequencies?.[0] as number);
      const [a = 0, b = 0] = queryNorm?.result ?? projected;
      expect(queryNorm !== null).toBe(config.model_type === "qwen3");
      expectNear(queries, [
        a * Math.cos(angle) - b * Math.sin(angle),
        b * Math.cos(angle) + a * Math.sin(angle),
      ]);
    });

    test("has no contribution of an ablated head, and leaves no tensors in the engine", async () => {
      const before = heed.memory().tensors.count;
      const whole = partsIn(ask(1)).attention;
      const path = "model.layers.1.self_attn";
      const less = await withoutHeads(model, [{ path, head: 2 }], () => ask(1, ["2.3"]));
      const { D, E } = sizes;
      const { attention } = partsIn(less);
      // The formulas of the ablated head still hold: the sum of its values is unchanged, but is not passed on.
      const own = whole.headOutputs.slice(head * D, (head + 1) * D);
      expectNear(attention.head.sum, own);
      expect(less.ablated).toEqual(["2.3"]);
      const wordsOf = (of: RowName, row: number) =>
        (explain({ part: "attention", of, row, col: 1 }, factsOf(less))?.formula ?? [])
          .map(({ text }) => text)
          .join("");
      const [sum = "", ...after] = wordsOf("sum", 0).split("\n");
      const [terms = "", value = ""] = sum.split(" = ");
      expect(sumOf(value)).toBeCloseTo(own[1] as number, 2.9);
      expect(Math.abs(sumOf(terms) - (own[1] as number))).toBeLessThan(0.02);
      expect(after).toEqual(["the head is ablated: its sum is not passed on"]);
      expect(wordsOf("head", 2)).toBe("the head is ablated = 0.000");
      expect(wordsOf("head", 1)).toContain(" · its sum = ");
      expectNear(attention.heads.slice(2 * E, 3 * E), new Array(E).fill(0));
      expectNear(attention.norm.input, whole.norm.input);
      expect(lengthOf(attention.added)).not.toBeCloseTo(lengthOf(whole.added));
      layerMatrices(model, 0);
      expect(heed.memory().tensors.count).toBe(before);
    });

    const rows: readonly (readonly [RowName, "attention" | "feed-forward", number])[] = [
      ...(["query", "sum", "head", "output"] as const).map((of) => [of, "attention", 3] as const),
      ...(["gate", "up", "unit", "added", "output"] as const).map(
        (of) => [of, "feed-forward", 0] as const,
      ),
    ];
    test.each(rows)("the formula of a %s of %s gives the engine's number", (of, part, row) => {
      const numbers = ask(1);
      const { attention, feedForward } = partsIn(numbers);
      const facts = factsOf(numbers);
      const { D, E } = sizes;
      for (const col of [0, 1]) {
        const exact = {
          query: attention.head.projected[col],
          sum: attention.headOutputs[head * D + col],
          head: attention.heads[3 * E + col],
          output: (part === "attention" ? attention : feedForward).output[col],
          gate: feedForward.gate[col],
          up: feedForward.up?.[col],
          unit: feedForward.units[col],
          added: feedForward.added[col],
        }[of as string] as number;
        const shown = explain({ part, of, row, col }, facts) ?? expect.fail("there is no formula");
        const words = shown.formula.map(({ text }) => text).join("");
        const [terms = "", value] = (words.split("\n")[0] as string).split(" = ").slice(-2);
        expect(sumOf(value as string)).toBeCloseTo(exact, 2.9);
        expect(Math.abs(sumOf(terms) - exact)).toBeLessThan(0.02);
      }
    });

    test("the formulas of norms, logits and probabilities give the engine's numbers", () => {
      const numbers = ask(1);
      const facts: Facts = {
        ...{ numbers, matrices: null, tokens: ids.map(String), sources: [], place: ids.length - 1 },
      };
      const words = (spot: Spot) =>
        (explain(spot, facts)?.formula ?? []).map(({ text }) => text).join("");
      const { attention, feedForward } = partsIn(numbers);
      for (const part of [attention, feedForward]) {
        const [line = ""] = words({ part: part.name, of: "norm", row: 0, col: 1 }).split("\n");
        const [, x, root, gain, y] =
          /= \(?(.+?)\)? ÷ (.+?) × \(?(.+?)\)? = (.+)/.exec(line.replaceAll("−", "-")) ?? [];
        expect(Math.abs((Number(x) / Number(root)) * Number(gain) - Number(y))).toBeLessThan(0.02);
        expect(Number(y)).toBeCloseTo(part.norm.result[1] as number, 2.9);
      }
      const { logits } = numbers.end?.prediction ?? expect.fail();
      const end = (of: RowName) => words({ part: "end", of, row: 1, col: 0 });
      const [terms = "", logit] = end("logit").split(" = ");
      expect(sumOf(logit as string)).toBeCloseTo(logits[1] as number, 2.9);
      expect(Math.abs(sumOf(terms) - (logits[1] as number))).toBeLessThan(0.02);
      const share = end("share").split(" = ").at(-1);
      expect(Number(share)).toBeCloseTo(numbers.readings?.[4]?.shares[1] as number, 2.9);
      expect(words({ part: "feed-forward", of: "gate", row: 0, col: 0 })).toMatch(
        /^W_gate row 1 · … = −?[\d.]+$/,
      );
      expect(words({ part: "attention", of: "key", row: 2, col: 1 })).toContain(
        "when token 3 was read",
      );
      expect(words({ part: "attention", of: "score", row: 5, col: 0 })).not.toContain("weight");
      expect(words({ part: "attention", of: "weight", row: 5, col: 0 })).toContain("weight");
      // A link may name a number that does not exist.
      for (const of of ["logit", "map", "unit"] as const)
        expect(explain({ part: "attention", of, row: 0, col: 0 }, facts)).toBeNull();
      expect(explain({ part: "feed-forward", of: "unit", row: 0, col: 99 }, facts)).toBeNull();
    });
  },
);

test("GPT-2 adds learned positions, norms with biases and units without a gate", () => {
  const size = { n_embd: 8, n_head: 4, n_layer: 2, n_positions: 16, vocab_size: 31 };
  const model = new CausalLanguageModel(heed, { model_type: "gpt2", ...size });
  randomise(model, 9);
  const p = parametersOf(model);
  const found = causalNetwork(model, { ids, layer: 1, head, ablated: [] }, wordOf);
  const { attention, feedForward } = partsIn(found);
  const rowOf = (name: string, row: number) =>
    Array.from(p.get(name).data).slice(row * 8, (row + 1) * 8);
  const { token, position, stream, positions } = found.start;
  expect(positions).toBe("learned");
  expectNear(token, rowOf("model.embed_tokens.weight", 8));
  expectNear(position, rowOf("model.embed_positions.weight", 5));
  expectNear(
    stream,
    Array.from(token, (each, i) => each + (position?.[i] as number)),
  );
  const layer = p.of("model.layers.1");
  for (const [norm, name] of [
    [attention.norm, "input_layernorm"],
    [feedForward.norm, "post_attention_layernorm"],
    [(found.end ?? expect.fail()).norm, "../../norm"],
  ] as const) {
    const own = name.startsWith("..") ? p.of("model.norm") : layer.of(name);
    const input = { data: Array.from(norm.input), shape: [1, 8] };
    expectNear(norm.result, layerNorm(own, input, norm.eps).data);
    expectNear(norm.bias, own.get("bias").data);
  }
  const [up, bias] = ["weight", "bias"].map((name) => layer.get(`mlp.up_proj.${name}`).data);
  const before = range(32).map(
    (unit) =>
      dot(feedForward.norm.result, Array.from(up as number[]).slice(unit * 8, (unit + 1) * 8)) +
      (bias?.[unit] as number),
  );
  expectNear(feedForward.gate, before);
  expect([feedForward.up, feedForward.activation]).toEqual([null, "geluTanh"]);
  expectNear(feedForward.units, before.map(activations.geluTanh));
  const query = layer.of("self_attn.q_proj");
  const entry = (i: number) => head * 2 + i;
  expectNear(
    attention.head.shares.queries,
    [0, 1].map(
      (i) =>
        dot(
          attention.norm.result,
          Array.from(query.get("weight").data).slice(entry(i) * 8, (entry(i) + 1) * 8),
        ) + (query.get("bias").data[entry(i)] as number),
    ),
  );
  const { logits } = model.forward(heed.tensor(Int32Array.from(ids), [1, ids.length]));
  const prediction = softmax(Array.from(logits.data).slice(-31));
  const end = found.readings?.at(-1) ?? expect.fail();
  expectNear(
    end.shares,
    Array.from(end.ids, (id) => prediction[id] as number),
  );
  const facts: Facts = {
    ...{ numbers: found, matrices: layerMatrices(model, 1), tokens: ids.map(String), sources: [] },
    place: 5,
  };
  const unit = explain({ part: "feed-forward", of: "unit", row: 0, col: 3 }, facts);
  expect(unit?.formula.map(({ text }) => text).join("")).toMatch(
    /^GELU\(x\) = GELU\(−?[\d.]+\) = /,
  );
});

test("A model in int8 has all numbers except those that need its quantised weights", () => {
  const small = { ...plain, hidden_size: 32, intermediate_size: 64, head_dim: 8 };
  const model = new CausalLanguageModel(heed, small);
  const { weight } = model.model.layers[1]?.mlp.downProj ?? expect.fail();
  const packed = heed.packWeights(weight as never, { format: "int8" });
  Object.assign(model.model.layers[1]?.mlp.downProj as object, { weight: [packed] });
  const { feedForward } = partsIn(
    causalNetwork(model, { ids, layer: 1, head, ablated: [] }, wordOf),
  );
  expect(feedForward.unitLengths).toBeNull();
  expect(lengthOf(feedForward.added)).toBeGreaterThan(0);
  expect(layerMatrices(model, 1)).toBeNull();
  expect(layerMatrices(model, 0)).not.toBeNull();
});

describe("A number's sources", () => {
  test.each<[RowName, ReturnType<typeof sourcesOf>]>([
    ["weight", [{ picture: "scores", col: 0 }]],
    [
      "score",
      [
        { picture: "keys", place: { part: "attention", of: "key", row: 3 } },
        { picture: "keys", place: { part: "attention", of: "query", row: 0 } },
      ],
    ],
    [
      "sum",
      [
        { picture: "weights", col: 0 },
        { picture: "values", col: 5 },
      ],
    ],
    ["output", [{ picture: "add", col: 5 }]],
    ["value", []],
  ])("of a %s are lit", (of, sources) => {
    expect(sourcesOf({ part: "attention", of, row: 3, col: 5 })).toEqual(sources);
  });
});

test("A locked number is read from a link as it was written, and invalid ones are refused", () => {
  for (const text of ["feed-forward.unit.6", "attention.key.3.5", "start.stream.1"])
    expect(textOfSpot(spotFrom(text))).toBe(text);
  expect(spotFrom("attention.key.3.5")).toEqual({ part: "attention", of: "key", row: 2, col: 4 });
  for (const text of ["", "attention.key.3", "attention.unit.0", "attention.query.1.2", "x.unit.1"])
    expect(() => spotFrom(text)).toThrow(RangeError);
});
