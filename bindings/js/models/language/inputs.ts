// The options of new models of the hub, the inputs of language models, and their checks.

import { describe, refuse } from "../../core/error.js";
import type { Tensor } from "../../core/tensor.js";
import {
  type Check,
  checkOptions,
  instanceOf,
  isWholeNumber,
  oneOf,
  shapeOf,
} from "../../core/validate.js";
import type { Heed } from "../../heed.js";
import { isSeed } from "../../nn/random.js";
import type { TransformerCacheOptions } from "../../nn/transformerCache.js";
import { type HubModelConfig, readConfig } from "./config.js";
import type { HubConfig } from "./fields.js";
import { initialParameters, ownSpecs, type Parameter, Parameters } from "./parameters.js";
import { SentenceHead } from "./sentences.js";

/** Options of a new model. */
export interface HubModelOptions {
  /** The seed of the initial values; 0 by default. */
  seed?: number;
  /** @internal The parameters of a file, which the model then owns. */
  parameters?: ReadonlyMap<string, Parameter>;
  /** @internal The steps of modules.json, which the model then owns. */
  sentence?: SentenceHead;
}

const modelChecks = {
  seed: isSeed,
  parameters: instanceOf("a map", Map),
  sentence: instanceOf("a head of sentences", SentenceHead),
} satisfies Record<keyof HubModelOptions, Check>;

export const cacheChecks = {
  batch: isWholeNumber(1),
  capacity: isWholeNumber(1),
  dtype: oneOf("float32", "float16", "int8"),
} satisfies Record<keyof TransformerCacheOptions, Check>;

/** The class of models of each kind, and its architectures. */
const kinds = {
  causal: ["CausalLanguageModel", "an architecture that predicts the next token"],
  masked: ["MaskedLanguageModel", "an architecture that sees both sides of a position"],
  seq2seq: ["Seq2SeqLanguageModel", "an architecture with an encoder and a decoder"],
  vision: ["VisionTransformer", '"vit"'],
} as const;

/** Reads the config of a new model of a kind, and creates its parameters unless the options have them. */
export function beginModel<K extends HubModelConfig["kind"]>(
  heed: Heed,
  kind: K,
  given: HubConfig,
  options: HubModelOptions,
): { config: Extract<HubModelConfig, { kind: K }>; parameters: Parameters } {
  const config = readConfig(given);
  const [name, expected] = kinds[kind];
  if (config.kind !== kind)
    throw refuse("option", "config.model_type", expected, describe(config.modelType));
  checkOptions(name, options, modelChecks);
  const made = options.parameters ?? initialParameters(heed, ownSpecs(config), options.seed);
  return { config: config as never, parameters: new Parameters(made) };
}

/**
 * Checks the ids of tokens.
 *
 * @param past the number of positions before them
 * @throws HeedError "shape", "dtype", or "option" for an unknown id or more positions than the context
 */
export function checkIds(
  ids: Tensor,
  { context, vocabularySize }: { context: number; vocabularySize: number },
  past = 0,
): void {
  const shape = shapeOf("ids", ids);
  if (ids.dtype !== "int32") throw refuse("dtype", "ids", "int32", ids.dtype);
  const [batch = 0, length = 0] = shape;
  if (shape.length !== 2 || batch === 0 || length === 0)
    throw refuse("shape", "ids", "[B, L] with one text and one token or more", describe(shape));
  if (past + length > context) {
    const after = past > 0 ? `, ${past} of them in the cache` : "";
    const got = `${past + length} positions${after}`;
    throw refuse("option", "ids", `at most the ${context} positions of the model's context`, got);
  }
  const wrong = ids.data.findIndex((id) => id < 0 || id >= vocabularySize);
  if (wrong >= 0) {
    const expected = `tokens from 0 to ${vocabularySize - 1}`;
    throw refuse("option", "ids", expected, `${ids.data[wrong]} at place ${wrong}`);
  }
}

/**
 * Checks the tokens of a text.
 *
 * @param name the place of the text in the arguments
 * @throws HeedError "option" for an unknown token
 */
export function checkTokens(name: string, tokens: readonly number[], vocabularySize: number): void {
  const wrong = tokens.findIndex((token) => token >= vocabularySize);
  if (wrong < 0) return;
  const expected = `a token from 0 to ${vocabularySize - 1}`;
  throw refuse("option", `${name}[${wrong}]`, expected, `${tokens[wrong]}`);
}

/** Creates ids [B, L] from texts of the same length. */
export function idsOf(heed: Heed, texts: readonly (readonly number[])[]): Tensor {
  const length = texts[0]?.length ?? 0;
  const other = texts.findIndex((tokens) => tokens.length !== length);
  if (other >= 0) {
    const got = `${texts[other]?.length} in text ${other}`;
    throw refuse("shape", "startTokens", `${length} tokens in each text, as in the first`, got);
  }
  return heed.tensor(Int32Array.from(texts.flat()), [texts.length, length]);
}

/**
 * Creates ids [B, L] from texts of different lengths, and a mask bool [B, L] that is true where a text has a
 * token. The padding follows the tokens.
 */
export function paddedIds(
  heed: Heed,
  texts: readonly (readonly number[])[],
  padding: number,
): { ids: Tensor; keyMask: Tensor } {
  const length = Math.max(...texts.map((tokens) => tokens.length));
  const ids = new Int32Array(texts.length * length).fill(padding);
  const seen = new Uint8Array(ids.length);
  for (const [row, tokens] of texts.entries()) {
    ids.set(tokens, row * length);
    seen.fill(1, row * length, row * length + tokens.length);
  }
  const shape = [texts.length, length];
  return { ids: heed.tensor(ids, shape), keyMask: heed.tensor(seen, shape, "bool") };
}
