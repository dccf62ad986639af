// Models with an encoder and a decoder, for translation and summaries: T5 (Raffel et al., 2020), and the family of BART
// (Lewis et al., 2020), which seq2seqConfig.ts lists. The decoder attends to its own tokens and to the encoder's states
// (Vaswani et al., 2017, section 3.2.3).

import { describe, refuse } from "../../core/error.js";
import { recording } from "../../core/tape.js";
import type { Tensor } from "../../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  checkTensor,
  isBoolean,
  isNumber,
  isTensor,
  isWholeNumber,
} from "../../core/validate.js";
import type { Heed } from "../../heed.js";
import { beamSearch, generate, isLength, isStart, isTokens, mostBeams } from "../../nn/generate.js";
import { Module } from "../../nn/module.js";
import {
  isTransformerCache,
  TransformerCache,
  type TransformerCacheOptions,
} from "../../nn/transformerCache.js";
import type { If, NothingElse } from "../../ops/attention.js";
import { type Encoded, idsIn } from "../tokenizer.js";
import { type Attention, attentionsOf } from "./attention.js";
import type { GenerateTextOptions } from "./causalModel.js";
import type { HubConfig } from "./fields.js";
import { beginModel, cacheChecks, checkIds, checkTokens, type HubModelOptions } from "./inputs.js";
import { Projection, product } from "./parts.js";
import type { Seq2SeqConfig } from "./seq2seqConfig.js";
import { processorOf, searchTexts } from "./seq2seqSearch.js";
import { Seq2SeqStack } from "./seq2seqStack.js";

/** Options of `Seq2SeqLanguageModel.encode`. */
export interface EncodeOptions {
  /** bool [B, S], true where a token of the source may be seen; all by default. */
  keyMask?: Tensor;
  /** Returns the states between the layers; false by default. */
  needHiddenStates?: boolean;
}

/** The result of `Seq2SeqLanguageModel.encode`. */
export interface EncodeResult<O extends EncodeOptions = EncodeOptions> {
  /** [B, S, E] */
  output: Tensor;
  /** layers + 1 tensors [B, S, E]: what enters the first layer, then the output of each layer. */
  hiddenStates: If<O["needHiddenStates"], Tensor[]>;
}

/** Options of `Seq2SeqLanguageModel.decode`. */
export interface DecodeOptions extends EncodeOptions {
  /** Keys and values of earlier calls, to which this call appends its own: see `createCache`. */
  cache?: TransformerCache;
  /** Computes the logits of the last position only, [B, 1, V]; false by default. */
  onlyLast?: boolean;
}

/** The result of `Seq2SeqLanguageModel.decode`. */
export interface DecodeResult<O extends DecodeOptions = DecodeOptions> {
  /** [B, L, V], or [B, 1, V]: row i predicts the token after position i. */
  logits: Tensor;
  /** layers + 1 tensors [B, L, E]: what enters the first layer, then the output of each layer. */
  hiddenStates: If<O["needHiddenStates"], Tensor[]>;
}

/** The result of a call of `Seq2SeqLanguageModel`. */
export interface Seq2SeqResult<O extends EncodeOptions = EncodeOptions> {
  /** [B, L, V]: row i predicts the token after position i of the target. */
  logits: Tensor;
  /** [B, S, E] */
  encoderOutput: Tensor;
  /** The states of the encoder, as `encode` returns them. */
  encoderHiddenStates: If<O["needHiddenStates"], Tensor[]>;
  /** The states of the decoder, as `decode` returns them. */
  decoderHiddenStates: If<O["needHiddenStates"], Tensor[]>;
}

/** The sizes of a cache of a model with an encoder. */
export interface Seq2SeqCacheOptions extends TransformerCacheOptions {
  /** The number of positions of the encoder's states. */
  memoryLength: number;
}

/** Options of `Seq2SeqLanguageModel.generate`. */
export interface GenerateFromOptions extends GenerateTextOptions {
  /**
   * The first tokens of each text, which are not part of the result: by default
   * `decoder_start_token_id` and `forced_bos_token_id` of the config. Multilingual models begin with
   * the language to write: [2, 250004] for English with mBART-50.
   */
  startTokens?: readonly number[];
  /** The number of sequences that beam search keeps; 1, the default, searches without beams. */
  beams?: number;
  /** Prefers longer texts: see `beamSearch`; 0 by default. */
  lengthPenalty?: number;
}

const encodeChecks = {
  keyMask: isTensor,
  needHiddenStates: isBoolean,
} satisfies Record<keyof EncodeOptions, Check>;

const decodeChecks = {
  ...encodeChecks,
  cache: isTransformerCache,
  onlyLast: isBoolean,
} satisfies Record<keyof DecodeOptions, Check>;

const ownCacheChecks = {
  ...cacheChecks,
  memoryLength: isWholeNumber(1),
} satisfies Record<keyof Seq2SeqCacheOptions, Check>;

/**
 * A model whose decoder reads the states of an encoder.
 *
 * @throws HeedError "option" for a config that no model can have, "memory"
 * @example
 * ```ts
 * const config = { model_type: "t5", vocab_size: 50, d_model: 16, d_kv: 8, d_ff: 32, num_layers: 1, num_heads: 2, eos_token_id: 1 };
 * const model = new Seq2SeqLanguageModel(heed, config, { seed: 1 });
 * const { output } = model.encode(heed.tensor([[7, 8, 9]], undefined, "int32"));
 * const { logits } = model.decode(heed.tensor([[0, 4]], undefined, "int32"), output);
 * const [tokens] = await model.generate([[7, 8, 9]], { maxLength: 4, beams: 2 });
 * console.log(logits.shape, tokens!.length <= 4); // prints: [ 1, 2, 50 ] true
 * ```
 */
export class Seq2SeqLanguageModel extends Module {
  /** @internal */ static override readonly toStringTag = "Seq2SeqLanguageModel";
  /** The model's sizes and form. */
  readonly config: Seq2SeqConfig;
  /** The embedding, the encoder and the decoder. */
  readonly model: Seq2SeqStack;
  /** The layer to the logits; undefined if the table of the embedding computes them. */
  readonly lmHead: Projection | undefined;
  /** [V] numbers that are added to the logits; undefined if the checkpoint has none. */
  readonly logitsBias: Tensor | undefined;

  /**
   * Creates a model with initial values from a seed. `loadModel` creates one from files.
   *
   * @param config the fields of a config.json, like { model_type: "t5", d_model: 512, ... }
   * @throws HeedError "option" that names the field, "memory"
   */
  constructor(heed: Heed, config: HubConfig, options: HubModelOptions = {}) {
    super(heed);
    const { config: read, parameters } = beginModel(heed, "seq2seq", config, options);
    this.config = read;
    this.model = new Seq2SeqStack(heed, read, parameters.of("model"));
    this.lmHead = parameters.optional("lm_head", (own) => new Projection(heed, own));
    this.logitsBias = parameters.tensor("logits_bias");
  }

  /**
   * Computes the states of the source.
   *
   * @param ids int32 [B, S]
   * @throws HeedError "shape", "dtype", "option" for an unknown id or more positions than the context
   */
  encode<const O extends EncodeOptions = Record<never, never>>(
    ids: Tensor,
    options?: O & NothingElse<O, EncodeOptions>,
  ): EncodeResult<O> {
    const given = (options ?? {}) as EncodeOptions;
    checkOptions("encode", given, encodeChecks);
    const { keyMask, needHiddenStates = false } = given;
    checkIds(ids, this.config);
    const mask = this.#maskOf(keyMask, ids);
    return this.#freeing(() => {
      const hiddenStates = this.model.encoder.forward(this.model.forward(ids), { mask });
      return {
        output: hiddenStates.at(-1) as Tensor,
        hiddenStates: needHiddenStates ? hiddenStates : undefined,
      } as never;
    });
  }

  /**
   * Predicts the token after each position of the target.
   *
   * @param ids int32 [B, L]
   * @param memory the states [B, S, E] of `encode`. With a cache that has them, they are not read
   * @throws HeedError "shape", "dtype", "option" for an unknown id or more positions than the context
   */
  decode<const O extends DecodeOptions = Record<never, never>>(
    ids: Tensor,
    memory: Tensor,
    options?: O & NothingElse<O, DecodeOptions>,
  ): DecodeResult<O> {
    const given = (options ?? {}) as DecodeOptions;
    checkOptions("decode", given, decodeChecks);
    const { keyMask, cache, onlyLast = false, needHiddenStates = false } = given;
    checkIds(ids, this.config, cache?.lengths[0]);
    const [batch, length] = ids.shape as [number, number];
    checkTensor(this.heed.engine, "memory", memory, [batch, undefined, this.config.size]);
    const mask = this.#maskOf(keyMask, memory);
    const isCached = (cache?.layers[0]?.multiheadAttn?.lengths[0] ?? 0) > 0;
    const { heed, model } = this;
    const run = () => {
      const own = { memory: isCached ? ("cached" as const) : memory, mask };
      const hiddenStates = model.decoder.forward(model.forward(ids), {}, own, cache);
      const last = hiddenStates.at(-1) as Tensor;
      const read = onlyLast ? heed.slice(last, { axis: 1, start: length - 1, length: 1 }) : last;
      const logits = this.#logitsOf(read);
      return { logits, hiddenStates: needHiddenStates ? hiddenStates : undefined } as never;
    };
    const layers = model.decoder.layers.length;
    return this.#freeing(() => (cache ? cache.appending(layers, run) : run()));
  }

  /**
   * Predicts the token after each position of targets, for training and for pictures: `encode` and `decode`
   * in one call.
   *
   * @param sources int32 [B, S]
   * @param targets int32 [B, L]
   * @throws HeedError "shape", "dtype", "option" for an unknown id or more positions than the context
   */
  forward<const O extends EncodeOptions = Record<never, never>>(
    sources: Tensor,
    targets: Tensor,
    options?: O & NothingElse<O, EncodeOptions>,
  ): Seq2SeqResult<O> {
    const given = (options ?? {}) as EncodeOptions;
    const { output, hiddenStates } = this.encode(sources, given as never) as EncodeResult;
    const decoded = this.decode(targets, output, given as never) as DecodeResult;
    return {
      ...{ logits: decoded.logits, encoderOutput: output },
      ...{ encoderHiddenStates: hiddenStates, decoderHiddenStates: decoded.hiddenStates },
    } as never;
  }

  /** Frees the tensors that a function creates and does not return. A tape frees them itself. */
  #freeing<T>(run: () => T): T {
    return recording() ? run() : this.heed.scope(run);
  }

  #maskOf(keyMask: Tensor | undefined, { shape }: Tensor): Tensor | undefined {
    if (keyMask === undefined) return undefined;
    const [batch, length] = shape as [number, number];
    checkTensor(this.heed.engine, "keyMask", keyMask, [batch, length], "bool");
    return this.heed.reshape(keyMask, [batch, 1, 1, length]);
  }

  #logitsOf(x: Tensor): Tensor {
    const { heed, lmHead, model, logitsBias } = this;
    const { logitScale } = this.config;
    const read = logitScale === 1 ? x : heed.multiply(x, logitScale);
    const logits = lmHead
      ? lmHead.forward(read)
      : product(heed, read, model.embedTokens.weight as Tensor);
    return logitsBias ? heed.add(logits, logitsBias) : logits;
  }

  /** Creates a cache for `decode`, with room for `capacity` positions of the target. */
  createCache(options: Seq2SeqCacheOptions): TransformerCache {
    checkOptions("createCache", options, ownCacheChecks);
    checkArgument("memoryLength", options.memoryLength, ownCacheChecks.memoryLength);
    const { heed } = this;
    const { memoryLength, ...own } = options;
    const { heads, headSize } = this.config.decoder;
    return heed.scope(() => {
      const layers = this.model.decoder.layers.map(() => ({
        selfAttn: heed.createKvCache({ ...own, heads, headSize }),
        multiheadAttn: heed.createKvCache({ ...own, heads, headSize, capacity: memoryLength }),
      }));
      return new TransformerCache(layers);
    });
  }

  /**
   * Writes a text for each source, with a cache: greedily, at random with a temperature, or by beam search.
   *
   * @param sources the tokens of each source: ids, or the result of a tokenizer's `encode`. Shorter ones are
   *   padded
   * @param options the default end tokens are the end tokens of the config
   * @returns the tokens of each text, with the end token where it occurred
   * @throws HeedError "option" for more positions than the model's context, "nan" for logits that are not
   *   finite
   */
  async generate(sources: readonly Encoded[], options: GenerateFromOptions): Promise<number[][]> {
    const ids: unknown = Array.isArray(sources) ? sources.map(idsIn) : sources;
    const texts = ids as readonly (readonly number[])[];
    checkArgument("sources", texts, isStart);
    checkArgument("maxLength", options?.maxLength, isLength);
    const { config, heed } = this;
    const { beams = 1, lengthPenalty = 0, startTokens = config.startTokens, ...others } = options;
    checkArgument("beams", beams, isWholeNumber(1, mostBeams));
    checkArgument("startTokens", startTokens, isTokens);
    checkArgument("lengthPenalty", lengthPenalty, isNumber);
    const { cacheType = "float32", receive, ...search } = others;
    checkArgument("cacheType", cacheType, cacheChecks.dtype);
    const { vocabularySize } = config;
    for (const [i, text] of texts.entries()) checkTokens(`sources[${i}]`, text, vocabularySize);
    checkTokens("startTokens", startTokens, vocabularySize);
    const logitsProcessor = processorOf(config, startTokens, search);
    const common = {
      ...{ endToken: config.endTokens, ...search },
      ...(logitsProcessor && { logitsProcessor }),
    };
    const own = { startTokens, maxLength: search.maxLength, cacheType, receive };
    if (beams === 1) {
      const starts = texts.map(() => startTokens);
      return searchTexts(this, texts, 1, own, (step) =>
        generate(heed, step, { ...common, startTokens: starts }),
      );
    }
    const { temperature, topK, topP, minP, typicalP, seed, onTokens, ...kept } = common;
    const drawn = { temperature, topK, topP, minP, typicalP, seed, onTokens };
    for (const [name, value] of Object.entries(drawn))
      if (value !== undefined) throw refuse("option", name, "none with beams", describe(value));
    const given = { ...kept, beams, startTokens, lengthPenalty };
    const found: number[][] = [];
    for (const text of texts) {
      const [best] = await searchTexts(this, [text], beams, own, (step) =>
        beamSearch(heed, step, given),
      );
      found.push(best?.tokens ?? []);
    }
    return found;
  }

  /** @internal The attention of each layer, by its path. */
  get attentions(): ReadonlyMap<string, Attention> {
    const { encoder, decoder } = this.model;
    const cross = decoder.layers.map(
      ({ crossAttn }, i) =>
        [`model.decoder.layers.${i}.cross_attn`, crossAttn as Attention] as const,
    );
    return new Map([
      ...attentionsOf(encoder.layers, "model.encoder"),
      ...attentionsOf(decoder.layers, "model.decoder"),
      ...cross,
    ]);
  }
}
