// Classes of texts and of their tokens, and answers to questions, with encoders of the hub.

import { refuse } from "../core/error.js";
import { noGrad } from "../core/tape.js";
import { checkArgument, checkOptions, isText, isTexts } from "../core/validate.js";
import {
  type BatchOptions,
  batchChecks,
  checkEncoder,
  idsUpTo,
  inBatches,
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

/** Returns an encoder that has a classifier for a task. */
function checkClassifier(model: LoadedModel, tokenizer: TextTokenizer, task: ClassifierTask) {
  const encoder = checkEncoder(model, tokenizer);
  const own = encoder.config.classifier?.task;
  if (own === task) return encoder;
  const names = { sequence: "texts", token: "tokens", question: "answers" };
  const got = own ? `one of ${names[own]}` : "a model without one";
  throw refuse("option", "model", `a classifier of ${names[task]}`, got);
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
