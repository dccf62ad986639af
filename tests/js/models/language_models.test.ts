// Language models created from configs: compared with the oracle in double precision, in training, with a cache, and in
// the attention and states that they return.

import type { Heed, Tensor } from "heed";
import { CausalLanguageModel, type HubConfig, withoutHeads } from "heed/models";
import { nn, optim, safetensors, valueAndGrad } from "heed/nn";
import { describe, expect, test } from "vitest";
import { describeEngines, engine, refusal } from "../engine.js";
import { type Answer, llama, type Parts } from "../language_oracle.js";
import { expectStates, lossOf, seen, slopeAt } from "../loaded.js";
import { expectValues, randomise } from "../modules.js";
import type { Values } from "../oracle.js";
import { expectClose, expectSameBits, Random } from "../values.js";

const [B, L, V] = [2, 7, 23];
const llamaConfig = {
  ...{ model_type: "llama", vocab_size: V, hidden_size: 12, intermediate_size: 20 },
  ...{ num_hidden_layers: 2, num_attention_heads: 6, num_key_value_heads: 2 },
  ...{ max_position_embeddings: 32, rms_norm_eps: 1e-5, rope_theta: 500 },
};

const llama3 = {
  ...{ rope_type: "llama3", factor: 8, low_freq_factor: 1, high_freq_factor: 4 },
  original_max_position_embeddings: 24,
};

const gemma3 = {
  ...{ ...llamaConfig, model_type: "gemma3_text", head_dim: 4, query_pre_attn_scalar: 9 },
  ...{ rope_theta: 700, rope_local_base_freq: 90, tie_word_embeddings: true },
};

const phi3 = {
  ...{ ...llamaConfig, model_type: "phi3", head_dim: 8, partial_rotary_factor: 0.75 },
  rope_scaling: { type: "longrope", short_factor: [1, 1.5, 2], long_factor: [2, 4, 8] },
};

/** Configs of the families of Llama and Gemma, and the windows that their fields mean. */
const variants: Record<string, { config: HubConfig; windows?: (number | undefined)[] }> = {
  "Llama with grouped heads": { config: llamaConfig },
  "Llama with tied embeddings and all biases": {
    config: { ...llamaConfig, tie_word_embeddings: true, attention_bias: true, mlp_bias: true },
  },
  "Llama 3's scaled rotation": {
    config: { ...llamaConfig, head_dim: 8, rope_theta: 10000, rope_scaling: llama3 },
  },
  "a linearly scaled rotation": {
    config: { ...llamaConfig, rope_scaling: { type: "linear", factor: 4 } },
  },
  "Mistral's window": {
    config: { ...llamaConfig, model_type: "mistral", sliding_window: 3 },
    windows: [3, 3],
  },
  "Mistral without a window": {
    config: { ...llamaConfig, model_type: "mistral", sliding_window: null },
  },
  "Qwen2 with its biases": {
    config: { ...llamaConfig, model_type: "qwen2", sliding_window: 3, tie_word_embeddings: true },
  },
  "Qwen2 with windows in later layers": {
    config: {
      ...{ ...llamaConfig, model_type: "qwen2", sliding_window: 3, use_sliding_window: true },
      max_window_layers: 1,
    },
    windows: [undefined, 3],
  },
  "Qwen3 with norms of heads": {
    config: { ...llamaConfig, model_type: "qwen3", head_dim: 4, num_key_value_heads: 1 },
  },
  "Qwen3 with types of layers": {
    config: {
      ...{ ...llamaConfig, model_type: "qwen3", sliding_window: 2, use_sliding_window: true },
      layer_types: ["sliding_attention", "full_attention"],
    },
    windows: [2, undefined],
  },
  "Gemma 3 with local layers": {
    config: {
      ...{ ...gemma3, sliding_window: 3, sliding_window_pattern: 2, final_logit_softcapping: 2 },
      rope_scaling: { rope_type: "linear", factor: 8 },
    },
    windows: [3, undefined],
  },
  "Gemma 3 with types of layers": {
    config: {
      ...{ ...gemma3, sliding_window: 2, layer_types: ["full_attention", "sliding_attention"] },
      rope_parameters: {
        full_attention: { rope_type: "default", rope_theta: 700 },
        sliding_attention: { rope_type: "default", rope_theta: 90 },
      },
    },
    windows: [undefined, 2],
  },
  "Gemma 2 with limits and local layers": {
    config: {
      ...{ ...llamaConfig, model_type: "gemma2", head_dim: 4, query_pre_attn_scalar: 9 },
      ...{ sliding_window: 3, attn_logit_softcapping: 0.7, final_logit_softcapping: 2 },
      tie_word_embeddings: true,
    },
    windows: [3, undefined],
  },
  "Phi-3 with a window": {
    config: { ...llamaConfig, model_type: "phi3", sliding_window: 3 },
    windows: [3, 3],
  },
  "Phi-3 with the rotation of shorter texts": {
    config: { ...phi3, original_max_position_embeddings: L },
  },
  "Phi-3 with the rotation of longer texts": {
    config: { ...phi3, original_max_position_embeddings: L - 1 },
  },
};

const texts: Values & { data: number[] } = (() => {
  const random = new Random(91);
  return { data: Array.from({ length: B * L }, () => random.whole(0, V - 1)), shape: [B, L] };
})();
const idsOf = (heed: Heed, { data, shape }: Values) => heed.tensor(Int32Array.from(data), shape);
const row = (b: number) => texts.data.slice(b * L, (b + 1) * L);

/** Expects that a model with these parameters returns the oracle's results. */
function expectAnswer(heed: Heed, model: CausalLanguageModel, answer: Answer): void {
  const weights: Values[] = [];
  const { logits, hiddenStates } = nn.captureAttention(model, seen(weights), () =>
    model.forward(idsOf(heed, texts), { needHiddenStates: true }),
  );
  expectValues(logits, answer.logits as Values);
  expectStates(answer, hiddenStates, weights);
}

describeEngines((heed) => {
  for (const [name, { config, windows }] of Object.entries(variants)) {
    test(`${name}: states, weights and logits are those of the oracle`, () => {
      heed().scope(() => {
        const model = new CausalLanguageModel(heed(), config);
        const p = randomise(model, 92);
        expectAnswer(heed(), model, llama(p, config, texts, windows));
      });
    });

    test(`${name}: the cache gives the logits of the whole text`, () => {
      heed().scope(() => {
        const model = new CausalLanguageModel(heed(), config);
        randomise(model, 93);
        const whole = model.forward(idsOf(heed(), texts)).logits;
        const cache = model.createCache({ batch: B, capacity: L });
        for (const [start, length] of [[0, 3] as const, [3, 1] as const, [4, 3] as const]) {
          const part = [0, 1].flatMap((b) => row(b).slice(start, start + length));
          const ids = idsOf(heed(), { data: part, shape: [B, length] });
          const { logits } = model.forward(ids, { cache });
          const wanted = heed().slice(whole, { axis: 1, start, length });
          expectClose(logits, [B, length, V], wanted.data);
        }
        expect(cache.lengths).toEqual([L, L]);
      });
    });
  }

  for (const name of [
    "Llama with tied embeddings and all biases",
    "Qwen3 with norms of heads",
    "Gemma 3 with local layers",
    "Gemma 2 with limits and local layers",
  ]) {
    test(`${name}: the parts of each layer are those of the oracle`, () => {
      heed().scope(() => {
        const { config, windows } = variants[name] as (typeof variants)[string];
        const model = new CausalLanguageModel(heed(), config);
        const { parts: wanted, logits } = llama(randomise(model, 97), config, texts, windows);
        const layers: number[] = [];
        let last: Tensor | undefined;
        model.forward(idsOf(heed(), texts), {
          receiveLayer(layer, parts) {
            layers.push(layer);
            expect(Object.keys(parts).sort()).toEqual(Object.keys(wanted[layer] as Parts).sort());
            for (const [part, values] of Object.entries(wanted[layer] as Parts))
              expectValues(parts[part as keyof Parts] as Tensor, values);
            last = heed().keep(parts.output);
          },
        });
        expect(layers).toEqual([0, 1]);
        expectValues(model.readOut(last as Tensor), logits as Values);
        last?.dispose();
      });
    });
  }

  test("gradients of all parameters equal finite differences", () => {
    const config = {
      ...{ ...llamaConfig, model_type: "qwen3", tie_word_embeddings: true, head_dim: 4 },
      num_hidden_layers: 1,
    };
    heed().scope(() => {
      const model = new CausalLanguageModel(heed(), config);
      const p = randomise(model, 94);
      const ids = idsOf(heed(), texts);
      const wanted = texts.data.map((id) => (id + 5) % V);
      const targets = heed().tensor(Int32Array.from(wanted), [B, L]);
      const run = () => heed().crossEntropy(model.forward(ids).logits, targets);
      const { gradients, value } = valueAndGrad(model, run);
      const loss = () => lossOf(llama(p, config, texts).logits as Values, wanted);
      expect(value).toBeCloseTo(loss(), 5);
      const names = model.namedParameters();
      expect(gradients.length).toBe(names.length);
      const random = new Random(95);
      for (const [i, [name, tensor]] of names.entries()) {
        const at = random.whole(0, tensor.size - 1);
        expect(gradients[i]?.data[at], name).toBeCloseTo(slopeAt(p.get(name), at, loss), 5);
      }
    });
  });
});

describe("a model of the family of Llama", () => {
  const heed = engine({ threads: 1 });

  test("the same seed gives the same model, which keeps its parameters under Llama's names", () => {
    const [a, b, c] = [1, 1, 2].map(
      (seed) => new CausalLanguageModel(heed(), llamaConfig, { seed }),
    ) as [CausalLanguageModel, CausalLanguageModel, CausalLanguageModel];
    const name = "model.layers.1.self_attn.q_proj.weight";
    const read = (model: CausalLanguageModel) => model.stateDict()[name]?.data as Float32Array;
    expectSameBits(read(a), read(b));
    expect(read(a)).not.toEqual(read(c));
    const file = safetensors.write(a.stateDict());
    expect(c.loadStateDict(safetensors.read(file).tensors)).toEqual({
      missing: [],
      unexpected: [],
    });
    expectSameBits(read(c), read(a));
    for (const model of [a, b, c]) model.dispose();
    expect(heed().memory().tensors.count).toBe(0);
  });

  test("each architecture has the biases and norms that its checkpoints have", () => {
    const of = (more: HubConfig) => {
      const model = new CausalLanguageModel(heed(), { ...llamaConfig, ...more });
      const part = "model.layers.0.self_attn.";
      const names = Object.keys(model.stateDict()).filter((name) => name.startsWith(part));
      model.dispose();
      return names.map((name) => name.slice(part.length)).filter((name) => !/j.weight$/.test(name));
    };
    const biases = ["q_proj.bias", "k_proj.bias", "v_proj.bias"];
    expect(of({})).toEqual([]);
    expect(of({ attention_bias: true })).toEqual([...biases, "o_proj.bias"]);
    expect(of({ model_type: "mistral" })).toEqual([]);
    expect(of({ model_type: "qwen2" })).toEqual(biases);
    expect(of({ model_type: "qwen3" })).toEqual(["q_norm.weight", "k_norm.weight"]);
  });

  test("it learns a text by heart, and writes it", async () => {
    const config = { ...llamaConfig, tie_word_embeddings: true };
    const model = new CausalLanguageModel(heed(), config, { seed: 3 });
    const adam = new optim.Adam(model, { learningRate: 0.02 });
    const [ids, targets] = [0, 1].map((start) =>
      heed().tensor([row(0).slice(start, start + L - 1)], undefined, "int32"),
    ) as [Tensor, Tensor];
    let loss = Number.POSITIVE_INFINITY;
    for (let step = 0; step < 150 && loss > 0.01; ++step) {
      const run = () => heed().crossEntropy(model.forward(ids).logits, targets);
      const { value, gradients } = valueAndGrad(model, run);
      adam.step(gradients);
      loss = value;
    }
    expect(loss).toBeLessThan(0.01);
    const [written] = await model.generate([row(0).slice(0, 2)], { maxLength: L - 2 });
    expect(written).toEqual(row(0).slice(2));
    for (const each of [model, adam, ids, targets]) each.dispose();
    expect(heed().memory().tensors.count).toBe(0);
    expect(heed().memory().caches.count).toBe(0);
  });

  test("queries, keys, values and scores make the weights", () => {
    heed().scope(() => {
      const model = new CausalLanguageModel(heed(), llamaConfig);
      randomise(model, 96);
      const paths: string[] = [];
      nn.captureAttention(
        model,
        (path, weights, compared) => {
          paths.push(path);
          const { query, key, value, scores } = compared?.() ?? expect.fail("nothing to compare");
          expect([query.shape, key.shape, value.shape]).toEqual([
            [B, 6, L, 2],
            [B, 2, L, 2],
            [B, 2, L, 2],
          ]);
          const again = heed().attention(query, key, value, { isCausal: true, needWeights: true });
          expectClose(weights, [B, 6, L, L], again.weights.data);
          const causal = { isCausal: true, capture: "scores" } as const;
          expectClose(
            scores(),
            [B, 6, L, L],
            heed().attention(query, key, value, causal).capture.data,
          );
        },
        () => model.forward(idsOf(heed(), texts)),
      );
      expect(paths).toEqual(["model.layers.0.self_attn", "model.layers.1.self_attn"]);
    });
  });

  test("a model runs without heads as if their part of the output projection were zero", async () => {
    const model = new CausalLanguageModel(heed(), llamaConfig);
    randomise(model, 98);
    const run = () => heed().scope(() => model.forward(idsOf(heed(), texts)).logits.data.slice());
    const path = "model.layers.1.self_attn";
    const whole = run();
    const without = await withoutHeads(
      model,
      [
        { path, head: 2 },
        { path, head: 5 },
      ],
      run,
    );
    expect(run()).toEqual(whole);
    const projection = model.stateDict()[`${path}.o_proj.weight`]?.data as Float32Array;
    for (let i = 0; i < projection.length; ++i)
      if ([2, 5].includes(Math.floor((i % 12) / 2))) projection[i] = 0;
    expect(without).toEqual(run());
    expect(without).not.toEqual(whole);
    await expect(withoutHeads(model, [{ path, head: 6 }], run)).rejects.toThrow(
      "heads[0].head: expected a whole number from 0 to 5, got 6",
    );
    await expect(withoutHeads(model, [{ path: "layers.1", head: 0 }], run)).rejects.toThrow(
      `heads[0].path: expected one of model.layers.0.self_attn, ${path}, got "layers.1"`,
    );
    model.dispose();
  });

  test("a mean in place of a head's output gives the logits of the oracle", async () => {
    const model = new CausalLanguageModel(heed(), llamaConfig);
    const p = randomise(model, 99);
    const [layer, head, D] = [0, 4, 2];
    const { headOutputs } = llama(p, llamaConfig, texts).parts[layer] as Parts;
    const isOwn = (i: number) => Math.floor((i % 12) / D) === head;
    const own = Array.from(headOutputs.data).filter((_, i) => isOwn(i));
    const mean = [0, 1].map(
      (d) => own.reduce((sum, value, i) => sum + (i % D === d ? value : 0), 0) / (B * L),
    );
    const replaced = ({ data, shape }: Values, at: number) => ({
      data: Array.from(data, (value, i) =>
        at === layer && isOwn(i) ? (mean[i % D] as number) : value,
      ),
      shape,
    });
    const { logits } = llama(p, llamaConfig, texts, [], replaced);
    const ablated = { path: `model.layers.${layer}.self_attn`, head };
    const run = () => heed().scope(() => model.forward(idsOf(heed(), texts)).logits.data.slice());
    const output = Float32Array.from(mean);
    const found = await withoutHeads(model, [{ ...ablated, output }], run);
    heed().scope(() =>
      expectValues(heed().tensor(found as Float32Array, [B, L, V]), logits as Values),
    );
    expect(found).not.toEqual(await withoutHeads(model, [ablated], run));
    const short = { ...ablated, output: new Float32Array(1) };
    await expect(withoutHeads(model, [short], run)).rejects.toThrow(
      "heads[0].output: expected a Float32Array of 2 numbers",
    );
    model.dispose();
  });

  test("the last position alone, and what each layer would say", () => {
    heed().scope(() => {
      const model = new CausalLanguageModel(heed(), llamaConfig);
      randomise(model, 97);
      const ids = idsOf(heed(), texts);
      const { logits, hiddenStates } = model.forward(ids, { needHiddenStates: true });
      const last = heed().slice(logits, { axis: 1, start: L - 1, length: 1 });
      expectClose(model.forward(ids, { onlyLast: true }).logits, [B, 1, V], last.data);
      // The state before the last layer, of a model that has only the first one.
      const config = { ...llamaConfig, num_hidden_layers: 1 };
      const shorter = new CausalLanguageModel(heed(), config);
      shorter.loadStateDict(
        Object.fromEntries(
          Object.entries(model.stateDict()).filter(([name]) => !name.includes("layers.1.")),
        ),
      );
      const first = shorter.forward(ids).logits;
      expectClose(model.readOut(hiddenStates[1] as Tensor), [B, L, V], first.data);
    });
  });

  test("without a gate a layer has units alone", () => {
    const sizes = { n_embd: 12, n_head: 2, n_layer: 1, n_positions: 16, vocab_size: V };
    heed().scope(() => {
      const model = new CausalLanguageModel(heed(), { model_type: "gpt2", ...sizes });
      const { downProj } = model.model.layers[0]?.mlp ?? expect.fail("there is no layer");
      let calls = 0;
      model.forward(idsOf(heed(), texts), {
        receiveLayer(_, { gate, up, units, feedForward }) {
          ++calls;
          expect([gate, up]).toEqual([undefined, undefined]);
          expect(units.shape).toEqual([B, L, 48]);
          expectSameBits(downProj.forward(units).data, feedForward.data);
        },
      });
      expect(calls).toBe(1);
      const receiveLayer = "all" as never;
      expect(
        refusal(() => model.forward(idsOf(heed(), texts), { receiveLayer })).message,
      ).toContain("receiveLayer: expected a function");
    });
  });

  test("an invalid config or input is refused, and nothing is left behind", () => {
    const refused = (config: HubConfig) =>
      refusal(() => new CausalLanguageModel(heed(), config)).message;
    const { hidden_size: _, ...without } = llamaConfig;
    const known =
      '"gpt2" or "gemma2" or "gemma3" or "gemma3_text" or "llama" or "mistral" or "qwen2" or "qwen3" or "phi3" or "bert" or "roberta" or "xlm-roberta" or "mpnet" or "distilbert" or "modernbert" or "t5" or "mt5" or "bart" or "mbart" or "marian" or "m2m_100" or "vit"';
    const messages: [HubConfig, string][] = [
      [without, "config.hidden_size: expected a whole number from 1 to 2147483647, got undefined"],
      [
        { ...llamaConfig, model_type: "bloom" },
        `config.model_type: expected ${known}, got "bloom"`,
      ],
      [{ model_type: "__proto__" }, `config.model_type: expected ${known}, got "__proto__"`],
      [
        { ...llamaConfig, num_key_value_heads: 4 },
        "config.num_key_value_heads: expected a divisor of the 6 heads, got 4",
      ],
      [
        { ...llamaConfig, num_attention_heads: 5, num_key_value_heads: 5 },
        "config.num_attention_heads: expected a divisor of the size 12, got 5",
      ],
      [
        { ...llamaConfig, hidden_act: "relu6" },
        'config.hidden_act: expected "silu" or "swish", got "relu6"',
      ],
      [
        { ...llamaConfig, rope_scaling: { rope_type: "yarn", factor: 4 } },
        'config.rope_scaling.rope_type: expected "default" or "linear" or "llama3" or "divisors" or "longrope" or "su", got "yarn"',
      ],
      [
        { ...phi3, partial_rotary_factor: 1.5 },
        "config.partial_rotary_factor: expected an even part of the head's 8 entries, got 12",
      ],
      [
        phi3,
        "config.original_max_position_embeddings: expected a whole number from 2 to 2147483647, got undefined",
      ],
      [
        {
          ...{ ...phi3, original_max_position_embeddings: 8 },
          rope_scaling: { ...phi3.rope_scaling, long_factor: [1, 2] },
        },
        "config.rope_scaling.long_factor: expected a list of 3 positive numbers, got [1, 2]",
      ],
      [
        { ...llamaConfig, rope_scaling: { rope_type: "llama3", factor: 4 } },
        "config.rope_scaling.low_freq_factor: expected a positive float32 number, got undefined",
      ],
      [
        { ...llamaConfig, vocab_size: 2 ** 30 },
        `config: expected parameters of at most ${2 ** 32} bytes, got ${4 * (2 ** 31 * 12 + 2268)}`,
      ],
    ];
    for (const [config, message] of messages) expect(refused(config)).toBe(message);
    const model = new CausalLanguageModel(heed(), llamaConfig);
    const count = heed().memory().tensors.count;
    const forward = (data: number[], shape: number[]) => {
      using ids = heed().tensor(Int32Array.from(data), shape);
      return refusal(() => model.forward(ids)).message;
    };
    expect(forward([1, 2, V], [1, 3])).toBe(
      `ids: expected tokens from 0 to ${V - 1}, got ${V} at place 2`,
    );
    expect(forward([1, 2, 3], [3])).toBe(
      "ids: expected [B, L] with one text and one token or more, got [3]",
    );
    expect(
      forward(
        Array.from({ length: 33 }, () => 1),
        [1, 33],
      ),
    ).toBe("ids: expected at most the 32 positions of the model's context, got 33 positions");
    expect(heed().memory().tensors.count).toBe(count);
    model.dispose();
  });

  test("fields that are null have their defaults, and limits are off", () => {
    const of = (attn_logit_softcapping: number | null | undefined) => {
      const config = { ...llamaConfig, model_type: "gemma2", attn_logit_softcapping };
      using model = new CausalLanguageModel(heed(), { ...config, rms_norm_eps: null });
      return [model.config.scoresSoftcap, model.config.softcap, model.config.eps];
    };
    expect(of(undefined)).toEqual([50, 30, 1e-6]);
    expect(of(null)).toEqual([undefined, 30, 1e-6]);
    expect(of(20)).toEqual([20, 30, 1e-6]);
  });

  test.each([
    ...Object.entries(variants).map(([name, { config }]) => [name, config] as const),
    [
      "GPT-2",
      { model_type: "gpt2", vocab_size: V, n_embd: 12, n_head: 3, n_layer: 2, n_positions: 32 },
    ] as const,
  ])("%s writes texts of different lengths as each alone", async (_, config) => {
    const model = new CausalLanguageModel(heed(), config).eval();
    randomise(model, 101);
    const starts = [[1, 2, 3, 4, 5, 6, 7], [8], [9, 10, 11, 12]];
    for (const cacheType of ["float32", "int8"] as const) {
      const options = { maxLength: 8, cacheType, endToken: [] };
      const alone: number[][] = [];
      for (const start of starts) alone.push(...(await model.generate([start], options)));
      expect(await model.generate(starts, options)).toEqual(alone);
    }
    model.dispose();
    expect(heed().memory().tensors.count + heed().memory().caches.count).toBe(0);
  });

  test("a text that would leave the context is refused before anything is computed", async () => {
    const model = new CausalLanguageModel(heed(), llamaConfig);
    await expect(model.generate([[1, 2, 3]], { maxLength: 31 })).rejects.toThrow(
      "maxLength: expected at most 30 after 3 tokens, for the context of 32, got 31",
    );
    await expect(model.generate([[1], [2, 3]], { maxLength: 32 })).rejects.toThrow(
      "maxLength: expected at most 31 after 2 tokens, for the context of 32, got 32",
    );
    await expect(
      model.generate(
        [
          [1, 2],
          [3, V],
        ],
        { maxLength: 3 },
      ),
    ).rejects.toThrow(`startTokens[1][1]: expected a token from 0 to ${V - 1}, got ${V}`);
    const cacheType = "int4" as never;
    await expect(model.generate([[1]], { maxLength: 3, cacheType })).rejects.toThrow(
      'cacheType: expected "float32" or "float16" or "int8", got "int4"',
    );
    model.dispose();
    expect(heed().memory().caches.count).toBe(0);
  });

  test("refuses the cache of a model with another number of layers", () => {
    using model = new CausalLanguageModel(heed(), llamaConfig);
    using other = new CausalLanguageModel(heed(), { ...llamaConfig, num_hidden_layers: 3 });
    using cache = other.createCache({ capacity: 8 });
    using ids = heed().tensor(Int32Array.of(1, 2), [1, 2]);
    expect(refusal(() => model.forward(ids, { cache })).message).toBe(
      "cache: expected a cache of 2 layers, got 3",
    );
    expect(cache.lengths).toEqual([0]);
  });
});
