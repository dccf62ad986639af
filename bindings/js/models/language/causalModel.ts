// Decoders that predict the next token: GPT-2 (Radford et al., "Language Models are Unsupervised
// Multitask Learners", 2019), Llama (Touvron et al., 2023), and Gemma 2 and 3 (Gemma Team, 2024, 2025). Mistral,
// Qwen2, Qwen3, SmolLM and Phi-3 (Abdin et al., 2024) belong to the family of Llama.

import { describe, refuse } from "../../core/error.js";
import type { Tensor } from "../../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isBoolean,
  isFunction,
} from "../../core/validate.js";
import type { Heed } from "../../heed.js";
import { inferring, type ReceiveWeights } from "../../nn/capture.js";
import { generate, isLength, isStart, type SamplingOptions, type Step } from "../../nn/generate.js";
import { Module } from "../../nn/module.js";
import {
  isTransformerCache,
  TransformerCache,
  type TransformerCacheOptions,
} from "../../nn/transformerCache.js";
import type { If, NothingElse } from "../../ops/attention.js";
import { type Encoded, idsIn } from "../tokenizer.js";
import { type Attention, attentionsOf } from "./attention.js";
import type { CausalConfig } from "./causalConfig.js";
import type { HubConfig } from "./fields.js";
import {
  beginModel,
  cacheChecks,
  checkIds,
  checkTokens,
  type HubModelOptions,
  paddedIds,
} from "./inputs.js";
import type { Parameters } from "./parameters.js";
import { Normalisation, Projection, product, Table } from "./parts.js";
import { type LayerParts, PreNormLayer, type ReceiveLayer } from "./preNormLayer.js";
import { tablesOfLayers } from "./rotation.js";

/** Options of a call of `CausalLanguageModel`. */
export interface CausalForwardOptions {
  /** Keys and values of earlier calls, to which this call appends its own: see `createCache`. */
  cache?: TransformerCache;
  /** Computes the logits of the last position only, [B, 1, V]; false by default. */
  onlyLast?: boolean;
  /** Returns the states between the layers; false by default. */
  needHiddenStates?: boolean;
  /**
   * Called after each layer with the tensors that the layer computed. The tensors are valid until
   * the function returns: copy the tensors that you need later, or take them with `heed.keep`.
   */
  receiveLayer?: ReceiveLayer;
}

/** The result of a call of `CausalLanguageModel`. */
export interface CausalForwardResult<O extends CausalForwardOptions = CausalForwardOptions> {
  /** [B, L, V], or [B, 1, V]: row i predicts the token after position i. */
  logits: Tensor;
  /**
   * layers + 1 tensors [B, L, E]: the first is the embedding, tensor i follows layer i. The final
   * norm has been applied to the last one.
   */
  hiddenStates: If<O["needHiddenStates"], Tensor[]>;
}

/** Options of `CausalLanguageModel.generate`. */
export interface GenerateTextOptions extends Omit<SamplingOptions, "startTokens"> {
  /** How the cache stores numbers; "float32" by default. */
  cacheType?: "float32" | "float16" | "int8";
  /** Called with the weights of every attention at every step: see captureAttention. */
  receive?: ReceiveWeights;
}

const forwardChecks = {
  cache: isTransformerCache,
  onlyLast: isBoolean,
  needHiddenStates: isBoolean,
  receiveLayer: isFunction,
} satisfies Record<keyof CausalForwardOptions, Check>;

/** The embedding, the layers and the final norm. */
class CausalStack extends Module {
  /** @internal */ static override readonly toStringTag = "CausalStack";
  readonly config: CausalConfig;
  readonly embedTokens: Table;
  readonly embedPositions: Table | undefined;
  readonly layers: readonly PreNormLayer[];
  readonly norm: Normalisation;

  constructor(heed: Heed, config: CausalConfig, parameters: Parameters) {
    super(heed);
    this.config = config;
    this.embedTokens = new Table(heed, parameters.of("embed_tokens"));
    const positions = parameters.of("embed_positions");
    this.embedPositions = config.rotations ? undefined : new Table(heed, positions);
    const { norm, eps, normOffset, windows, scoresSoftcap: softcap } = config;
    this.layers = config.scales.map((scale, i) => {
      const keys = windows[i];
      const window = keys === undefined ? undefined : ([keys - 1, 0] as const);
      const own = { ...config, scale, softcap, window, isCausal: true };
      return new PreNormLayer(heed, own, parameters.of(`layers.${i}`));
    });
    this.norm = new Normalisation(heed, norm, eps, parameters.of("norm"), normOffset);
  }

  /** ids int32 [B, L] -> the embedding and the output of each layer, the last one after the norm */
  forward(ids: Tensor, cache?: TransformerCache, receive?: ReceiveLayer): Tensor[] {
    const { heed } = this;
    const { rotations, embeddingScale } = this.config;
    const [, length] = ids.shape as [number, number];
    // One offset for texts of the same length.
    const lengths = cache?.lengths ?? [0];
    const offsets = lengths.every((each) => each === lengths[0]) ? lengths.slice(0, 1) : lengths;
    const room = cache?.layers[0]?.selfAttn.capacity ?? length;
    const tables = rotations && tablesOfLayers(heed, rotations, { offsets, length, room });
    let x = this.embedTokens.forward(ids);
    if (embeddingScale !== 1) x = heed.multiply(x, embeddingScale);
    if (this.embedPositions) {
      const positions = offsets.flatMap((offset) => Array.from({ length }, (_, i) => offset + i));
      const shape = [offsets.length, length];
      const places = heed.tensor(Int32Array.from(positions), shape);
      x = heed.add(x, this.embedPositions.forward(places));
    }
    const states = [x];
    for (const [i, layer] of this.layers.entries()) {
      const hear = receive && ((parts: LayerParts) => receive(i, parts));
      x = layer.forward(x, { rotation: tables?.[i] }, cache?.layers[i]?.selfAttn, hear);
      states.push(i === this.layers.length - 1 ? this.norm.forward(x) : x);
    }
    return states;
  }
}

/**
 * A decoder that predicts the next token.
 *
 * @throws HeedError "option" for a config that no model can have, "memory"
 * @example
 * ```ts
 * const config = { model_type: "llama", vocab_size: 50, max_position_embeddings: 32, hidden_size: 16,
 *   intermediate_size: 32, num_hidden_layers: 1, num_attention_heads: 2 };
 * const model = new CausalLanguageModel(heed, config, { seed: 1 });
 * const { logits } = model.forward(heed.tensor([[1, 2, 3]], undefined, "int32"));
 * const [tokens] = await model.generate([[1, 2, 3]], { maxLength: 4 });
 * console.log(logits.shape, tokens!.length); // prints: [ 1, 3, 50 ] 4
 * ```
 */
export class CausalLanguageModel extends Module {
  /** @internal */ static override readonly toStringTag = "CausalLanguageModel";
  /** The model's sizes and form. */
  readonly config: CausalConfig;
  /** The embedding, the layers and the last norm. */
  readonly model: CausalStack;
  /** The layer to the logits; undefined if the table of the embedding computes them. */
  readonly lmHead: Projection | undefined;

  /**
   * Creates a model with initial values from a seed. `loadModel` creates one from files.
   *
   * @param config the fields of a config.json, like { model_type: "llama", hidden_size: 256, ... }
   * @throws HeedError "option" that names the field, "memory"
   */
  constructor(heed: Heed, config: HubConfig, options: HubModelOptions = {}) {
    super(heed);
    const { config: read, parameters } = beginModel(heed, "causal", config, options);
    this.config = read;
    this.model = new CausalStack(heed, read, parameters.of("model"));
    // A tied head has its own weight if the weight is packed, because the table in bytes cannot compute logits.
    this.lmHead = parameters.optional("lm_head", (own) => new Projection(heed, own));
  }

  /**
   * Predicts the token after each position. All texts of a batch have the same length.
   *
   * @param ids int32 [B, L]
   * @throws HeedError "shape", "dtype", "option" for an unknown id or more positions than the context
   */
  forward<const O extends CausalForwardOptions = Record<never, never>>(
    ids: Tensor,
    // The last part of the type tells TypeScript the parameter types of the function.
    options?: O & NothingElse<O, CausalForwardOptions> & Pick<CausalForwardOptions, "receiveLayer">,
  ): CausalForwardResult<O> {
    const given: CausalForwardOptions = options ?? {};
    checkOptions("forward", given, forwardChecks);
    const { cache, onlyLast = false, needHiddenStates = false, receiveLayer } = given;
    checkIds(ids, this.config, Math.max(...(cache?.lengths ?? [0])));
    const { heed } = this;
    const run = () => {
      const hiddenStates = this.model.forward(ids, cache, receiveLayer);
      const last = hiddenStates.at(-1) as Tensor;
      const start = (ids.shape[1] as number) - 1;
      const read = onlyLast ? heed.slice(last, { axis: 1, start, length: 1 }) : last;
      const logits = this.#logitsOf(read);
      return { logits, hiddenStates: needHiddenStates ? hiddenStates : undefined } as never;
    };
    return cache ? cache.appending(this.model.layers.length, run) : run();
  }

  #logitsOf(x: Tensor): Tensor {
    const { lmHead, model, heed } = this;
    const { softcap } = this.config;
    const table = model.embedTokens.weight as Tensor;
    const logits = lmHead ? lmHead.forward(x) : product(heed, x, table);
    if (softcap === undefined) return logits;
    return heed.multiply(heed.activate(heed.divide(logits, softcap), "tanh"), softcap);
  }

  /**
   * Returns the prediction that the model would make if a layer were its last one (the "logit
   * lens"): the final norm and the head, applied to a hidden state before the last one.
   *
   * @param state [..., E] -> [..., V]
   */
  readOut(state: Tensor): Tensor {
    return this.heed.scope(() => this.#logitsOf(this.model.norm.forward(state)));
  }

  /**
   * Creates a cache for `forward`, with room for `capacity` positions. If this is more than the original context
   * of a model with LongRoPE (Phi-3), the model rotates by its frequencies for longer texts from the first token on.
   */
  createCache(options: TransformerCacheOptions): TransformerCache {
    checkOptions("createCache", options, cacheChecks);
    const { heed } = this;
    const { kvHeads: heads, headSize } = this.config;
    return heed.scope(() => {
      const layers = this.model.layers.map(() => ({
        selfAttn: heed.createKvCache({ ...options, heads, headSize }),
      }));
      return new TransformerCache(layers);
    });
  }

  /**
   * Returns the step function of `generate` and `beamSearch`. The first step reads the whole texts; each
   * later step reads only their last tokens. Shorter texts are padded, and the cache forgets the padding.
   */
  stepWith(cache: TransformerCache, receive?: ReceiveWeights): Step {
    return (sequences, order) => {
      const isFirst = cache.lengths[0] === 0;
      if (!isFirst && order.some((row, i) => row !== i)) cache.reorder(order);
      const rows = isFirst ? sequences : sequences.map((tokens) => tokens.slice(-1));
      const layers = this.model.layers.length;
      const run = () => cache.appending(layers, () => this.#lastLogits(rows, cache));
      return inferring(this, receive, run);
    };
  }

  /** Reads texts, which may have different lengths, and returns the logits after each, [B, V]. */
  #lastLogits(rows: readonly (readonly number[])[], cache: TransformerCache): Tensor {
    const { heed, config } = this;
    const before = cache.lengths;
    const { ids } = paddedIds(heed, rows, 0);
    const [batch, longest] = ids.shape as [number, number];
    checkIds(ids, config, Math.max(...before));
    const states = this.model.forward(ids, cache).at(-1) as Tensor;
    const lasts = rows.map(({ length }, row) => row * longest + length - 1);
    const flat = heed.reshape(states, [batch * longest, config.size]);
    if (rows.some(({ length }) => length < longest)) {
      // Later tokens do not attend to the padding, and take its place in the cache.
      const own = rows.map(({ length }, row) => (before[row] as number) + length);
      for (const { selfAttn } of cache.layers) selfAttn.shorten(own);
    }
    return this.#logitsOf(heed.embedding(heed.tensor(Int32Array.from(lasts)), flat));
  }

  /**
   * Continues texts token by token, with a cache: greedily, or at random with a temperature.
   *
   * @param startTokens the tokens of each text: ids, or the result of a tokenizer's `encode`. Shorter
   *   texts are padded, and written as each alone; the padding is part of the weights of `receive`
   * @param options the default end tokens are the end tokens of the config
   * @returns the tokens after each start, with the end token where it occurred
   * @throws HeedError "option" for more positions than the model's context, "nan" for logits that are not
   *   finite
   */
  async generate(
    startTokens: readonly Encoded[],
    options: GenerateTextOptions,
  ): Promise<number[][]> {
    const given: unknown = Array.isArray(startTokens) ? startTokens.map(idsIn) : startTokens;
    const starts = given as readonly (readonly number[])[];
    checkArgument("startTokens", starts, isStart);
    checkArgument("maxLength", options?.maxLength, isLength);
    const { cacheType = "float32", receive, ...sampling } = options;
    const length = Math.max(...starts.map((tokens) => tokens.length));
    const { context, endTokens, vocabularySize } = this.config;
    checkArgument("cacheType", cacheType, cacheChecks.dtype);
    for (const [i, tokens] of starts.entries())
      checkTokens(`startTokens[${i}]`, tokens, vocabularySize);
    if (length > context)
      throw refuse("option", "startTokens", `at most ${context} tokens each`, `${length}`);
    // The last token is returned, but the model never reads it.
    const capacity = length + options.maxLength - 1;
    if (capacity > context) {
      const expected = `at most ${context + 1 - length} after ${length} tokens, for the context of ${context}`;
      throw refuse("option", "maxLength", expected, describe(options.maxLength));
    }
    const cache = this.createCache({ batch: starts.length, capacity, dtype: cacheType });
    try {
      const step = this.stepWith(cache, receive);
      return await generate(this.heed, step, {
        endToken: endTokens,
        ...sampling,
        startTokens: starts,
      });
    } finally {
      cache.dispose();
    }
  }

  /** @internal The attention of each layer, by its path. */
  get attentions(): ReadonlyMap<string, Attention> {
    return attentionsOf(this.model.layers);
  }
}
