// Configs of models with an encoder and a decoder: T5, and the family of BART.

import { isListOf } from "../../core/validate.js";
import type { Activation } from "../../ops/activate.js";
import { activationNames, type Fields, headSizeOf, isToken, tokensIn } from "./fields.js";

/** The sizes of the encoder or of the decoder. */
export interface SideConfig {
  /** The number of layers. */
  readonly layers: number;
  /** The number of heads. */
  readonly heads: number;
  /** The size of a head. */
  readonly headSize: number;
  /** The size of the hidden layer of the feed-forward network. */
  readonly hiddenSize: number;
}

/** A model whose decoder reads the states of an encoder: T5, BART, mBART, Marian, M2M-100. */
export interface Seq2SeqConfig {
  /** Distinguishes the kinds of models. */
  readonly kind: "seq2seq";
  /** The architecture's name in config.json. */
  readonly modelType: string;
  /** The number of tokens V. */
  readonly vocabularySize: number;
  /** The size E of a position's vector. */
  readonly size: number;
  /** The largest number of positions of the encoder and of the decoder. */
  readonly context: number;
  /** The sizes of the encoder. */
  readonly encoder: SideConfig;
  /** The sizes of the decoder. */
  readonly decoder: SideConfig;
  /** RMS norms, as in T5, or layer norms. */
  readonly norm: "layer" | "rms";
  /** Whether norms are before the parts of a layer and after the last layer, or after the parts (BART, Marian). */
  readonly hasNormsBefore: boolean;
  /** The eps of the norms. */
  readonly eps: number;
  /** The activation of the feed-forward networks. */
  readonly activation: Activation;
  /** Whether the feed-forward networks have a gate. */
  readonly isGated: boolean;
  /** Whether linear layers and norms have biases. */
  readonly hasBiases: boolean;
  /**
   * How positions are told apart: by biases of attention for distances (T5), by a table of learned
   * vectors (BART, mBART), or by sines and cosines (Marian, M2M-100).
   */
  readonly positions: "distances" | "learned" | "sinusoidal";
  /** The number of the first position. */
  readonly firstPosition: number;
  /** Sine i has the frequency 10,000^(-i * frequencyStep). */
  readonly frequencyStep: number;
  /** The rows of the table of distances, and the distance from which on all share a row. */
  readonly distances: { readonly buckets: number; readonly most: number };
  /** The factor of the embedding. */
  readonly embeddingScale: number;
  /** The factor of the states from which the logits are computed. */
  readonly logitScale: number;
  /** Whether the logits are computed with the table of the tokens. */
  readonly isTied: boolean;
  /** The standard deviation of the initial weights of a model that is not loaded. */
  readonly initialDeviation: number;
  /** The first tokens of the decoder, of which it predicts the next. */
  readonly startTokens: readonly number[];
  /** Tokens that end a text. */
  readonly endTokens: readonly number[];
  /** The token that fills shorter texts. */
  readonly paddingToken: number;
  /** Sequences of tokens that are never generated: in Marian the padding token, with which it starts. */
  readonly badWords: readonly (readonly number[])[];
  /** If there are any, a text of the maximum length ends with one of these tokens. */
  readonly forcedEndTokens: readonly number[];
}

/** T5 attends over any number of positions. */
const anyLength = 2 ** 20;

/** The kinds of feed-forward networks of T5. */
const feedForwards: Readonly<Record<string, Pick<Seq2SeqConfig, "activation" | "isGated">>> = {
  relu: { activation: "relu", isGated: false },
  gelu: { activation: "gelu", isGated: false },
  "gated-gelu": { activation: "geluTanh", isGated: true },
  "gated-silu": { activation: "silu", isGated: true },
};

/** T5 (Raffel et al., 2020), its version 1.1 with gates (Shazeer, 2020), and mT5 (Xue et al., 2021). */
export function readT5(fields: Fields, modelType: string): Seq2SeqConfig {
  const size = fields.size("d_model");
  const isTied = fields.flag("tie_word_embeddings", modelType === "t5");
  const side = (layers: number) => ({
    layers,
    heads: fields.size("num_heads"),
    headSize: fields.size("d_kv"),
    hiddenSize: fields.size("d_ff"),
  });
  const layers = fields.layers("num_layers");
  const decoderLayers = fields.has("num_decoder_layers")
    ? fields.layers("num_decoder_layers")
    : layers;
  return {
    ...{ kind: "seq2seq", modelType, size, context: anyLength, norm: "rms", isTied },
    ...{ hasNormsBefore: true, firstPosition: 0, frequencyStep: 0 },
    vocabularySize: fields.size("vocab_size"),
    encoder: side(layers),
    decoder: side(decoderLayers),
    eps: fields.positive("layer_norm_epsilon", 1e-6),
    ...fields.choice("feed_forward_proj", feedForwards, modelType === "t5" ? "relu" : "gated-gelu"),
    ...{ hasBiases: false, positions: "distances", embeddingScale: 1 },
    distances: {
      buckets: fields.size("relative_attention_num_buckets", 32),
      most: fields.size("relative_attention_max_distance", 128),
    },
    // The table of the tokens is larger than a layer to the logits (Raffel et al., 2020).
    logitScale: isTied ? 1 / Math.sqrt(size) : 1,
    initialDeviation: fields.positive("initializer_range", 0.02),
    ...tokensOf(fields, { start: 0 }),
  };
}

/** How the models of BART's family differ. */
type Family = Pick<Seq2SeqConfig, "positions" | "firstPosition" | "hasNormsBefore"> & {
  readonly activation: string;
  /** The number of pairs, less this number, divides the exponents of the frequencies. */
  readonly fewerPairs: 0 | 1;
  /** The first token of the decoder; the padding token if undefined. */
  readonly start: number | undefined;
  /** Whether the padding token is never generated, unless the config lists other bad words. */
  readonly bansPadding: boolean;
};

const bart: Family = {
  // Positions are numbered from 2; a table has two unused rows before them.
  ...{ positions: "learned", firstPosition: 2, hasNormsBefore: false },
  ...{ activation: "gelu", fewerPairs: 1, start: 2, bansPadding: false },
};
const sinusoidal = { positions: "sinusoidal" } as const;

const families: Readonly<Record<string, Family>> = {
  bart,
  mbart: { ...bart, hasNormsBefore: true },
  marian: {
    ...{ ...bart, ...sinusoidal, firstPosition: 0, fewerPairs: 0 },
    ...{ start: undefined, bansPadding: true },
  },
  m2m_100: { ...bart, ...sinusoidal, hasNormsBefore: true, activation: "relu" },
};

/** The names of BART's family in a config. */
export const bartTypes: readonly string[] = Object.keys(families);

/**
 * BART (Lewis et al., 2020), mBART (Liu et al., 2020), Marian (Junczys-Dowmunt et al., 2018), and M2M-100 (Fan et
 * al., 2021), which is also the architecture of NLLB (2022).
 */
export function readBart(fields: Fields, modelType: string): Seq2SeqConfig {
  const family = families[modelType] as Family;
  const size = fields.size("d_model");
  const side = (name: "encoder" | "decoder"): SideConfig => {
    const heads = fields.size(`${name}_attention_heads`);
    return {
      layers: fields.layers(`${name}_layers`),
      ...{ heads, headSize: headSizeOf(fields, size, heads, `${name}_attention_heads`) },
      hiddenSize: fields.size(`${name}_ffn_dim`),
    };
  };
  // A model with a table of tokens for each side.
  fields.choice("share_encoder_decoder_embeddings", { true: true }, "true");
  const { positions, firstPosition, hasNormsBefore } = family;
  return {
    ...{ kind: "seq2seq", modelType, size, norm: "layer", eps: 1e-5, isGated: false },
    vocabularySize: fields.size("vocab_size"),
    context: fields.size("max_position_embeddings", 1024),
    encoder: side("encoder"),
    decoder: side("decoder"),
    activation: fields.choice("activation_function", activationNames, family.activation),
    ...{ hasBiases: true, positions, firstPosition, hasNormsBefore },
    frequencyStep: 1 / (size / 2 - family.fewerPairs),
    distances: { buckets: 0, most: 0 },
    embeddingScale: fields.flag("scale_embedding", false) ? Math.sqrt(size) : 1,
    ...{ logitScale: 1, isTied: fields.flag("tie_word_embeddings", true) },
    initialDeviation: fields.positive("init_std", 0.02),
    ...tokensOf(fields, family),
  };
}

const isWordList = (value: unknown) =>
  isListOf(value, (word) => isListOf(word, isToken.accepts) && word.length > 0);

/** The tokens that begin, end and fill a text, and the tokens that a text never has. */
function tokensOf(
  fields: Fields,
  { start, bansPadding }: Partial<Family>,
): Pick<
  Seq2SeqConfig,
  "startTokens" | "endTokens" | "paddingToken" | "badWords" | "forcedEndTokens"
> {
  const paddingToken = fields.read("pad_token_id", isToken, 0);
  const first = fields.read("decoder_start_token_id", isToken, start ?? paddingToken);
  const badWords = fields.read<number[][]>(
    "bad_words_ids",
    { expected: "a list of lists of tokens", accepts: isWordList },
    bansPadding ? [[paddingToken]] : [],
  );
  return {
    ...{ startTokens: [first, ...tokensIn(fields, "forced_bos_token_id")], paddingToken, badWords },
    endTokens: tokensIn(fields, "eos_token_id"),
    forcedEndTokens: tokensIn(fields, "forced_eos_token_id"),
  };
}
