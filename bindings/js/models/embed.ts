// Vectors of texts, with encoders of the hub, and their comparison.

import type { Tensor } from "../core/tensor.js";
import { checkArgument, checkOptions, checkTensor, isText } from "../core/validate.js";
import {
  type BatchOptions,
  batchChecks,
  checkEncoder,
  endsTexts,
  idsUpTo,
  inBatches,
  isEncoder,
  namedTexts,
  padding,
  rowsOf,
} from "./batches.js";
import type { LoadedModel } from "./files.js";
import type { MaskedLanguageModel } from "./language/maskedModel.js";
import { normalised } from "./language/sentences.js";
import { idsOfText, type TextTokenizer } from "./tokenizer.js";

/** Options of `embed`. */
export interface EmbedOptions extends BatchOptions {
  /**
   * The text that is put before each text: the name of a prompt of the model, such as "query", or the
   * text itself. By default the default prompt of the model, if it has one.
   */
  prompt?: string;
}

/** The number of tokens of a prompt, without the one that ends every text. */
function promptLength(tokenizer: TextTokenizer, prompt: string): number {
  const ids = idsOfText(tokenizer, prompt);
  return endsTexts(tokenizer, ids) ? ids.length - 1 : ids.length;
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
  const named = namedTexts(texts);
  checkOptions("embed", options, { ...batchChecks, prompt: isText });
  const { heed, sentence, config } = encoder;
  const {
    prompts,
    defaultPrompt = "",
    maxTokens = config.context,
    includesPrompt,
    isLowerCase,
  } = sentence.config;
  const name = options.prompt ?? defaultPrompt;
  const prompt = Object.hasOwn(prompts, name) ? (prompts[name] as string) : name;
  const most = Math.min(maxTokens, config.context);
  // sentence-transformers removes the space around each text, too.
  const plain = (text: string) => (isLowerCase ? text.trim().toLowerCase() : text.trim());
  const ids = named.map(([name, text]) => idsUpTo(tokenizer, [name, plain(prompt + text)], most));
  const hidden = includesPrompt || prompt === "" ? 0 : promptLength(tokenizer, plain(prompt));
  const compute = padding(encoder, ({ rows, ids, seen, keyMask }) => {
    const { output } = encoder.forward(ids, { keyMask });
    const length = ids.shape[1] as number;
    for (let row = 0; row < rows.length; ++row)
      seen.fill(0, row * length, row * length + Math.min(hidden, length));
    return rowsOf(sentence.forward(output, seen));
  });
  const vectors = await inBatches(ids, options, compute);
  const size = sentence.vectorSize(config.size);
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
