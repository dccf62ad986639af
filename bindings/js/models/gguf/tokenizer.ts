// The tokenizer in a GGUF file, as the tokenizer.json and tokenizer_config.json of the hub.

import { isWholeNumber } from "../../core/validate.js";
import type { Metadata } from "./architectures.js";

type Json = Record<string, unknown>;

/** The kinds of tokens that the file numbers. */
const controlKind = 3;
const ownKind = 4;
const unknownKind = 2;

const split = (pattern: string, behavior = "Isolated"): Json => ({
  type: "Split",
  ...{ pattern: { Regex: pattern }, behavior, invert: false },
});
const byteLevel = (useRegex: boolean): Json => ({
  type: "ByteLevel",
  ...{ add_prefix_space: false, trim_offsets: false, use_regex: useRegex },
});
const inOrder = (...steps: Json[]) => ({ type: "Sequence", pretokenizers: steps });

/** Words, numbers of up to `digits` digits, and signs, within which bytes are merged. */
const words = (digits: string) =>
  split(
    `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`,
  );
/** The name of the tokenizer of Llama 3. */
const llama3 = "llama-bpe";
const singleDigits = { type: "Digits", individual_digits: true };

/** How a text is divided before bytes are merged, by the name in the file. */
const divisions: Readonly<Record<string, Json>> = {
  default: byteLevel(true),
  "gpt-2": byteLevel(true),
  smollm: inOrder(singleDigits, byteLevel(true)),
  [llama3]: inOrder(words("{1,3}"), byteLevel(false)),
  qwen2: inOrder(words(""), byteLevel(false)),
};

interface Tokens {
  readonly tokens: readonly string[];
  readonly kinds: readonly number[];
}

const vocabularyOf = ({ tokens }: Tokens) =>
  Object.fromEntries(tokens.map((token, id) => [token, id]));

/** The merges of byte-pair encoding, as the file lists them. */
function bytePairs(read: Metadata, all: Tokens): Json {
  const name = "tokenizer.ggml.pre";
  const division = read.choice(name, divisions, "default");
  const merges = read.list("tokenizer.ggml.merges", "string") ?? [];
  return {
    normalizer: null,
    pre_tokenizer: division,
    decoder: byteLevel(true),
    // Llama 3 takes a word that is a token as it is.
    model: {
      type: "BPE",
      vocab: vocabularyOf(all),
      merges,
      ignore_merges: read.text(name) === llama3,
    },
  };
}

/**
 * The merges of a SentencePiece model, which has scores instead: two tokens are merged if together
 * they are a token, the one with the highest score first (Kudo and Richardson, "SentencePiece", 2018).
 */
function mergesOf({ tokens, kinds }: Tokens, scores: readonly number[]): string[][] {
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const found: { pair: [string, string]; score: number; order: [number, number] }[] = [];
  for (const [id, token] of tokens.entries()) {
    if (kinds[id] !== undefined && kinds[id] !== 1 && kinds[id] !== ownKind) continue;
    for (let i = 1; i < token.length; ++i) {
      const pair: [string, string] = [token.slice(0, i), token.slice(i)];
      const [first, second] = pair.map((part) => ids.get(part));
      if (first === undefined || second === undefined) continue;
      found.push({ pair, score: scores[id] ?? 0, order: [first, second] });
    }
  }
  found.sort((a, b) => b.score - a.score || a.order[0] - b.order[0] || a.order[1] - b.order[1]);
  return found.map(({ pair }) => pair);
}

const replace = (from: string, content: string): Json => ({
  type: "Replace",
  ...{ pattern: { String: from }, content },
});

function sentencePiece(read: Metadata, all: Tokens): Json {
  const scores = read.list("tokenizer.ggml.scores", "number") ?? [];
  // Whether the tokenizer puts a space before the text.
  const hasSpace = read.flag("tokenizer.ggml.add_space_prefix") ?? true;
  const prefix = hasSpace ? [{ type: "Prepend", prepend: "▁" }] : [];
  const strip = hasSpace ? [{ type: "Strip", content: " ", start: 1, stop: 0 }] : [];
  return {
    normalizer: { type: "Sequence", normalizers: [...prefix, replace(" ", "▁")] },
    pre_tokenizer: null,
    decoder: {
      type: "Sequence",
      decoders: [replace("▁", " "), { type: "ByteFallback" }, { type: "Fuse" }, ...strip],
    },
    model: {
      ...{ type: "BPE", byte_fallback: true, fuse_unk: true },
      unk_token: all.tokens[all.kinds.indexOf(unknownKind)] ?? null,
      ...{ vocab: vocabularyOf(all), merges: mergesOf(all, scores) },
    },
  };
}

/**
 * A SentencePiece model of the most likely pieces (Kudo, "Subword Regularization", 2018), as T5 and XLM-RoBERTa have it.
 * The file's map normalises characters, usually by Unicode's NFKC and further rules.
 */
function unigram(read: Metadata, all: Tokens): Json {
  const { tokens, kinds } = all;
  const scores = read.list("tokenizer.ggml.scores", "number") ?? [];
  const map = read.list("tokenizer.ggml.precompiled_charsmap", "number");
  const bytes = map?.map((byte) => String.fromCharCode(byte & 255)).join("");
  const hasSpace = read.flag("tokenizer.ggml.add_space_prefix") ?? true;
  const isTrimmed = read.flag("tokenizer.ggml.remove_extra_whitespaces") ?? true;
  const normalizers: Json[] = [];
  if (bytes) normalizers.push({ type: "Precompiled", precompiled_charsmap: btoa(bytes) });
  if (isTrimmed) {
    normalizers.push({ type: "Strip", strip_left: true, strip_right: true });
    normalizers.push({ type: "Replace", pattern: { Regex: " {2,}" }, content: " " });
  }
  const scheme = hasSpace ? "always" : "never";
  const spaces = { type: "Metaspace", replacement: "▁", prepend_scheme: scheme };
  return {
    normalizer: { type: "Sequence", normalizers },
    ...{ pre_tokenizer: spaces, decoder: spaces },
    model: {
      ...{ type: "Unigram", unk_id: kinds.indexOf(unknownKind), byte_fallback: false },
      vocab: tokens.map((token, id) => [token, scores[id] ?? 0]),
    },
  };
}

/** The file marks the beginnings of words instead of their continuations. */
function wordPieces({ tokens, kinds }: Tokens): Json {
  const pieces = tokens.map((token, id) => {
    if ((kinds[id] ?? 1) !== 1 || /^\[.*\]$/.test(token)) return token;
    return token.startsWith("▁") ? token.slice(1) : `##${token}`;
  });
  return {
    normalizer: {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      lowercase: true,
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      ...{ type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##" },
      ...{ max_input_chars_per_word: 100, vocab: vocabularyOf({ tokens: pieces, kinds }) },
    },
  };
}

interface Kind {
  readonly make: (read: Metadata, all: Tokens) => Json;
  /** Whether BOS precedes a text, and EOS follows it, if the file does not say so. */
  readonly begins: boolean;
  readonly ends: boolean;
}

const kinds: Readonly<Record<string, Kind>> = {
  gpt2: { make: bytePairs, begins: false, ends: false },
  llama: { make: sentencePiece, begins: true, ends: false },
  t5: { make: unigram, begins: false, ends: true },
  bert: { make: (_, all) => wordPieces(all), begins: true, ends: true },
};

/** Tokens that begin and end every text. */
function template(first: string | undefined, last: string | undefined): Json | null {
  if (first === undefined && last === undefined) return null;
  const special = (id: string | undefined) =>
    id === undefined ? [] : [{ SpecialToken: { id, type_id: 0 } }];
  const single = [...special(first), { Sequence: { id: "A", type_id: 0 } }, ...special(last)];
  return { type: "TemplateProcessing", single, pair: single, special_tokens: {} };
}

/**
 * Returns the contents of tokenizer.json and tokenizer_config.json.
 *
 * @throws HeedError "format" that names the kind of tokenizer, if it is not known
 */
export function describeTokenizer(read: Metadata): { tokenizer: Json; config: Json } {
  const own = read.choice("tokenizer.ggml.model", kinds);
  const tokens = read.list("tokenizer.ggml.tokens", "string") ?? [];
  const all = { tokens, kinds: read.list("tokenizer.ggml.token_type", "number") ?? [] };
  const token = (name: string) => {
    const id = read.read(`tokenizer.ggml.${name}_token_id`, isWholeNumber(0, tokens.length - 1));
    return id === undefined ? undefined : tokens[id as number];
  };
  const [start, end] =
    own === kinds.bert
      ? [token("bos") ?? "[CLS]", token("seperator") ?? "[SEP]"]
      : [token("bos"), token("eos")];
  const isAdded = (which: string, usual: boolean) =>
    read.flag(`tokenizer.ggml.add_${which}_token`) ?? usual;
  const processor = template(
    isAdded("bos", own.begins || read.text("tokenizer.ggml.pre") === llama3) ? start : undefined,
    isAdded("eos", own.ends) ? end : undefined,
  );
  const added = tokens.flatMap((content, id) => {
    const kind = all.kinds[id];
    if (kind !== controlKind && kind !== ownKind) return [];
    const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false };
    return [{ id, content, ...flags, special: kind === controlKind }];
  });
  return {
    tokenizer: {
      version: "1.0",
      added_tokens: added,
      ...own.make(read, all),
      post_processor: processor,
    },
    config: {
      bos_token: start ?? null,
      eos_token: token("eos") ?? null,
      pad_token: token("padding") ?? null,
      chat_template: read.text("tokenizer.chat_template"),
    },
  };
}
