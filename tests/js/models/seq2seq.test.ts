// Models with an encoder and a decoder: T5 and the family of BART, compared with the oracle in double precision. Also
// their caches and searches, and the names of tensors in published checkpoints.

import type { Heed, Tensor } from "heed";
import {
  type HubConfig,
  loadModel,
  Seq2SeqLanguageModel,
  withoutHeads,
  writeText,
} from "heed/models";
import { nn, safetensors, valueAndGrad } from "heed/nn";
import { loadInWorker, type RemoteOf } from "heed/worker";
import { describe, expect, test } from "vitest";
import { jsonOf } from "../checkpoints.js";
import { describeEngines, engine, refusal } from "../engine.js";
import { seq2seq } from "../language_oracle.js";
import { expectValues, randomise } from "../modules.js";
import type { Values } from "../oracle.js";
import { expectClose, Random } from "../values.js";

const [B, S, L, V] = [2, 8, 6, 23];
const t5 = {
  model_type: "t5",
  vocab_size: V,
  d_model: 12,
  d_kv: 5,
  d_ff: 20,
  num_layers: 2,
  num_heads: 3,
  feed_forward_proj: "relu",
  relative_attention_num_buckets: 8,
  eos_token_id: 1,
  pad_token_id: 0,
};
const bart = {
  ...{ model_type: "bart", vocab_size: V, d_model: 12, encoder_layers: 2, decoder_layers: 1 },
  encoder_attention_heads: 3,
  decoder_attention_heads: 2,
  encoder_ffn_dim: 20,
  decoder_ffn_dim: 16,
  ...{ max_position_embeddings: 16, activation_function: "gelu", pad_token_id: 1, eos_token_id: 2 },
};
const marian = {
  ...{ ...bart, model_type: "marian", activation_function: "swish", scale_embedding: true },
  ...{ decoder_layers: 2, pad_token_id: 22, eos_token_id: 0, decoder_start_token_id: 22 },
};
const variants: Record<string, HubConfig> = {
  "T5 with tied embeddings": t5,
  "T5 1.1 with gates and more layers in its decoder": {
    ...t5,
    feed_forward_proj: "gated-gelu",
    tie_word_embeddings: false,
    num_decoder_layers: 3,
  },
  BART: bart,
  mBART: { ...bart, model_type: "mbart", scale_embedding: true, forced_eos_token_id: 2 },
  Marian: marian,
  "M2M-100": { ...bart, model_type: "m2m_100", activation_function: "relu", scale_embedding: true },
};

const random = new Random(31);
const drawn = (length: number): Values & { data: number[] } => ({
  data: Array.from({ length: B * length }, () => random.whole(2, V - 2)),
  shape: [B, length],
});
const [ids, targets] = [drawn(S), drawn(L)];
const keys = { data: ids.data.map((_, at) => (at >= 2 * S - 3 ? 0 : 1)), shape: [B, S] };
const tensorOf = (heed: Heed, { data, shape }: Values) =>
  heed.tensor(Int32Array.from(data), [...shape]);
const maskOf = (heed: Heed) => heed.tensor(Uint8Array.from(keys.data), [B, S], "bool");

/** The rows of the sources' tokens, without padding: rows [B, S] of the last two axes. */
function expectSources(got: Tensor, wanted: Values): void {
  const [size, rows] = [wanted.shape.at(-1) as number, wanted.shape.at(-2) as number];
  expect(got.shape).toEqual(wanted.shape);
  const blocks = (wanted.data.length / size / rows / B) | 0;
  for (const [at, value] of Array.from(wanted.data).entries()) {
    const row = Math.floor(at / size);
    const source = Math.floor(row / rows / blocks) * S + (row % rows);
    if (keys.data[source] === 1)
      expect(Math.abs((got.data[at] as number) - value)).toBeLessThan(3e-5);
  }
}

describeEngines((heed) => {
  test.each(Object.entries(variants))(
    "%s: states, weights and logits are those of the oracle",
    (_, config) => {
      heed().scope(() => {
        const model = new Seq2SeqLanguageModel(heed(), config);
        const wanted = seq2seq(randomise(model, 32), config, { ids, keys, targets });
        const seen = new Map<string, Tensor>();
        const result = nn.captureAttention(
          model,
          (path, weights) => seen.set(path, heed().keep(heed().multiply(weights, 1))),
          () =>
            model.forward(tensorOf(heed(), ids), tensorOf(heed(), targets), {
              ...{ keyMask: maskOf(heed()), needHiddenStates: true },
            }),
        );
        for (const [i, state] of result.encoderHiddenStates.entries())
          expectSources(state, wanted.encoder.hidden[i] as Values);
        for (const [i, state] of result.decoderHiddenStates.entries())
          expectValues(state, wanted.decoder.hidden[i] as Values, 3e-5);
        expectValues(result.logits, wanted.decoder.logits as Values, 3e-5);
        expect(seen.size).toBe(model.config.encoder.layers + 2 * model.config.decoder.layers);
        for (const [path, weights] of seen) {
          const [, side, i, kind] = /(..coder)\.layers\.(\d+)\.(self|cross)/.exec(path) ?? [];
          const list = kind === "cross" ? wanted.cross : wanted[side as "encoder"].weights;
          const values = list[Number(i)] as Values;
          if (side === "encoder") expectSources(weights, values);
          else expectValues(weights, values, 3e-5);
          weights.dispose();
        }
      });
    },
  );

  test.each(Object.entries(variants))(
    "%s: the cache gives the logits of the whole text",
    (_, config) => {
      heed().scope(() => {
        const model = new Seq2SeqLanguageModel(heed(), config);
        randomise(model, 33);
        const keyMask = maskOf(heed());
        const memory = model.encode(tensorOf(heed(), ids), { keyMask }).output;
        const whole = model.decode(tensorOf(heed(), targets), memory, { keyMask }).logits;
        const cache = model.createCache({ batch: B, capacity: L, memoryLength: S });
        for (const [start, length] of [[0, 2] as const, [2, 1] as const, [3, 3] as const]) {
          const data = [0, 1].flatMap((b) =>
            targets.data.slice(b * L + start, b * L + start + length),
          );
          const part = tensorOf(heed(), { data, shape: [B, length] });
          const { logits } = model.decode(part, memory, { keyMask, cache });
          expectClose(logits, [B, length, V], heed().slice(whole, { axis: 1, start, length }).data);
        }
        expect(cache.lengths).toEqual([L, L]);
        cache.dispose();
      });
    },
  );
});

describe("A model with an encoder", () => {
  const heed = engine({ threads: 1 });
  const sources = [
    [5, 6, 7, 8, 9],
    [4, 3],
    [11, 12, 13],
  ];
  const made = (config: HubConfig) => {
    const model = new Seq2SeqLanguageModel(heed(), config).eval();
    randomise(model, 41);
    return model;
  };

  /** Continues a source with the most likely tokens, without a cache and without padding. */
  function greedily(
    model: Seq2SeqLanguageModel,
    source: readonly number[],
    count: number,
  ): number[] {
    const { startTokens, endTokens, badWords, forcedEndTokens } = model.config;
    const written: number[] = [];
    while (written.length < count && !endTokens.includes(written.at(-1) as number)) {
      const [x, y] = [source, [...startTokens, ...written]].map((list) => ({
        data: list,
        shape: [1, list.length],
      }));
      const last = heed().scope(() => {
        const { logits } = model.forward(
          tensorOf(heed(), x as Values),
          tensorOf(heed(), y as Values),
        );
        return Array.from(logits.data.slice(-V));
      });
      for (const [word] of badWords) last[word as number] = -Infinity;
      const [forced] = written.length === count - 1 ? forcedEndTokens : [];
      written.push(forced ?? last.indexOf(Math.max(...last)));
    }
    return written;
  }

  test.each(Object.entries(variants))(
    "%s writes in padded batches as each source alone",
    async (_, config) => {
      const model = made(config);
      const written = await model.generate(sources, { maxLength: 7 });
      expect(written).toEqual(sources.map((source) => greedily(model, source, 7)));
      const paths = new Set<string>();
      await model.generate(sources.slice(0, 1), {
        maxLength: 2,
        receive: (path) => void paths.add(path),
      });
      expect(paths.size).toBe(model.config.encoder.layers + 2 * model.config.decoder.layers);
      model.dispose();
      expect(heed().memory().tensors.count).toBe(0);
    },
  );

  test.each([
    [marian, {}],
    [{ ...variants.mBART, bad_words_ids: [[22], [7, 8]] }, { repetitionPenalty: 2.5 }],
    [variants["M2M-100"] as HubConfig, { frequencyPenalty: 2, startTokens: [2, 9] }],
  ] as [
    HubConfig,
    { repetitionPenalty?: number; frequencyPenalty?: number; startTokens?: number[] },
  ][])(
    "finds the most likely text of two tokens, with as many beams as there are tokens: %#",
    async (config, options) => {
      const model = made(config);
      const [source = []] = sources;
      const { startTokens = model.config.startTokens } = options;
      const { badWords, forcedEndTokens } = model.config;
      /** The log probabilities after a text, changed as the package transformers does. */
      const logOf = (text: readonly number[]) =>
        heed().scope(() => {
          const target = [...startTokens, ...text];
          const { logits } = model.forward(
            tensorOf(heed(), { data: source, shape: [1, source.length] }),
            tensorOf(heed(), { data: target, shape: [1, target.length] }),
          );
          const last = heed().tensor(logits.data.slice(-V) as Float32Array);
          return Array.from(heed().softmax(last).data, (share, id) => {
            const { repetitionPenalty = 1, frequencyPenalty = 0 } = options;
            const whole = [...target, id];
            const isBad = badWords.some((word) =>
              word.every((each, i) => whole.at(i - word.length) === each),
            );
            if (text.length === 1 && forcedEndTokens.length > 0)
              return forcedEndTokens.includes(id) ? 0 : -Infinity;
            if (isBad) return -Infinity;
            const log = Math.log(share) * (target.includes(id) ? repetitionPenalty : 1);
            return log - frequencyPenalty * text.filter((each) => each === id).length;
          });
        });
      const pairs = logOf([]).flatMap((first, i) =>
        logOf([i]).map((second, j) => ({ text: [i, j], score: first + second })),
      );
      const [best] = pairs.sort((x, y) => y.score - x.score);
      const [found] = await model.generate([source], {
        ...{ maxLength: 2, beams: V, endToken: [], ...options },
      });
      expect(found).toEqual(best?.text);
      model.dispose();
      expect(heed().memory().tensors.count).toBe(0);
    },
  );

  test("starts with a forced token, and samples by a seed", async () => {
    const model = made({ ...bart, decoder_start_token_id: 2, forced_bos_token_id: 0 });
    expect(model.config.startTokens).toEqual([2, 0]);
    const options = { maxLength: 6, temperature: 1, seed: 5, endToken: [] };
    const twice = [await model.generate(sources, options), await model.generate(sources, options)];
    expect(twice[0]).toEqual(twice[1]);
    expect(await model.generate(sources, { ...options, seed: 6 })).not.toEqual(twice[0]);
    model.dispose();
  });

  test("has gradients, and heads that can be left out", async () => {
    const model = made(t5);
    const [x, y] = [tensorOf(heed(), ids), tensorOf(heed(), targets)];
    const next = tensorOf(heed(), { data: targets.data.map((id) => (id + 1) % V), shape: [B, L] });
    const { gradients } = valueAndGrad(model, () =>
      heed().crossEntropy(model.forward(x, y).logits, next),
    );
    expect(gradients.length).toBe(model.parameters().length);
    for (const each of gradients) expect(each.data.some((value) => value !== 0)).toBe(true);
    for (const each of gradients) each.dispose();
    const logits = () => heed().scope(() => Array.from(model.forward(x, y).logits.data));
    const path = "model.decoder.layers.1.cross_attn";
    const [whole, without] = [logits(), await withoutHeads(model, [{ path, head: 2 }], logits)];
    expect(without).not.toEqual(whole);
    // The same result comes from an output projection without the columns of this head.
    const weight = model.stateDict()[`${path}.o_proj.weight`] as Tensor;
    for (let row = 0; row < 12; ++row) weight.data.fill(0, row * 15 + 10, row * 15 + 15);
    for (const [i, value] of logits().entries()) expect(without[i]).toBeCloseTo(value, 5);
    for (const each of [x, y, next]) each.dispose();
    model.dispose();
  });

  test("is refused with the name of what does not fit, and leaves nothing behind", async () => {
    const messages: [HubConfig, string][] = [
      [
        { ...t5, feed_forward_proj: "gated-tanh" },
        'config.feed_forward_proj: expected "relu" or "gelu" or "gated-gelu" or "gated-silu", got "gated-tanh"',
      ],
      [
        { ...bart, d_model: 10 },
        "config.encoder_attention_heads: expected a divisor of the size 10, got 3",
      ],
      [
        { ...marian, share_encoder_decoder_embeddings: false },
        'config.share_encoder_decoder_embeddings: expected "true", got false',
      ],
      [
        { model_type: "gpt2", n_embd: 12, n_head: 2, n_layer: 1, vocab_size: V },
        'config.model_type: expected an architecture with an encoder and a decoder, got "gpt2"',
      ],
    ];
    for (const [config, message] of messages)
      expect(refusal(() => new Seq2SeqLanguageModel(heed(), config)).message).toBe(message);
    const model = made(bart);
    const long = Array.from({ length: 17 }, () => 3);
    const calls: [() => Promise<unknown>, string][] = [
      [
        () => model.generate([long], { maxLength: 3 }),
        "sources: expected at most 16 tokens each, got 17",
      ],
      [
        () => model.generate([[3]], { maxLength: 17 }),
        "maxLength: expected at most 16, for the context of 16, got 17",
      ],
      [
        () => model.generate([[3]], { maxLength: 3, beams: 0 }),
        "beams: expected a whole number from 1 to 1024, got 0",
      ],
      [
        () => model.generate([[3]], { maxLength: 3, beams: 2, temperature: 1 }),
        "temperature: expected none with beams, got 1",
      ],
      [
        () => model.generate([[3]], { maxLength: 3, beams: 2, minP: 0.1 }),
        "minP: expected none with beams, got 0.1",
      ],
      [
        () => model.generate([[3]], { maxLength: 3, startTokens: [] }),
        "startTokens: expected a list of one token or more, got []",
      ],
      [
        () => model.generate([[]], { maxLength: 3 }),
        "sources: expected a list of lists of tokens, one or more each",
      ],
      [
        () => model.generate([[3], [4, V]], { maxLength: 3 }),
        `sources[1][1]: expected a token from 0 to ${V - 1}, got ${V}`,
      ],
      [
        () => model.generate([[3]], { maxLength: 3, startTokens: [2, V] }),
        `startTokens[1]: expected a token from 0 to ${V - 1}, got ${V}`,
      ],
      [
        () => model.generate([[3]], { maxLength: 3, cacheType: "int4" as never }),
        'cacheType: expected "float32" or "float16" or "int8", got "int4"',
      ],
      [
        () => model.generate([[3]], { maxLength: 3, lengthPenalty: "x" as never }),
        'lengthPenalty: expected a finite float32 number, got "x"',
      ],
    ];
    const { count } = heed().memory().tensors;
    for (const [call, message] of calls) await expect(call()).rejects.toThrow(message);
    expect(heed().memory().tensors.count).toBe(count);
    model.dispose();
  });

  test.each([
    [
      "T5",
      t5,
      [
        "shared.weight",
        "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
        "encoder.block.1.layer.1.DenseReluDense.wi.weight",
        "encoder.final_layer_norm.weight",
        "decoder.block.0.layer.1.EncDecAttention.k.weight",
        "decoder.block.1.layer.2.layer_norm.weight",
      ],
    ],
    [
      "T5 1.1",
      { ...t5, feed_forward_proj: "gated-gelu", tie_word_embeddings: false },
      [
        "decoder.block.0.layer.2.DenseReluDense.wi_0.weight",
        "decoder.block.0.layer.2.DenseReluDense.wi_1.weight",
        "lm_head.weight",
      ],
    ],
    [
      "mBART",
      variants.mBART as HubConfig,
      ["encoder.layer_norm.weight", "decoder.layer_norm.bias"],
    ],
    [
      "BART",
      bart,
      [
        "shared.weight",
        "encoder.embed_positions.weight",
        "encoder.layernorm_embedding.bias",
        "decoder.layers.0.encoder_attn.out_proj.bias",
        "decoder.layers.0.encoder_attn_layer_norm.weight",
        "decoder.layers.0.final_layer_norm.bias",
        "encoder.layers.1.fc2.weight",
      ],
    ],
    [
      "M2M-100",
      variants["M2M-100"] as HubConfig,
      ["encoder.layer_norm.weight", "decoder.layer_norm.bias"],
    ],
  ] as const)("%s has the names of published checkpoints", async (_, config, names) => {
    const short = { dtype: "float32", data: new Float32Array(1), shape: [1, 1, 1, 1] } as const;
    const tensors = Object.fromEntries(names.map((name) => [name, short]));
    const weights = safetensors.write(tensors);
    const files = { "config.json": jsonOf(config), "model.safetensors": weights };
    for (const name of names)
      await expect(loadModel(heed(), files, {})).rejects.toThrow(`${name} (expected [`);
  });

  test("writeText decodes a target without its source, with and without beams", async () => {
    const model = made(t5);
    const words = {
      encode: (text: string) => text.split(" ").map(Number),
      decode: (ids: number[]) =>
        ids
          .map((id) => ` ${id}`)
          .join("")
          .trimStart(),
    };
    for (const beams of [1, 3]) {
      const options = { maxLength: 6, beams, endToken: [] };
      const [wanted = []] = await model.generate([[5, 6, 7]], options);
      const pieces: string[] = [];
      const onText = (piece: string) => void pieces.push(piece);
      const found = await writeText(model, words, "5 6 7", { ...options, onText });
      expect(found).toEqual({ text: wanted.join(" "), tokens: wanted, reason: "length" });
      expect(pieces.join("")).toBe(found.text);
      const stop = ` ${wanted[2]}`;
      const stopped = await writeText(model, words, "5 6 7", { ...options, stop: [stop] });
      const [text] = found.text.split(stop);
      expect(stopped).toMatchObject({ text, reason: "stop" });
    }
    model.dispose();
    // The last token of a text of the maximum length is forced.
    const forced = made(variants.mBART as HubConfig);
    const { tokens, reason } = await writeText(forced, words, "5 6 7", { maxLength: 1 });
    expect([tokens.at(-1), reason]).toEqual([2, "length"]);
    forced.dispose();
  });

  test("translates in a worker", async () => {
    const remote = await loadInWorker({ threads: 1 });
    const far = (await remote.models.Seq2SeqLanguageModel(remote, t5, {
      seed: 9,
    })) as RemoteOf<Seq2SeqLanguageModel>;
    const own = new Seq2SeqLanguageModel(heed(), t5, { seed: 9 });
    expect(await far.generate(sources, { maxLength: 5 })).toEqual(
      await own.generate(sources, { maxLength: 5 }),
    );
    own.dispose();
    remote.dispose();
  });
});
