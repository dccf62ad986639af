// The byte-level tokenizer: it loses nothing of any text, and learns the merges that a plain count of pairs gives.

import { Tokenizer } from "@huggingface/tokenizers";
import { BytePairs, ByteTokenizer, endOfText } from "heed/models";
import { nn } from "heed/nn";
import { describe, expect, test } from "vitest";
import { refusal } from "../engine.js";

const texts = [
  "It was the best of times, it was the worst of times, it was the age of wisdom.",
  "The cat's hat isn't the dog's; they're where we've been.\n\nThe end of 1859.",
];
const learned = ByteTokenizer.learn(texts, 300);

/** Code points of one to four bytes, spaces and letters more often than others. */
function randomText(random: nn.Generator, length: number): string {
  const ranges = [
    [0x61, 26],
    [0x61, 26],
    [0x20, 1],
    [0x09, 5],
    [0x21, 94],
    [0x80, 0x780],
    [0x3000, 0xa000],
    [0x1f300, 0x300],
    [0x10000, 0x100000],
  ] as const;
  const one = () => {
    const [first, count] = ranges[random.next() % ranges.length] as (typeof ranges)[number];
    return String.fromCodePoint(first + (random.next() % count));
  };
  return Array.from({ length }, one).join("");
}

/** Merges that make a text, in the JSON of a list. */
const mergesTo = (text: string) =>
  Array.from({ length: text.length - 1 }, (_, i) => `"${text.slice(0, i + 1)} ${text[i + 1]}"`);

/** The same tokenizer with the ids that GPT-2 gives: the end of a text is the last one. */
function likeGpt2(tokenizer: ByteTokenizer): { model: { merges: string[] } } {
  const file = JSON.parse(tokenizer.toFile());
  const last = tokenizer.size - 1;
  const [first, ...others] = tokenizer.tokens;
  const tokens = [...others.slice(0, 256).sort(), ...others.slice(256), first];
  return {
    ...file,
    added_tokens: [{ ...file.added_tokens[0], id: last, normalized: true }],
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true },
    post_processor: { type: "ByteLevel", add_prefix_space: true, trim_offsets: false },
    model: {
      ...{ dropout: null, unk_token: null, continuing_subword_prefix: "", end_of_word_suffix: "" },
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: file.model.merges,
    },
  };
}

describe("a byte-level tokenizer", () => {
  test("has the end of a text, all bytes and the merges, each once", () => {
    expect(learned.size).toBe(300);
    expect(new Set(learned.tokens).size).toBe(300);
    expect(learned.tokens[learned.endId]).toBe(endOfText);
    const bytes = Array.from({ length: 256 }, (_, i) => [...learned.bytes([i + 1])]);
    expect(bytes).toEqual(Array.from({ length: 256 }, (_, byte) => [byte]));
  });

  test("restores random texts in every script", () => {
    const random = new nn.Generator(1);
    for (let i = 0; i < 500; i++) {
      const text = randomText(random, random.next() % 60);
      const { ids } = learned.encode(text);
      expect(learned.decode(ids)).toBe(text);
      expect(ids.every((id) => id > 0 && id < learned.size)).toBe(true);
    }
  });

  test("restores random bytes, which no text needs to have", () => {
    const random = new nn.Generator(2);
    for (let i = 0; i < 100; i++) {
      const bytes = Uint8Array.from({ length: random.next() % 40 }, () => random.next() % 256);
      expect(learned.bytes(Array.from(bytes, (byte) => byte + 1))).toEqual(bytes);
    }
    expect(learned.decode([0xe4 + 1, 0x20 + 1])).toBe("\ufffd ");
  });

  test.each([
    ["nothing", ""],
    ["a byte order mark", "\ufeffa"],
    ["the name of the special token", `a${endOfText}b`],
    ["spaces of all kinds", " \t\u00a0\u2003\r\n  x  "],
    ["a long word", "a".repeat(200_000)],
  ])("restores %s", (_, text) => {
    const { ids } = learned.encode(text);
    expect(learned.decode(ids)).toBe(text);
    expect(ids).not.toContain(learned.endId);
  });

  test("replaces half of a surrogate pair, which UTF-8 does not have", () => {
    expect(learned.decode(learned.encode("a\ud800b").ids)).toBe("a\ufffdb");
  });

  test("splits words as GPT-2 does, with the space before them", () => {
    // Without merges within it, each word would be one token for each byte.
    const words = ["Don", "'t", " say", " 42", "!?", "  ", " \u00e9t\u00e9", "\n"];
    const whole = ByteTokenizer.learn(
      Array.from({ length: 9 }, () => words.join("")),
      2000,
    );
    const { ids } = whole.encode(words.join(""));
    expect(ids.map((id) => whole.decode([id]))).toEqual(words);
  });

  test("knows the texts it has learned from by fewer tokens than bytes", () => {
    const text = texts.join("");
    expect(learned.encode(text).ids.length).toBeLessThan(0.6 * text.length);
    expect(learned.encode(" the").ids.length).toBe(1);
  });

  test("learns the same from the same words in any order", () => {
    const again = ByteTokenizer.learn([...texts].reverse(), 300);
    expect(again.tokens).toEqual(learned.tokens);
  });

  test("ends when there is nothing to merge", () => {
    expect(ByteTokenizer.learn(["ab"], 400).tokens.slice(257)).toEqual(["ab"]);
  });

  test("decodes to nothing the end of a text", () => {
    expect(learned.decode(Int32Array.of(0, 0x61 + 1, 0))).toBe("a");
  });

  test("comes back from its file", () => {
    const again = ByteTokenizer.fromFile(learned.toFile());
    expect(again.tokens).toEqual(learned.tokens);
    expect(again.encode(texts[1] as string)).toEqual(learned.encode(texts[1] as string));
  });

  test("reads files like GPT-2's, with merges as texts or as lists, as @huggingface/tokenizers do", () => {
    const file = likeGpt2(learned);
    const { merges } = file.model;
    const lists = merges.map((merge) => merge.split(" "));
    const theirs = new Tokenizer(file, {});
    const random = new nn.Generator(4);
    for (const given of [file, { ...file, model: { ...file.model, merges: lists } }]) {
      const own = ByteTokenizer.fromFile(JSON.stringify(given));
      expect([own.size, own.endId]).toEqual([300, 299]);
      expect(own.token_to_id("a")).toBe(theirs.token_to_id("a"));
      expect(own.decode([299])).toBe("");
      for (const text of [...texts, ...Array.from({ length: 100 }, () => randomText(random, 30))]) {
        const { ids } = own.encode(text);
        expect(ids).toEqual(theirs.encode(text).ids);
        expect(own.decode(ids)).toBe(text);
      }
      expect(ByteTokenizer.fromFile(own.toFile()).tokens).toEqual(own.tokens);
    }
  });

  test.each(
    Object.entries<[change: (json: string) => string, message: RegExp]>({
      "that is no JSON": [(json) => json.slice(1), /^tokenizer: file: expected JSON, got /],
      "without a model": [
        () => "{}",
        /^tokenizer: pre_tokenizer.type: expected "ByteLevel", got und/,
      ],
      "with merges that are no pairs": [
        (json) => json.replace(/"merges": \[\s+"[^"]+"/, '"merges": ["a b c"'),
        /^tokenizer: model.merges: expected two tokens in each, got "a b c"$/,
      ],
      "with a merge of a token that is not there": [
        (json) => json.replace(/"merges": \[\s+"[^"]+"/, '"merges": ["Qu Qv"'),
        /^tokenizer: merges: expected pairs of bytes and of earlier merges, got "Qu"$/,
      ],
      "with another vocabulary": [
        (json) => json.replace('"a": 98', '"a": 99'),
        /^tokenizer: model.vocab: expected each id from 0 to 299 once, got 99 of "b"$/,
      ],
      "without one of its bytes": [
        (json) => json.replace('"a": 98,', '"aaaa": 98,'),
        /^tokenizer: tokens: expected "a" among them, got none$/,
      ],
      "with a token of no bytes": [
        (json) => json.replace('"vocab": {', '"vocab": { "\u4e2d": 300,'),
        /^tokenizer: tokens: expected characters that stand for bytes, got "\u4e2d"$/,
      ],
      "whose merges make the end of a text": [
        (json) => json.replace('"merges": [', `"merges": [${mergesTo(endOfText)},`),
        /^tokenizer: merges: expected none to <\|endoftext\|>, got one$/,
      ],
      "of the words of another model": [
        (json) => json.replace('"type": "ByteLevel"', '"type": "Split"'),
        /^tokenizer: pre_tokenizer.type: expected "ByteLevel", got "Split"$/,
      ],
      "with a space before each text": [
        (json) => json.replace('"add_prefix_space": false', '"add_prefix_space": true'),
        /^tokenizer: pre_tokenizer.add_prefix_space: expected none, got true$/,
      ],
      "with special tokens of its own": [
        (json) => json.replace('"content": "<|endoftext|>"', '"content": "<s>"'),
        /^tokenizer: added_tokens: expected <\|endoftext\|> alone, got \[an Object\]$/,
      ],
    }),
  )("refuses a file %s", (_, [change, message]) => {
    const error = refusal(() => ByteTokenizer.fromFile(change(learned.toFile())));
    expect(error.message).toMatch(message);
    expect(error.code).toBe("format");
  });

  test("refuses what is no text and no id", () => {
    expect(refusal(() => learned.encode(5 as never)).message).toBe("text: expected a text, got 5");
    expect(refusal(() => learned.decode([1, 300])).message).toBe(
      "ids[1]: expected ids below 300, got 300",
    );
    expect(refusal(() => learned.decode([-1])).message).toMatch(/^ids: expected a list of whole/);
    expect(refusal(() => ByteTokenizer.learn([], 256)).message).toMatch(/^size: expected .*257/);
  });
});

/** Counts all pairs again before each merge. This is slow, but keeps no state that could be wrong. */
function learnSlowly(words: ReadonlyMap<string, number>, count: number): [string, string][] {
  const split = [...words].map(([word, times]) => ({ tokens: [...word], times }));
  const merges: [string, string][] = [];
  for (; merges.length < count; ) {
    const counts = new Map<string, number>();
    for (const { tokens, times } of split)
      for (let i = 1; i < tokens.length; i++) {
        const key = `${tokens[i - 1]} ${tokens[i]}`;
        counts.set(key, (counts.get(key) ?? 0) + times);
      }
    const most = Math.max(...counts.values());
    const pairs = [...counts].filter(([, times]) => times === most).map(([key]) => key.split(" "));
    if (pairs.length === 0) break;
    const [left, right] = pairs.sort(([a = "", b = ""], [c = "", d = ""]) =>
      a < c || (a === c && b < d) ? -1 : 1,
    )[0] as [string, string];
    merges.push([left, right]);
    for (const word of split)
      for (let i = 0; i + 1 < word.tokens.length; i++)
        if (word.tokens[i] === left && word.tokens[i + 1] === right)
          word.tokens.splice(i, 2, left + right);
  }
  return merges;
}

test("merges are those that counting anew before each of them gives", () => {
  const random = new nn.Generator(3);
  for (let i = 0; i < 30; i++) {
    const letters = ["a", "b", "c", "d"].slice(0, 2 + (i % 3));
    const word = () =>
      Array.from(
        { length: 1 + (random.next() % 9) },
        () => letters[random.next() % letters.length],
      );
    const words = new Map(
      Array.from({ length: 12 }, () => [word().join(""), 1 + (random.next() % 4)]),
    );
    const { merges } = BytePairs.learnWords(letters, words, 25);
    expect(merges).toEqual(learnSlowly(words, 25));
  }
});
