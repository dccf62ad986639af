// Classes of texts and of their tokens, and answers to questions, with encoders of the hub.

import { refuse } from "../core/error.js";
import { type Check, checkArgument, checkOptions, isRecord, isText } from "../core/validate.js";
import {
  type BatchOptions,
  batchChecks,
  checkEncoder,
  idsUpTo,
  inBatches,
  namedTexts,
  padding,
  rowsOf,
} from "./batches.js";
import type { LoadedModel } from "./files.js";
import type { ClassifierTask } from "./language/maskedConfig.js";
import type { MaskedLanguageModel } from "./language/maskedModel.js";
import { idsIn, idsOfText, isTokenizerWith, type TextTokenizer } from "./tokenizer.js";

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

/** A question about a text. */
export interface Question {
  /** The text of the question. */
  question: string;
  /** The text that has the answer. */
  context: string;
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

const isQuestion: Check = { expected: "{ question, context }", accepts: isRecord };

/** Returns an encoder that has a classifier for a task. */
function checkClassifier(model: LoadedModel, tokenizer: TextTokenizer, task: ClassifierTask) {
  const encoder = checkEncoder(model, tokenizer);
  const own = encoder.config.classifier?.task;
  if (own === task) return encoder;
  const names = { sequence: "texts", token: "tokens", question: "answers" };
  const got = own ? `one of ${names[own]}` : "a model without one";
  throw refuse("option", "model", `a classifier of ${names[task]}`, got);
}

function softmaxOf(logits: ArrayLike<number>): number[] {
  const all = Array.from(logits);
  const most = Math.max(...all);
  const shares = all.map((each) => Math.exp(each - most));
  const sum = shares.reduce((total, each) => total + each, 0);
  return shares.map((each) => each / sum);
}

/** The scores of labels from their logits. */
function classified(model: MaskedLanguageModel, logits: Float32Array): Classified {
  const { labels = [], problem = "single" } = model.config.classifier ?? {};
  const scores = {
    single: () => softmaxOf(logits),
    multiple: () => Array.from(logits, (each) => 1 / (1 + Math.exp(-each))),
    regression: () => Array.from(logits),
  }[problem]();
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
  const named = namedTexts(texts);
  checkOptions("classify", options, batchChecks);
  const ids = named.map((each) => idsUpTo(tokenizer, each, encoder.config.context));
  const compute = padding(encoder, ({ ids, keyMask }) => {
    const { logits } = encoder.forward(ids, { keyMask, needLogits: true });
    return rowsOf(logits).map((row) => classified(encoder, row));
  });
  return inBatches(ids, options, compute);
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
  const named = namedTexts(texts);
  checkOptions("classifyTokens", options, batchChecks);
  const ids = named.map((each) => idsUpTo(tokenizer, each, encoder.config.context));
  const compute = padding(encoder, ({ rows, ids, keyMask }) => {
    const { logits } = encoder.forward(ids, { keyMask, needLogits: true });
    const [scores, length] = [rowsOf(logits), ids.shape[1] as number];
    return rows.map((row, i) =>
      row.map((token, at) => ({
        ...{ token, text: tokenizer.decode([token]) },
        ...classified(encoder, scores[i * length + at] as Float32Array),
      })),
    );
  });
  return inBatches(ids, options, compute);
}

/** The most tokens of an answer, as in transformers. */
const mostOfAnswer = 15;

/** The tokens of a question and its text. The text begins at `begin`, and one special token follows it. */
interface Pair {
  readonly ids: readonly number[];
  readonly types: readonly number[];
  readonly begin: number;
}

/** @param prefix what errors put before the names of the two texts */
function pairOf(
  { config }: MaskedLanguageModel,
  tokenizer: TextTokenizer,
  { question, context }: Question,
  prefix: string,
): Pair {
  for (const [name, value] of Object.entries({ question, context }))
    checkArgument(prefix + name, value, isText);
  const encoded = tokenizer.encode(question, { text_pair: context, return_token_type_ids: true });
  const ids = [...idsIn(encoded)];
  const asked = idsOfText(tokenizer, question);
  if (ids.length <= asked.length)
    throw refuse("option", "tokenizer.encode", "the ids of question and text", "others");
  const name = `${prefix}context`;
  if (ids.length > config.context) {
    const expected = `at most ${config.context} tokens with the question`;
    throw refuse("option", name, expected, `${ids.length}`);
  }
  // RoBERTa has two tokens between question and text.
  const begin = asked.length + (ids[asked.length] === asked.at(-1) ? 1 : 0);
  if (ids.length - 1 <= begin) throw refuse("option", name, "one token or more", "none");
  const { token_type_ids: types = ids.map((_, at) => (at < begin ? 0 : 1)) } = encoded as {
    token_type_ids?: number[];
  };
  if (types.length !== ids.length) {
    const expected = `${ids.length} token_type_ids, as many as ids`;
    throw refuse("option", "tokenizer.encode", expected, `${types.length}`);
  }
  return { ids, types, begin };
}

/** The most likely answer in a pair, from the logits that its tokens are the first and the last one. */
function likeliest(
  { ids, begin }: Pair,
  tokenizer: TextTokenizer,
  startLogits: number[],
  endLogits: number[],
): FoundAnswer {
  const [starts, ends] = [startLogits, endLogits].map((logits) =>
    softmaxOf(logits.slice(begin, -1)),
  ) as [number[], number[]];
  let best = { score: -1, first: 0, last: 0 };
  for (const [first, start] of starts.entries()) {
    for (const [i, end] of ends.slice(first, first + mostOfAnswer).entries())
      if (start * end > best.score) best = { score: start * end, first, last: first + i };
  }
  const [first, last] = [begin + best.first, begin + best.last];
  const text = tokenizer.decode(ids.slice(first, last + 1));
  return { text, score: best.score, first, last, startLogits, endLogits };
}

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
 * const all = await answerQuestion(model, letters, [{ question: "who", context: "it was a cat" }, { question: "where", context: "at home" }]);
 * console.log(first >= 5 && last >= first, all.length); // prints: true 2
 * ```
 */
export async function answerQuestion(
  model: LoadedModel,
  tokenizer: TextTokenizer,
  question: string,
  context: string,
  options?: BatchOptions,
): Promise<FoundAnswer>;
/**
 * Finds the answers to questions, each in its text, in batches of similar lengths.
 *
 * @returns the answers, in the order of the questions
 * @throws HeedError "option" that names the question
 */
export async function answerQuestion(
  model: LoadedModel,
  tokenizer: TextTokenizer,
  questions: readonly Question[],
  options?: BatchOptions,
): Promise<FoundAnswer[]>;
export async function answerQuestion(
  model: LoadedModel,
  tokenizer: TextTokenizer,
  asked: string | readonly Question[],
  second?: string | BatchOptions,
  third?: BatchOptions,
): Promise<FoundAnswer | FoundAnswer[]> {
  const encoder = checkClassifier(model, tokenizer, "question");
  checkArgument("tokenizer", tokenizer, isTokenizerWith("decode"));
  const isList = Array.isArray(asked);
  const expected = "a text or a list of questions";
  if (!isList) checkArgument("question", asked, { ...isText, expected });
  const options = (isList ? second : third) ?? {};
  checkOptions("answerQuestion", options, batchChecks);
  const pairs = isList
    ? Array.from(asked as readonly Question[], (each, i) => {
        checkArgument(`questions[${i}]`, each, isQuestion);
        return pairOf(encoder, tokenizer, each, `questions[${i}].`);
      })
    : [pairOf(encoder, tokenizer, { question: asked, context: second } as Question, "")];
  const compute = padding(encoder, ({ places, ids, keyMask }) => {
    const [batch, length] = ids.shape as [number, number];
    const own = places.map((place) => pairs[place] as Pair);
    const types = new Int32Array(ids.size);
    for (const [row, pair] of own.entries()) types.set(pair.types, row * length);
    const typeIds = encoder.config.types > 1 && encoder.heed.tensor(types, [batch, length]);
    const given = { keyMask, needLogits: true as const, ...(typeIds && { typeIds }) };
    const logits = encoder.forward(ids, given).logits.data as Float32Array;
    return own.map((pair, row) => {
      const [starts, ends] = [0, 1].map((side) =>
        pair.ids.map((_, at) => logits[2 * (row * length + at) + side] as number),
      ) as [number[], number[]];
      return likeliest(pair, tokenizer, starts, ends);
    });
  });
  const ids = pairs.map((pair) => pair.ids);
  const answers = await inBatches(ids, options as BatchOptions, compute);
  return isList ? answers : (answers[0] as FoundAnswer);
}
