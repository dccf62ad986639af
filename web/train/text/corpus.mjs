// The texts as tokens: the training data and the held-out data.

import { readFile } from "node:fs/promises";
import { ByteTokenizer } from "heed/models";
import { problem } from "./obtain.mjs";
import { clean } from "./sources.mjs";

/** The number of characters of each document of the validation split that evaluations during training use. */
const lookedAt = 6000;

/** Divides a file into documents: 40 equal parts of its paragraphs. The last two are held out. */
export async function documentsOf(file) {
  const text = await readFile(file, "utf8").catch((error) => {
    throw problem(`--text: ${error.message}`, error);
  });
  const paragraphs = clean(text).split("\n\n");
  const parts = 40;
  if (paragraphs.length < parts)
    throw problem(`--text: expected ${parts} paragraphs or more, got ${paragraphs.length}`);
  return Array.from({ length: parts }, (_, i) => {
    const [begin, end] = [i, i + 1].map((n) => Math.floor((n * paragraphs.length) / parts));
    const split = i === parts - 1 ? "test" : i === parts - 2 ? "validation" : "train";
    return {
      ...{ source: "text", name: `part ${i + 1}`, split },
      text: paragraphs.slice(begin, end).join("\n\n"),
    };
  });
}

/** The tokenizer, learned from the documents of the train split, and the tokens of each split. */
export function corpusOf(documents, vocabulary) {
  const of = (split) => documents.filter((document) => document.split === split);
  const tokenizer = ByteTokenizer.learn(
    of("train").map(({ text }) => text),
    vocabulary,
  );
  const held = of("validation").map(({ text }) => ({ text: text.slice(0, lookedAt) }));
  const sources = [...new Set(of("test").map(({ source }) => source))];
  return {
    tokenizer,
    train: joined(tokenizer, of("train")),
    held: joined(tokenizer, held),
    tests: sources.map((source) => {
      const own = of("test").filter((document) => document.source === source);
      return {
        source,
        bytes: own.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
        tokens: joined(tokenizer, own),
      };
    }),
    counts: Object.fromEntries(
      ["train", "validation", "test"].map((split) => [split, of(split).length]),
    ),
    bytes: of("train").reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
  };
}

/** The documents one after another, with an end-of-text token at the start, between them and at the end. */
function joined(tokenizer, documents) {
  const parts = documents.map(({ text }) => tokenizer.encode(text).ids);
  const all = new Int32Array(parts.reduce((sum, ids) => sum + ids.length + 1, 1));
  all.fill(tokenizer.endId);
  let at = 1;
  for (const ids of parts) {
    all.set(ids, at);
    at += ids.length + 1;
  }
  return all;
}
