// heed view: the page that it writes, and its errors for wrong arguments and files. The page is opened in
// browsers by package/view.test.ts.

import { createHash } from "node:crypto";
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { type AttentionName, readAttention } from "heed/view";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { maskOf } from "../../../dist/view/page/mask.js";
import { version } from "../../../package.json";
import { run } from "../child.js";
import { npy, npz } from "../zipped.js";

const program = join(import.meta.dirname, "../../../dist/cli.js");
const folder = mkdtempSync(join(tmpdir(), "heed-view-"));
afterAll(() => rmSync(folder, { recursive: true }));

const view = (...words: string[]) =>
  run(process.execPath, [program, ...words], { cwd: folder, limit: 60_000 });

/** Numbers that float16 rounds, in rows that add up to one. */
const weights = Float32Array.from({ length: 2 * 3 * 4 * 4 }, (_, i) => (1 + (i % 4)) / 10);
const tokens = ["<s>", "</script><b>", "naïve 名", "\u2028&"];

beforeEach(() => {
  writeFileSync(join(folder, "attentions.npz"), npz({ arr_0: npy([2, 1, 3, 4, 4], weights) }));
  writeFileSync(join(folder, "tokens.json"), JSON.stringify(tokens));
});

/** The contents of a page: its text, its data in JSON and its weights as a file. */
function pageOf(name: string) {
  const html = readFileSync(join(folder, name), "utf8");
  const [, data] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html) ?? [];
  const blocks = html.matchAll(/<script type="text\/plain" class="weights">(.*?)<\/script>/gs);
  const bytes = Buffer.concat(
    [...blocks].map(([, block]) => Buffer.from(block as string, "base64")),
  );
  return { html, data: JSON.parse(data as string), bytes: new Uint8Array(bytes) };
}

const dataIn = async (bytes: Uint8Array) =>
  (await readAttention([{ name: "weights.npz", data: bytes }])).attentions;

describe("heed view", () => {
  test("writes one page with the weights, bit for bit, and the tokens", async () => {
    const words = ["--tokens", "tokens.json", "--out", "view.html", "--title", "A <b> & its heads"];
    const { status, output, errors } = await view("view", "attentions.npz", ...words);
    expect({ status, errors }).toEqual({ status: 0, errors: "" });
    expect(output).toMatch(/^view\.html: 2 layers, 3 heads each, 4 tokens; 0\.\d MB\n$/);
    const { html, data, bytes } = pageOf("view.html");
    expect(html).toContain("<title>A &#60;b&#62; &#38; its heads</title>");
    expect(html).not.toContain("rounded");
    expect(data).toEqual({
      ...{ title: "A <b> & its heads", mask: null, tokens: [{ queries: tokens, keys: tokens }] },
    });
    expect(await dataIn(bytes)).toEqual([
      { name: "attentions", shape: [2, 3, 4, 4], data: weights, queries: null, keys: null },
    ]);
  });

  test("its page permits its own script and style alone, and asks for no address", async () => {
    await view("view", "attentions.npz", "--tokens", "tokens.json");
    const { html } = pageOf("attentions.html");
    const [, policy] = /Content-Security-Policy" content="([^"]*)"/.exec(html) ?? [];
    const [, script] = /<script type="module">(.*)<\/script>/s.exec(html) ?? [];
    const [, style] = /<style>(.*?)<\/style>/s.exec(html) ?? [];
    const hash = (text = "") => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    expect(policy).toBe(
      `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src blob: data:; base-uri 'none'; form-action 'none'`,
    );
    // Text that ends a script, or that turns its end into a comment, would break the page.
    expect(script).not.toMatch(/<\/script|<!--|\bimport\b[^.]|\bfrom"/);
    expect(html.match(/<script/g)).toHaveLength(3);
    expect(html.replace(script as string, "")).not.toMatch(/\b(src|href)=|url\(/);
  });

  test("rounds to float16 if asked, and says so", async () => {
    const words = ["--dtype", "float16", "--out", "small.html", "--mask", "causal"];
    expect((await view("view", "attentions.npz", ...words)).status).toBe(0);
    const { html, data, bytes } = pageOf("small.html");
    expect(html).toContain("Weights are rounded to 16 bits.");
    expect(data.mask).toBe("causal");
    const [attention] = await dataIn(bytes);
    for (const [i, value] of (attention?.data ?? []).entries())
      expect(Math.abs(value / (weights[i] as number) - 1)).toBeLessThanOrEqual(2 ** -11);
    expect(new Set(attention?.data).size).toBe(4);
  });

  test("rounds to the nearest float16, ties to even", async () => {
    const steps = [1, 1 + 2 ** -11, 1 + 3 * 2 ** -11, 65504, 65519.99, 65520, 2 ** -25, 2 ** -24];
    const odd = [
      NaN,
      Infinity,
      -Infinity,
      -(2 ** -15) * (1 + 2 ** -10),
      1 - 2 ** -12,
      0,
      -0,
      1e-30,
    ];
    writeFileSync(join(folder, "odd.npy"), npy([4, 4], [...steps, ...odd]));
    expect((await view("view", "odd.npy", "--dtype", "float16")).status).toBe(0);
    const [attention] = await dataIn(pageOf("odd.html").bytes);
    expect([...(attention?.data ?? [])]).toEqual([
      ...[1, 1, 1 + 2 ** -9, 65504, 65504, Infinity, 0, 2 ** -24],
      ...[NaN, Infinity, -Infinity, -(2 ** -15), 1, 0, -0, 0],
    ]);
  });

  test("has the weights as an .npz that other programs read", async () => {
    await view("view", "attentions.npz", "--out", "view.html");
    const { bytes } = pageOf("view.html");
    const header = new DataView(bytes.buffer, bytes.byteOffset);
    const packed = header.getUint32(18, true);
    const start = 30 + header.getUint16(26, true) + header.getUint16(28, true);
    const inflated = inflateRawSync(bytes.subarray(start, start + packed));
    expect(inflated).toEqual(Buffer.from(npy([2, 3, 4, 4], weights)));
  });

  test("hides later keys of a decoder alone, as an encoder's tokens are all seen", () => {
    const page = { title: "", mask: "causal", tokens: [] } as const;
    const of = (name: AttentionName, keys = 2) => maskOf({ name, shape: [1, 1, 2, keys] }, page);
    expect([of("attentions"), of("decoder_attentions")]).toEqual(["causal", "causal"]);
    expect([of("encoder_attentions"), of("cross_attentions")]).toEqual([null, null]);
    expect(of("attentions", 3)).toBeNull();
  });

  test("shows the three attentions of an encoder-decoder", async () => {
    const square = (length: number) => new Float32Array(2 * length * length).fill(1 / length);
    const parts = {
      encoder_attentions: npy([1, 2, 3, 3], square(3)),
      cross_attentions: npy([1, 2, 2, 3], new Float32Array(12).fill(1 / 3)),
      decoder_attentions: npy([1, 2, 2, 2], square(2)),
      input_ids: npy([1], [1], { descr: "<i8" }),
    };
    writeFileSync(join(folder, "t5.npz"), npz(parts));
    const lists = { encoder_tokens: ["a", "b", "c"], decoder_tokens: ["x", "y"] };
    writeFileSync(join(folder, "both.json"), JSON.stringify(lists));
    const { status, output } = await view("view", "t5.npz", "--tokens", "both.json");
    expect(status).toBe(0);
    expect(output).toContain("(left out: input_ids)");
    expect(pageOf("t5.html").data.tokens).toEqual([
      { queries: ["a", "b", "c"], keys: ["a", "b", "c"] },
      { queries: ["x", "y"], keys: ["x", "y"] },
      { queries: ["x", "y"], keys: ["a", "b", "c"] },
    ]);
  });

  test("leaves the old page as it was if it cannot write the new one", async () => {
    const large = new Float32Array(1 << 19).map((_, i) => Math.sin(i));
    writeFileSync(join(folder, "large.npy"), npy([2, 512, 512], large));
    writeFileSync(join(folder, "old.html"), "old", { mode: 0o600 });
    const before = readdirSync(folder);
    // A shell limits the size of files to 512 blocks, and the signal of the limit is ignored.
    const limited = `trap "" XFSZ; ulimit -f 512; exec "$0" "$@"`;
    const words = ["view", "large.npy", "--out", "old.html"];
    const parameters = ["-c", limited, process.execPath, program, ...words];
    const { status, errors } = await run("bash", parameters, { cwd: folder });
    expect({ status, errors }).toMatchObject({
      status: 1,
      errors: expect.stringMatching(/^heed: --out: EFBIG.*\n$/),
    });
    expect(readFileSync(join(folder, "old.html"), "utf8")).toBe("old");
    expect(readdirSync(folder)).toEqual(before);
    expect((await view(...words)).status).toBe(0);
    expect(pageOf("old.html").data.title).toBe("large");
    expect(statSync(join(folder, "old.html")).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(before);
  });

  test("writes where a link leads, and into a pipe", async () => {
    writeFileSync(join(folder, "real.html"), "old");
    symlinkSync("real.html", join(folder, "link.html"));
    expect((await view("view", "attentions.npz", "--out", "link.html")).status).toBe(0);
    expect(lstatSync(join(folder, "link.html")).isSymbolicLink()).toBe(true);
    expect(pageOf("real.html").data.title).toBe("attentions");
    const piped = [program, "view", "attentions.npz", "--out", "/dev/stdout"];
    const shell = ["-c", '"$0" "$@" | cat', process.execPath, ...piped];
    expect((await run("bash", shell, { cwd: folder })).output).toContain("</html>");
  });

  test("prints its help and its version", async () => {
    for (const words of [["--help"], ["view", "-h"], []]) {
      const { status, output, errors } = await view(...words);
      expect({ status, errors }).toEqual({ status: 0, errors: "" });
      for (const option of ["tokens", "out", "title", "mask", "dtype", "help", "version"])
        expect(output).toContain(`--${option}`);
      // A terminal of the usual width shows it whole.
      for (const line of output.split("\n")) expect(line.length).toBeLessThanOrEqual(110);
    }
    expect(await view("--version")).toEqual({ status: 0, output: `${version}\n`, errors: "" });
  });

  const numbers = "attentions.npz";
  test.each(
    Object.entries<[string[], RegExp]>({
      "an unknown option": [
        ["view", numbers, "--colour", "red"],
        /^heed: Unknown option '--colour'$/m,
      ],
      "an option without its value": [
        ["view", numbers, "--out"],
        /^heed: .*'--out <value>' argument missing/m,
      ],
      "an unknown command": [
        ["show", numbers],
        /^heed: expected "heed view FILE", got "heed show"$/m,
      ],
      "no file": [["view"], /^heed: expected a file of weights after view, got none$/m],
      "two files": [
        ["view", numbers, "tokens.json"],
        /^heed: expected one file of weights, got attentions\.npz, tokens\.json$/m,
      ],
      "a file that is not there": [["view", "lost.npz"], /^heed: there is no file lost\.npz$/m],
      "a folder": [["view", "."], /^heed: \. is a folder, not a file$/m],
      "tokens that are not there": [
        ["view", numbers, "--tokens", "lost.json"],
        /^heed: there is no file lost\.json$/m,
      ],
      "another type": [
        ["view", numbers, "--dtype", "int4"],
        /^heed: --dtype: expected float32 or float16, got int4$/m,
      ],
      "another mask": [
        ["view", numbers, "--mask", "window"],
        /^heed: --mask: expected causal, got window$/m,
      ],
      "its input as its output": [
        ["view", numbers, "--out", `./${numbers}`],
        /^heed: --out: expected another file/m,
      ],
      "a folder that is not there": [
        ["view", numbers, "--out", "no/view.html"],
        /^heed: --out: ENOENT/m,
      ],
      "too few tokens": [
        ["view", numbers, "--tokens", "short.json"],
        /^heed: tokens: queries: expected 4 tokens, as the weights have, got 1$/m,
      ],
      "a file of another kind": [
        ["view", "short.json"],
        /^heed: files: expected a file of weights/m,
      ],
      "a broken file": [
        ["view", "broken.npz"],
        /^heed: zip: expected a directory at the end, got none: is the file cut off\?$/m,
      ],
    }),
  )("refuses %s with a sentence and the status 1", async (what, [words, why]) => {
    const isMisuse = /option|command|^no file|two files|another (type|mask)|its input/.test(what);
    writeFileSync(join(folder, "short.json"), '["a"]');
    writeFileSync(join(folder, "broken.npz"), readFileSync(join(folder, numbers)).subarray(0, 200));
    const before = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mtimeMs]);
    const { status, output, errors } = await view(...words);
    expect({ status, output }).toEqual({ status: 1, output: "" });
    expect(errors).toMatch(why);
    // The help says more about the arguments, and nothing about files.
    expect(errors.includes("--help")).toBe(isMisuse);
    expect(errors).not.toMatch(/at .*:\d+:\d+/);
    const after = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mtimeMs]);
    expect(after).toEqual(before);
  });
});
