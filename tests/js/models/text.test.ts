// Texts in and out of language models, with tokenizers of @huggingface/tokenizers made here: a byte-level BPE and a
// WordPiece.

import { Tokenizer } from "@huggingface/tokenizers";
import {
  ByteTokenizer,
  CausalLanguageModel,
  fillMasks,
  loadTokenizer,
  MaskedLanguageModel,
  type TextTokenizer,
  type WriteTextOptions,
  writeText,
} from "heed/models";
import { describe, expect, test } from "vitest";
import { jsonOf } from "../checkpoints.js";
import { engine, refusal } from "../engine.js";
import { any } from "../refusals/case.js";

const ascii = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i));
/** The bytes of "é", C3 and A9, as byte-level BPE writes them; a space is "Ġ". */
const bytes = [...ascii.map((char) => (char === " " ? "Ġ" : char)), "Ã", "©"];
const merges = ["t h", "th e", "Ġ the"];
const vocabulary = ["<|end|>", ...bytes, "th", "the", "Ġthe"];
const special = (id: number, content: string) => ({
  ...{ id, content, single_word: false, lstrip: false, rstrip: false },
  ...{ normalized: false, special: true },
});

const byteLevel = {
  type: "ByteLevel",
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: true,
};
const bpe = {
  version: "1.0",
  added_tokens: [special(0, "<|end|>")],
  normalizer: null,
  pre_tokenizer: byteLevel,
  post_processor: null,
  decoder: byteLevel,
  model: {
    ...{ type: "BPE", dropout: null, unk_token: null, fuse_unk: false, byte_fallback: false },
    vocab: Object.fromEntries(vocabulary.map((token, id) => [token, id])),
    merges,
  },
};

const words = [
  "[PAD]",
  "[UNK]",
  "[CLS]",
  "[SEP]",
  "[MASK]",
  "the",
  "cat",
  "sat",
  "##s",
  "on",
  "mat",
];
const wordPiece = {
  version: "1.0",
  added_tokens: words.slice(0, 5).map((word, id) => special(id, word)),
  normalizer: { type: "BertNormalizer", clean_text: true, lowercase: true },
  pre_tokenizer: { type: "BertPreTokenizer" },
  post_processor: {
    type: "TemplateProcessing",
    single: [
      { SpecialToken: { id: "[CLS]", type_id: 0 } },
      { Sequence: { id: "A", type_id: 0 } },
      { SpecialToken: { id: "[SEP]", type_id: 0 } },
    ],
    pair: [],
    special_tokens: {
      "[CLS]": { id: "[CLS]", ids: [2], tokens: ["[CLS]"] },
      "[SEP]": { id: "[SEP]", ids: [3], tokens: ["[SEP]"] },
    },
  },
  decoder: { type: "WordPiece", prefix: "##", cleanup: true },
  model: {
    ...{ type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##" },
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries(words.map((word, id) => [word, id])),
  },
};

const tokenizerOf = (json: object) =>
  loadTokenizer({ "tokenizer.json": jsonOf(json), "tokenizer_config.json": jsonOf({}) }, Tokenizer);
const config = {
  ...{ model_type: "llama", vocab_size: vocabulary.length, hidden_size: 16, intermediate_size: 24 },
  ...{ num_hidden_layers: 1, num_attention_heads: 2, max_position_embeddings: 40, eos_token_id: 0 },
  initializer_range: 0.5,
};

describe("a tokenizer", () => {
  test("is loaded from its files, with or without its config", async () => {
    for (const files of [{}, { "tokenizer_config.json": jsonOf({}) }]) {
      const tokenizer = await loadTokenizer({ ...files, "tokenizer.json": jsonOf(bpe) }, Tokenizer);
      expect(tokenizer).toBeInstanceOf(Tokenizer);
      const { ids } = tokenizer.encode("over the é");
      expect(ids.map((id) => vocabulary[id]).join("|")).toBe("o|v|e|r|Ġthe|Ġ|Ã|©");
      expect(tokenizer.decode(ids)).toBe("over the é");
    }
  });

  test("is refused if it is missing or not known", async () => {
    await expect(loadTokenizer({ "vocab.txt": jsonOf({}) }, Tokenizer)).rejects.toThrow(
      "files: expected tokenizer.json, got vocab.txt",
    );
    const odd = { ...bpe, model: { type: "Odd" } };
    await expect(tokenizerOf(odd)).rejects.toThrow(
      /^tokenizer.json: expected a tokenizer that the class Tokenizer knows, got /,
    );
    for (const [kind, got] of [
      [3, "3"],
      [null, "null"],
      [() => 1, "a function"],
    ])
      await expect(loadTokenizer({}, any<typeof Tokenizer>(kind))).rejects.toThrow(
        `Tokenizer: expected a class (in heed/worker, only a task can pass one), got ${got}`,
      );
  });

  test("without a class is a ByteTokenizer, or the error names the class", async () => {
    const json = ByteTokenizer.learn(["the hat"], 260).toFile();
    const bytes = new TextEncoder().encode(json);
    const sources = [bytes, bytes.buffer, new Blob([json]), { "tokenizer.json": bytes }];
    for (const source of sources) {
      const tokenizer = await loadTokenizer(source);
      expect(tokenizer).toBeInstanceOf(ByteTokenizer);
      expect(tokenizer.toFile()).toBe(json);
    }
    const refused = loadTokenizer(jsonOf(wordPiece), {});
    await expect(refused).rejects.toThrow(
      /^tokenizer.json: expected a tokenizer that ByteTokenizer knows, got .*\. Others need the class Tokenizer of @huggingface\/tokenizers$/,
    );
    await expect(loadTokenizer(bytes, any<{ keep: true }>({ kept: true }))).rejects.toThrow(
      "kept: expected an option of loadTokenizer (keep, signal), got an unknown one",
    );
  });
});

describe("a text is continued", () => {
  const heed = engine({ threads: 1 });

  /** Lets a model write these tokens, and returns the results of `writeText`. */
  async function written(text: string, options: Partial<WriteTextOptions> = {}) {
    const tokenizer = await tokenizerOf(bpe);
    const script = [...tokenizer.encode(text).ids, 0];
    const generate: CausalLanguageModel["generate"] = async (_, { onTokens, maxLength }) => {
      for (const token of script.slice(0, maxLength))
        if ([onTokens?.([token])].flat()[0] === false) break;
      return [];
    };
    const pieces: string[] = [];
    const model = { config: { endTokens: [0] }, generate };
    const result = await writeText(any(model), tokenizer, "a", {
      ...{ maxLength: 100, onText: (piece: string) => pieces.push(piece) },
      ...options,
    });
    expect(pieces.join("")).toBe(result.text);
    return { ...result, pieces };
  }

  test("until an end token, piece by piece in whole characters", async () => {
    const { text, reason, tokens, pieces } = await written("né the é");
    expect(text).toBe("né the é");
    expect(reason).toBe("end");
    expect(tokens.at(-1)).toBe(0);
    expect(pieces).toEqual(["n", "é", " the", " ", "é"]);
  });

  test("until the maximum length", async () => {
    const { text, reason } = await written("the cat", { maxLength: 3 });
    expect([text, reason]).toEqual(["the c", "length"]);
    // The last character is not whole: its byte is shown at the end, when nothing more can come.
    expect((await written("né", { maxLength: 2 })).text).toBe("n\uFFFD");
  });

  test("until the first of some texts, of which nothing is told before", async () => {
    const { text, reason, pieces, tokens } = await written("one. two.. three", {
      stop: ["..", "o."],
    });
    expect([text, reason]).toEqual(["one. tw", "stop"]);
    expect(tokens.length).toBe("one. two.".length);
    // "." and "o" may begin a stop, so each comes with the next character, which shows that they do not.
    expect(pieces).toEqual(["on", "e", ". ", "t", "w"]);
  });

  test("by a model, the same as its tokens say", async () => {
    const tokenizer = await tokenizerOf(bpe);
    const model = new CausalLanguageModel(heed(), config, { seed: 5 });
    const { ids } = tokenizer.encode("the cat");
    const options = { maxLength: 20, temperature: 1, seed: 7, endToken: [] };
    const [tokens = []] = await model.generate([ids], options);
    const result = await writeText(model, tokenizer, "the cat", options);
    expect(result.tokens).toEqual(tokens);
    const all = tokenizer.decode([...ids, ...tokens], { skip_special_tokens: true });
    expect(`the cat${result.text}`).toBe(all);
    const stop = [result.text.slice(4, 6)];
    const stopped = await writeText(model, tokenizer, "the cat", { ...options, stop });
    expect(stopped.text).toBe(result.text.slice(0, result.text.indexOf(stop[0] as string)));
    expect(stopped.reason).toBe("stop");
    model.dispose();
    expect(heed().memory().tensors.count + heed().memory().caches.count).toBe(0);
  });

  test("or refused, and stopped by a signal", async () => {
    const tokenizer = await tokenizerOf(bpe);
    const model = new CausalLanguageModel(heed(), config);
    const write = (prompt: unknown, options: object) =>
      writeText(model, tokenizer, prompt as string, options as WriteTextOptions);
    await expect(write("", { maxLength: 3 })).rejects.toThrow(
      "prompt: expected a text of one token or more, got none",
    );
    await expect(write(3, { maxLength: 3 })).rejects.toThrow(
      "prompt: expected a text or a list of texts, got 3",
    );
    await expect(write("a", {})).rejects.toThrow(
      "maxLength: expected a whole number from 1 to 1048576, got undefined",
    );
    await expect(write("a", { maxLength: 3, stop: [""] })).rejects.toThrow(
      "stop: expected a list of texts of one character or more",
    );
    await expect(write("a".repeat(41), { maxLength: 1 })).rejects.toThrow(
      "prompt: expected at most 40 tokens, got 41",
    );
    const reason = new Error("enough");
    const stopped = write("a", { maxLength: 3, signal: AbortSignal.abort(reason) });
    await expect(stopped).rejects.toBe(reason);
    model.dispose();
    expect(heed().memory().tensors.count + heed().memory().caches.count).toBe(0);
  });
});

describe("every tokenizer fits:", () => {
  const heed = engine({ threads: 1 });
  const json = ByteTokenizer.learn(["the cat sat on the mat"], 262).toFile();

  test("the package's own, one of @huggingface/tokenizers, and one that returns ids alone", async () => {
    const own = ByteTokenizer.fromFile(json);
    const theirs = new Tokenizer(JSON.parse(json), {});
    const alone = {
      encode: (text: string) => own.encode(text).ids,
      decode: (ids: number[]) => own.decode(ids),
    };
    const model = new CausalLanguageModel(heed(), { ...config, vocab_size: 262 }, { seed: 3 });
    const options = { maxLength: 8, temperature: 1, seed: 4 };
    const results = [own, theirs, alone].map(async (tokenizer) => {
      const [tokens] = await model.generate([tokenizer.encode("the cat")], options);
      return { tokens, written: await writeText(model, tokenizer, "the cat", options) };
    });
    const [first, ...others] = await Promise.all(results);
    expect(first?.written.tokens).toEqual(first?.tokens);
    expect(first?.tokens?.length).toBe(8);
    for (const other of others) expect(other).toEqual(first);
    model.dispose();
  });

  test.each([
    ["nothing", () => undefined, "undefined"],
    ["a promise", async () => [1], "a Promise"],
    ["texts", () => ["a"], '["a"]'],
    ["ids below 0", () => ({ ids: [-1] }), "an Object"],
  ])("but none that returns %s", async (_, encode, got) => {
    const model = new CausalLanguageModel(heed(), config);
    const tokenizer = any<TextTokenizer>({ encode, decode: () => "" });
    const written = writeText(model, tokenizer, "a", { maxLength: 3 });
    await expect(written).rejects.toThrow(
      `tokenizer.encode: expected a list of ids, or { ids }, got ${got}`,
    );
    model.dispose();
  });

  test("and other arguments are refused by name", async () => {
    const own = ByteTokenizer.fromFile(json);
    const write = (model: unknown, tokenizer: unknown) =>
      writeText(any(model), any(tokenizer), "a", { maxLength: 3 });
    await expect(write({}, own)).rejects.toThrow(
      "model: expected a model that predicts the next token, got an Object",
    );
    const model = new CausalLanguageModel(heed(), config);
    expect(refusal(() => fillMasks(model, own, "a")).message).toBe(
      "model: expected a model of masked words, got a CausalLanguageModel",
    );
    await expect(write(model, {})).rejects.toThrow(
      "tokenizer: expected a tokenizer with encode and decode, got an Object",
    );
    model.dispose();
  });
});

describe("masks are filled", () => {
  const heed = engine({ threads: 1 });
  const bert = {
    ...{ model_type: "bert", vocab_size: words.length, hidden_size: 12, intermediate_size: 16 },
    ...{ num_hidden_layers: 1, num_attention_heads: 2, max_position_embeddings: 16 },
    ...{ architectures: ["BertForMaskedLM"], initializer_range: 0.4 },
  };

  test("with the most likely words", async () => {
    const tokenizer = await tokenizerOf(wordPiece);
    const model = new MaskedLanguageModel(heed(), bert, { seed: 2 });
    const found = fillMasks(model, tokenizer, "The [MASK] sat on [MASK]", { count: words.length });
    const ids = [2, 5, 4, 7, 9, 4, 3];
    const wanted = heed().scope(() => {
      const input = heed().tensor([ids], undefined, "int32");
      const { logits } = model.forward(input, { needLogits: true });
      return heed().softmax(logits).data.slice();
    });
    expect(found.length).toBe(2);
    for (const [i, place] of [2, 5].entries()) {
      const all = found[i] ?? [];
      expect(all.length).toBe(words.length);
      for (const { token, text, probability } of all) {
        expect(probability).toBeCloseTo(wanted[place * words.length + token] as number, 6);
        expect(text.replace("##", "")).toBe((words[token] as string).replace("##", ""));
      }
      const sorted = all.map(({ probability }) => probability);
      expect(sorted).toEqual([...sorted].sort((a, b) => b - a));
    }
    expect(fillMasks(model, tokenizer, "the [MASK]")[0]?.length).toBe(5);
    model.dispose();
    expect(heed().memory().tensors.count).toBe(0);
  });

  test("or refused", async () => {
    const tokenizer = await tokenizerOf(wordPiece);
    const model = new MaskedLanguageModel(heed(), bert);
    expect(refusal(() => fillMasks(model, tokenizer, "the cat")).message).toBe(
      'text: expected a text with [MASK], got "the cat"',
    );
    model.dispose();
    const plain = new MaskedLanguageModel(heed(), { ...bert, architectures: ["BertModel"] });
    expect(refusal(() => fillMasks(plain, tokenizer, "the [MASK]")).message).toBe(
      "model: expected a model with a head for masked words, got one without",
    );
    plain.dispose();
  });
});
