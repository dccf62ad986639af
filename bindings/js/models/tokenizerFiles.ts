// Loads the tokenizer of a model from its files.

import { describe, refuse } from "../core/error.js";
import { parseJson } from "../core/objects.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isBoolean,
  isRecord,
  isSignal,
} from "../core/validate.js";
import type { ByteTokenizer } from "./byteTokenizer.js";
import type { Folder, ModelSource } from "./sources.js";
import { isTokenizerClass, type TextTokenizer, type TokenizerClass } from "./tokenizer.js";

/** Options of `loadTokenizer`, with the meaning that they have for `loadModel`. */
export interface LoadTokenizerOptions {
  /** Whether the browser keeps the files of the network. */
  keep?: boolean;
  /** Stops the loading. */
  signal?: AbortSignal;
}

export const tokenizerChecks = {
  keep: isBoolean,
  signal: isSignal,
} satisfies Record<keyof LoadTokenizerOptions, Check>;

/**
 * Creates the tokenizer of a model from its files tokenizer.json and tokenizer_config.json:
 *
 *     const tokenizer = await loadTokenizer("https://huggingface.co/Qwen/Qwen3-0.6B", Tokenizer);
 *
 * @param files the sources that `loadModel` takes, or tokenizer.json alone
 * @param Tokenizer the class of the package @huggingface/tokenizers, which this package does not
 *   contain. Without it, the file must be one that `ByteTokenizer` reads.
 * @throws HeedError "load" for a file that is missing, "format" for a tokenizer that the class does
 *   not know
 * @example
 * ```ts
 * const json = ByteTokenizer.learn(["the cat and the hat"], 260).toFile();
 * const tokenizer = await loadTokenizer({ "tokenizer.json": new Blob([json]) });
 * console.log(tokenizer.decode(tokenizer.encode("the hat").ids)); // prints: the hat
 * ```
 */
export function loadTokenizer<T extends TextTokenizer>(
  files: ModelSource,
  Tokenizer: TokenizerClass<T>,
  options?: LoadTokenizerOptions,
): Promise<T>;
/** Creates the tokenizer of a model from a file that `ByteTokenizer` reads. */
export function loadTokenizer(
  files: ModelSource,
  options?: LoadTokenizerOptions,
): Promise<ByteTokenizer>;
export async function loadTokenizer(
  files: ModelSource,
  second?: TokenizerClass | LoadTokenizerOptions,
  third?: LoadTokenizerOptions,
): Promise<TextTokenizer> {
  const Tokenizer = isRecord(second) ? undefined : (second as TokenizerClass | undefined);
  const options = (isRecord(second) ? (second as LoadTokenizerOptions) : third) ?? {};
  if (Tokenizer !== undefined) checkArgument("Tokenizer", Tokenizer, isTokenizerClass);
  checkOptions("loadTokenizer", options, tokenizerChecks);
  const { keep, signal } = options;
  signal?.throwIfAborted();
  const { openFolder } = await import("./sources.js");
  const folder = await openFolder(files, keep, "tokenizer.json", signal);
  return tokenizerIn(folder, Tokenizer, signal);
}

/** Creates the tokenizer in a folder: without a class, a `ByteTokenizer`. */
export async function tokenizerIn(
  folder: Folder,
  Tokenizer: TokenizerClass | undefined,
  signal: AbortSignal | undefined,
): Promise<TextTokenizer> {
  const { findJson, missing, readText } = await import("./sources.js");
  const file = await folder.open("tokenizer.json", signal);
  if (file === undefined) throw missing(folder, "tokenizer.json");
  const text = await readText(file, "tokenizer.json", signal);
  if (Tokenizer === undefined) {
    const { ByteTokenizer } = await import("./byteTokenizer.js");
    return madeBy("ByteTokenizer", () => ByteTokenizer.fromFile(text));
  }
  const json = parseJson(text, "tokenizer.json");
  // For a model without this file, tokenizer.json is sufficient.
  const config = (await findJson(folder, "tokenizer_config.json", signal)) ?? {};
  return madeBy("the class Tokenizer", () => new Tokenizer(json, config));
}

/** Reports an error that a class of tokenizers throws as a fault of the file. */
function madeBy<T>(maker: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    const got = error instanceof Error ? error.message : describe(error);
    const isOwn = maker === "ByteTokenizer";
    const other = isOwn ? ". Others need the class Tokenizer of @huggingface/tokenizers" : "";
    const expected = `a tokenizer that ${maker} knows`;
    throw refuse("format", "tokenizer.json", expected, got + other, { cause: error });
  }
}
