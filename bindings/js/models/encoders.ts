// Functions from texts to vectors, classes and answers, with encoders of the hub.

import { refuse } from "../core/error.js";
import { pause } from "../core/pause.js";
import { noGrad } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  checkTensor,
  isFunction,
  isSignal,
  isText,
  isTexts,
  isWholeNumber,
} from "../core/validate.js";
import type { LoadedModel } from "./files.js";
import type { ClassifierTask } from "./language/config.js";
import type { MaskedLanguageModel } from "./language/maskedModel.js";
import { normalised } from "./language/sentences.js";
import { idsIn, idsOfText, isTokenizerWith, type TextTokenizer } from "./tokenizer.js";

/** Options of the functions on lists of texts. */
export interface BatchOptions {
  /** The number of texts that are computed together; 32 by default. */
  batchSize?: number;
  /** Stops the work between two batches: the promise is rejected with the signal's reason. */
  signal?: AbortSignal;
  /** Called after each batch with the number of texts that are done, and the number of all. */
  onProgress?: (done: number, total: number) => void;
}

/** Options of `embed`. */
export interface EmbedOptions extends BatchOptions {
  /**
   * The text that is put before each text: the name of a prompt of the model, such as "query", or the
   * text itself. By default the default prompt of the model, if it has one.
   */
  prompt?: string;
}

/** The class of a text or a token. */
export interface Classified {
  /** The most likely label of `model.config.classifier.labels`. */
  label: string;
  /** Its probability, or its value for a model of values (`problem_type` "regression"). */
  score: number;
  /** The scores of all labels, in their order. */
  scores: number[];
}

/** The class of a token. */
export interface ClassifiedToken extends Classified {
  /** The token's id. */
  token: number;
  /** Its text. */
  text: string;
}

/** An answer in a text. */
export interface FoundAnswer {
  /** The text of the answer. */
  text: string;
  /** The product of the probabilities of its first and its last token. */
  score: number;
  /** The position of its first token among the tokens of question and text. */
  first: number;
  /** The position of its last token. */
  last: number;
  /** For each token of question and text, the logit that it is the first one. */
  startLogits: number[];
  /** The same for the last one. */
  endLogits: number[];
}

const isEncoder: Check = {
  expected: "an encoder",
  accepts: (value) => (value as MaskedLanguageModel)?.config?.kind === "masked",
};

const batchChecks = {
  batchSize: isWholeNumber(1, 4096),
  signal: isSignal,
  onProgress: isFunction,
} satisfies Record<keyof BatchOptions, Check>;

function checkEncoder(model: LoadedModel, tokenizer: TextTokenizer): MaskedLanguageModel {
  checkArgument("model", model, isEncoder);
  checkArgument("tokenizer", tokenizer, isTokenizerWith("encode"));
  return model as MaskedLanguageModel;
}

/** Returns an encoder that has a classifier for a task. */
function checkClassifier(model: LoadedModel, tokenizer: TextTokenizer, task: ClassifierTask) {
  const encoder = checkEncoder(model, tokenizer);
  const own = encoder.config.classifier?.task;
  if (own === task) return encoder;
  const names = { sequence: "texts", token: "tokens", question: "answers" };
  const got = own ? `one of ${names[own]}` : "a model without one";
  throw refuse("option", "model", `a classifier of ${names[task]}`, got);
}

/** A batch of texts: their ids, padded, and which positions have a token. */
interface Batch {
  readonly rows: readonly (readonly number[])[];
  readonly ids: Tensor;
  readonly seen: Uint8Array;
  readonly keyMask: Tensor;
}

function padded(model: MaskedLanguageModel, rows: readonly (readonly number[])[]): Batch {
  const { heed, config } = model;
  const length = Math.max(...rows.map((row) => row.length));
  const shape = [rows.length, length];
  const ids = new Int32Array(rows.length * length).fill(config.paddingToken ?? 0);
  const seen = new Uint8Array(ids.length);
  for (const [i, row] of rows.entries()) {
    ids.set(row, i * length);
    seen.fill(1, i * length, i * length + row.length);
  }
  return {
    rows,
    ids: heed.tensor(ids, shape),
    seen,
    keyMask: heed.tensor(seen.slice(), shape, "bool"),
  };
}

/** Whether a tokenizer ends each text with a special token, such as [SEP]. */
function endsTexts(tokenizer: TextTokenizer, ids: readonly number[]): boolean {
  return idsOfText(tokenizer, "").at(-1) === ids.at(-1);
}

/** The ids of a text; a longer one loses its last tokens, but not the one that ends every text. */
function idsUpTo(tokenizer: TextTokenizer, text: string, most: number): readonly number[] {
  const ids = idsOfText(tokenizer, text);
  if (ids.length === 0) throw refuse("option", "texts", "texts with one token or more", '""');
  if (ids.length <= most) return ids;
  if (!endsTexts(tokenizer, ids)) return ids.slice(0, most);
  return [...ids.slice(0, most - 1), ids.at(-1) as number];
}

/** The number of tokens of a prompt, without the one that ends every text. */
function promptLength(tokenizer: TextTokenizer, prompt: string): number {
  const ids = idsOfText(tokenizer, prompt);
  return endsTexts(tokenizer, ids) ? ids.length - 1 : ids.length;
}

/**
 * Computes texts in batches of similar lengths, the longest first, so that a machine with too little memory
 * shows it at once.
 *
 * @param compute gets a batch in a scope, and returns a result for each of its rows
 */
async function inBatches<T>(
  model: MaskedLanguageModel,
  texts: readonly (readonly number[])[],
  { batchSize = 32, signal, onProgress }: BatchOptions,
  compute: (batch: Batch) => readonly T[],
): Promise<T[]> {
  const order = texts.map((_, i) => i);
  order.sort((a, b) => (texts[b] as number[]).length - (texts[a] as number[]).length);
  const results = new Array<T>(texts.length);
  for (let begin = 0; begin < order.length; begin += batchSize) {
    signal?.throwIfAborted();
    const own = order.slice(begin, begin + batchSize);
    const rows = own.map((i) => texts[i] as readonly number[]);
    const found = noGrad(() => model.heed.scope(() => compute(padded(model, rows))));
    for (const [i, at] of own.entries()) results[at] = found[i] as T;
    onProgress?.(begin + own.length, order.length);
    await pause();
  }
  signal?.throwIfAborted();
  return results;
}

/** The rows of a matrix, copied. */
function rowsOf(x: Tensor): Float32Array[] {
  const size = x.shape.at(-1) as number;
  const data = x.data as Float32Array;
  return Array.from({ length: data.length / size }, (_, i) => data.slice(i * size, (i + 1) * size));
}

/**
 * Computes a vector for each text, as the package sentence-transformers does. `modules.json` of the model
 * says how the states of a text become one vector; without it, the vector is their mean. A text with more
 * tokens than the model reads is cut.
 *
 *     const { model, tokenizer } = await loadModel(heed, "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2", { tokenizer: Tokenizer });
 *     const vectors = await embed(model, tokenizer, ["A cat sits.", "A dog runs."]);
 *     console.log(similarity(model, vectors, vectors).toArray());
 *
 * @returns [texts, E], in the order of the texts
 * @throws HeedError "option" for another kind of model
 * @example
 * ```ts
 * const letters = { encode: (text: string) => [...text].map((letter) => 1 + (letter.charCodeAt(0) % 49)), decode: (ids: number[]) => `${ids}` };
 * const config = { model_type: "bert", architectures: ["BertModel"], vocab_size: 50, max_position_embeddings: 32, hidden_size: 16,
 *   intermediate_size: 32, num_hidden_layers: 1, num_attention_heads: 2 };
 * const model = new MaskedLanguageModel(heed, config, { seed: 1 });
 * const vectors = await embed(model, letters, ["a cat", "two cats", "a cat"]);
 * console.log(vectors.shape, similarity(model, vectors, vectors).shape); // prints: [ 3, 16 ] [ 3, 3 ]
 * ```
 */
export async function embed(
  model: LoadedModel,
  tokenizer: TextTokenizer,
  texts: readonly string[],
  options: EmbedOptions = {},
): Promise<Tensor> {
  const encoder = checkEncoder(model, tokenizer);
  checkArgument("texts", texts, isTexts);
  checkOptions("embed", options, { ...batchChecks, prompt: isText });
  const { heed, sentence, config } = encoder;
  const {
    prompts,
    defaultPrompt = "",
    maxTokens = config.context,
    includesPrompt,
  } = sentence.config;
  const name = options.prompt ?? defaultPrompt;
  const prompt = Object.hasOwn(prompts, name) ? (prompts[name] as string) : name;
  const most = Math.min(maxTokens, config.context);
  const ids = texts.map((text) => idsUpTo(tokenizer, prompt + text, most));
  const hidden = includesPrompt || prompt === "" ? 0 : promptLength(tokenizer, prompt);
  const vectors = await inBatches(encoder, ids, options, ({ rows, ids, seen, keyMask }) => {
    const { output } = encoder.forward(ids, { keyMask });
    const length = ids.shape[1] as number;
    for (let row = 0; row < rows.length; ++row)
      seen.fill(0, row * length, row * length + Math.min(hidden, length));
    return rowsOf(sentence.forward(output, seen));
  });
  const [size = 0] = vectors.map((row) => row.length);
  const all = new Float32Array(vectors.length * size);
  for (const [i, row] of vectors.entries()) all.set(row, i * size);
  return heed.tensor(all, [vectors.length, size]);
}

/**
 * Compares vectors as the model does: by the cosine of their angle, or by their dot product.
 *
 * @param a float32 [N, E]
 * @param b float32 [M, E]
 * @returns [N, M]
 * @throws HeedError "option" for another kind of model, "shape", "dtype"
 * @example
 * ```ts
 * const config = { model_type: "bert", architectures: ["BertModel"], vocab_size: 50, max_position_embeddings: 32, hidden_size: 16,
 *   intermediate_size: 32, num_hidden_layers: 1, num_attention_heads: 2 };
 * const model = new MaskedLanguageModel(heed, config, { seed: 1 });
 * const [a, b] = [heed.tensor([[3, 4]]), heed.tensor([[6, 8], [4, -3]])];
 * console.log(similarity(model, a, b).toArray()); // prints: [ [ 1, 0 ] ]
 * ```
 */
export function similarity(model: LoadedModel, a: Tensor, b: Tensor): Tensor {
  checkArgument("model", model, isEncoder);
  const { heed, sentence } = model as MaskedLanguageModel;
  checkTensor(heed.engine, "a", a, [undefined, undefined]);
  checkTensor(heed.engine, "b", b, [undefined, a.shape[1]]);
  return heed.scope(() => {
    const isCosine = sentence.config.similarity === "cosine";
    const [x, y] = isCosine ? [normalised(heed, a), normalised(heed, b)] : [a, b];
    return heed.matmul(x, heed.transpose(y));
  });
}

/** The scores of labels from their logits. */
function classified(model: MaskedLanguageModel, logits: Float32Array): Classified {
  const { labels = [], problem = "single" } = model.config.classifier ?? {};
  const most = Math.max(...logits);
  const sum = logits.reduce((total, each) => total + Math.exp(each - most), 0);
  const scoreOf = {
    single: (each: number) => Math.exp(each - most) / sum,
    multiple: (each: number) => 1 / (1 + Math.exp(-each)),
    regression: (each: number) => each,
  }[problem];
  const scores = Array.from(logits, scoreOf);
  const best = scores.indexOf(Math.max(...scores));
  return { label: labels[best] as string, score: scores[best] as number, scores };
}

/**
 * Classifies texts with a model "...ForSequenceClassification". Labels that exclude each other have
 * probabilities that add up to 1 (softmax); otherwise each label has its own (sigmoid).
 *
 * @throws HeedError "option" for another kind of model
 * @example
 * ```ts
 * const letters = { encode: (text: string) => [...text].map((letter) => 1 + (letter.charCodeAt(0) % 49)), decode: (ids: number[]) => `${ids}` };
 * const config = { model_type: "bert", architectures: ["BertForSequenceClassification"], vocab_size: 50, max_position_embeddings: 64, hidden_size: 16,
 *   intermediate_size: 32, num_hidden_layers: 1, num_attention_heads: 2 };
 * const model = new MaskedLanguageModel(heed, config, { seed: 1 });
 * const [first] = await classify(model, letters, ["a cat", "two cats"]);
 * console.log(/^LABEL_[01]$/.test(first!.label), first!.scores.length); // prints: true 2
 * ```
 */
export async function classify(
  model: LoadedModel,
  tokenizer: TextTokenizer,
  texts: readonly string[],
  options: BatchOptions = {},
): Promise<Classified[]> {
  const encoder = checkClassifier(model, tokenizer, "sequence");
  checkArgument("texts", texts, isTexts);
  checkOptions("classify", options, batchChecks);
  const ids = texts.map((text) => idsUpTo(tokenizer, text, encoder.config.context));
  return inBatches(encoder, ids, options, ({ ids, keyMask }) => {
    const { logits } = encoder.forward(ids, { keyMask, needLogits: true });
    return rowsOf(logits).map((row) => classified(encoder, row));
  });
}

/**
 * Classifies the tokens of texts with a model "...ForTokenClassification", such as one that finds names.
 * The tokens that the tokenizer adds are included.
 *
 * @throws HeedError "option" for another kind of model
 * @example
 * ```ts
 * const letters = { encode: (text: string) => [...text].map((letter) => 1 + (letter.charCodeAt(0) % 49)), decode: (ids: number[]) => `${ids}` };
 * const config = { model_type: "bert", architectures: ["BertForTokenClassification"], vocab_size: 50, max_position_embeddings: 64, hidden_size: 16,
 *   intermediate_size: 32, num_hidden_layers: 1, num_attention_heads: 2 };
 * const model = new MaskedLanguageModel(heed, config, { seed: 1 });
 * const [tokens] = await classifyTokens(model, letters, ["a cat"]);
 * console.log(tokens!.length, tokens![0]!.scores.length); // prints: 5 2
 * ```
 */
export async function classifyTokens(
  model: LoadedModel,
  tokenizer: TextTokenizer,
  texts: readonly string[],
  options: BatchOptions = {},
): Promise<ClassifiedToken[][]> {
  const encoder = checkClassifier(model, tokenizer, "token");
  checkArgument("tokenizer", tokenizer, isTokenizerWith("decode"));
  checkArgument("texts", texts, isTexts);
  checkOptions("classifyTokens", options, batchChecks);
  const ids = texts.map((text) => idsUpTo(tokenizer, text, encoder.config.context));
  return inBatches(encoder, ids, options, ({ rows, ids, keyMask }) => {
    const { logits } = encoder.forward(ids, { keyMask, needLogits: true });
    const [scores, length] = [rowsOf(logits), ids.shape[1] as number];
    return rows.map((row, i) =>
      row.map((token, at) => ({
        ...{ token, text: tokenizer.decode([token]) },
        ...classified(encoder, scores[i * length + at] as Float32Array),
      })),
    );
  });
}

/** The most tokens of an answer, as in transformers. */
const mostOfAnswer = 15;

/**
 * Finds the answer to a question in a text, with a model "...ForQuestionAnswering" (Devlin et al., 2019,
 * section 4.2).
 *
 * @throws HeedError "option" for another kind of model, or a text that is longer than its context
 * @example
 * ```ts
 * const letters = { decode: (ids: number[]) => `${ids}`, encode: (text: string, { text_pair: other = "" } = {}) => [...`${text}|${other}|`].map((letter) => 1 + (letter.charCodeAt(0) % 49)) };
 * const config = { model_type: "bert", architectures: ["BertForQuestionAnswering"], vocab_size: 50, max_position_embeddings: 64, hidden_size: 16,
 *   intermediate_size: 32, num_hidden_layers: 1, num_attention_heads: 2 };
 * const model = new MaskedLanguageModel(heed, config, { seed: 1 });
 * const { first, last } = await answerQuestion(model, letters, "who", "it was a cat");
 * console.log(first >= 5 && last >= first); // prints: true
 * ```
 */
export async function answerQuestion(
  model: LoadedModel,
  tokenizer: TextTokenizer,
  question: string,
  text: string,
): Promise<FoundAnswer> {
  const encoder = checkClassifier(model, tokenizer, "question");
  checkArgument("tokenizer", tokenizer, isTokenizerWith("decode"));
  for (const [name, value] of Object.entries({ question, text }))
    checkArgument(name, value, isText);
  const { heed, config } = encoder;
  const pair = { text_pair: text, return_token_type_ids: true } as const;
  const encoded = tokenizer.encode(question, pair);
  const { token_type_ids: types } = encoded as { token_type_ids?: number[] };
  const ids = [...idsIn(encoded)];
  const asked = idsOfText(tokenizer, question);
  if (ids.length <= asked.length)
    throw refuse("option", "tokenizer.encode", "the ids of question and text", "others");
  if (ids.length > config.context)
    throw refuse(
      "option",
      "text",
      `at most ${config.context} tokens with the question`,
      `${ids.length}`,
    );
  // RoBERTa has two tokens between question and text.
  const begin = asked.length + (ids[asked.length] === asked.at(-1) ? 1 : 0);
  const end = ids.length - 1;
  if (end <= begin) throw refuse("option", "text", "one token or more", "none");
  const [startLogits, endLogits, starts, ends] = noGrad(() =>
    heed.scope(() => {
      const own = types ?? ids.map((_, at) => (at < begin ? 0 : 1));
      const typeIds = config.types > 1 ? heed.tensor([own], undefined, "int32") : undefined;
      const given = { needLogits: true as const, ...(typeIds && { typeIds }) };
      const { logits } = encoder.forward(heed.tensor([ids], undefined, "int32"), given);
      const all = heed.transpose(heed.reshape(logits, [ids.length, 2]));
      const inText = heed.slice(all, { axis: 1, start: begin, length: end - begin });
      return [...rowsOf(all), ...rowsOf(heed.softmax(inText))];
    }),
  ) as [Float32Array, Float32Array, Float32Array, Float32Array];
  let best = { score: -1, first: 0, last: 0 };
  for (let first = 0; first < starts.length; ++first) {
    for (let last = first; last < Math.min(ends.length, first + mostOfAnswer); ++last) {
      const score = (starts[first] as number) * (ends[last] as number);
      if (score > best.score) best = { score, first, last };
    }
  }
  const [first, last] = [begin + best.first, begin + best.last];
  return {
    ...{ text: tokenizer.decode(ids.slice(first, last + 1)), score: best.score, first, last },
    ...{ startLogits: [...startLogits], endLogits: [...endLogits] },
  };
}
