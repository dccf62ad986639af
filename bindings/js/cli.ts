#!/usr/bin/env node
// `heed view`: writes one HTML file that shows attention weights. It runs only in Node, without an engine.

import { version } from "./core/copies.js";
import { HeedError } from "./core/error.js";
import { type Attention, type AttentionInput, readAttention } from "./view/files/attention.js";
import { attentionSizes } from "./view/files/words.js";
import { documentOf } from "./view/page/document.js";
import { npyOf, npzOf, type PageDType } from "./view/page/npz.js";

interface Stats {
  isDirectory(): boolean;
  isFile(): boolean;
  readonly mode: number;
  readonly size: number;
}

/** The parts of Node that are used here. The package's own types do not depend on Node's types. */
interface Builtins {
  "node:fs": {
    openAsBlob(path: string): Promise<Blob>;
    statSync(path: string): Stats;
    statSync(path: string, options: { throwIfNoEntry: false }): Stats | undefined;
    readFileSync(path: URL, encoding: "utf8"): string;
    openSync(path: string, flags: "w" | "wx", mode: number): number;
    writeFileSync(file: number, text: string): void;
    closeSync(file: number): void;
    realpathSync(path: string): string;
    renameSync(from: string, to: string): void;
    rmSync(path: string, options: { force: true }): void;
  };
  "node:path": { basename(path: string, ending?: string): string; resolve(path: string): string };
  "node:util": {
    parseArgs(config: {
      args: readonly string[];
      options: Readonly<Record<string, Option>>;
      allowPositionals: true;
    }): { values: Record<string, string | boolean | undefined>; positionals: string[] };
  };
  "node:zlib": { deflateRawSync(bytes: Uint8Array): Uint8Array };
}

interface NodeGlobals {
  readonly process: {
    readonly argv: readonly string[];
    readonly pid: number;
    exitCode: number;
    getBuiltinModule<Name extends keyof Builtins>(name: Name): Builtins[Name];
  };
  readonly Buffer: {
    from(bytes: ArrayBufferLike, start: number, length: number): { toString(as: "base64"): string };
  };
}

const { process, Buffer } = globalThis as unknown as NodeGlobals;
const fs = process.getBuiltinModule("node:fs");
const { basename, resolve } = process.getBuiltinModule("node:path");

const help = `heed view FILE [--tokens FILE] [--out FILE]: one HTML file that shows attention weights

  FILE            weights: .npy, .npz or .safetensors, one array [layers, heads, L, S] or one for each layer
  --tokens FILE   the tokens: a list in JSON, or an object with the lists "queries" and "keys", or
                  "encoder_tokens" and "decoder_tokens"
  --out FILE      the page to write; by default the name of the weights with .html
  --title TEXT    its title; by default the name of the weights
  --mask causal   a query cannot see later keys: they are hatched
  --dtype TYPE    float32, or float16 for half the size: numbers then differ by at most 0.05 %, or 3e-8
  --help          this text
  --version       the version of the package

The page needs no network and no other file. Weights are saved from it as .npz.`;

/** An error of files. The user sees only its message. */
class Failure extends Error {}

/** An error in the arguments. The user also sees a hint to the help. */
class Misuse extends Failure {}

interface Option {
  readonly type: "string" | "boolean";
  readonly short?: string;
}

const text: Option = { type: "string" };
const options = {
  ...{ tokens: text, out: text, title: text, dtype: text, mask: text },
  ...{ help: { type: "boolean", short: "h" }, version: { type: "boolean" } },
} satisfies Record<string, Option>;

interface Request {
  readonly weights: string;
  readonly tokens: string | null;
  readonly out: string;
  readonly title: string;
  readonly dtype: PageDType;
  readonly mask: "causal" | null;
}

const isOf = <T extends string>(value: string, ...all: readonly T[]): value is T =>
  all.includes(value as T);

/** Parses the arguments. Returns a text to print, or the request for a page. */
function requestOf(args: readonly string[]): string | Request {
  let parsed: ReturnType<Builtins["node:util"]["parseArgs"]>;
  try {
    const { parseArgs } = process.getBuiltinModule("node:util");
    parsed = parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new Misuse((error as Error).message.replace(/\. To specify a positional.*/s, ""));
  }
  const { values, positionals } = parsed;
  if (values.help || args.length === 0) return help;
  if (values.version) return version;
  const [command, weights, ...more] = positionals;
  if (command !== "view")
    throw new Misuse(`expected "heed view FILE", got "heed ${command ?? ""}"`);
  if (weights === undefined) throw new Misuse("expected a file of weights after view, got none");
  if (more.length > 0)
    throw new Misuse(`expected one file of weights, got ${[weights, ...more].join(", ")}`);
  const given = values as Readonly<Record<string, string | undefined>>;
  const stem = basename(weights).replace(/\.(npy|npz|safetensors)$/, "");
  const { tokens = null, out = `${stem}.html`, title = stem, dtype = "float32", mask } = given;
  if (!isOf(dtype, "float32", "float16"))
    throw new Misuse(`--dtype: expected float32 or float16, got ${dtype}`);
  if (mask !== undefined && mask !== "causal")
    throw new Misuse(`--mask: expected causal, got ${mask}`);
  if ([weights, tokens].some((path) => path !== null && resolve(path) === resolve(out)))
    throw new Misuse(`--out: expected another file than the ones to read, got ${out}`);
  return { weights, tokens, out, title, dtype, mask: mask ?? null };
}

async function inputOf(path: string): Promise<AttentionInput> {
  try {
    if (fs.statSync(path).isDirectory()) throw new Failure(`${path} is a folder, not a file`);
    return { name: basename(path), data: await fs.openAsBlob(path) };
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code, message } = error as Error & { code?: string };
    throw new Failure(code === "ENOENT" ? `there is no file ${path}` : `${path}: ${message}`);
  }
}

/**
 * The bytes of a block of base64, in whole groups of three. Blocks are needed because a string has
 * a maximum length that a file may exceed.
 */
const blockBytes = 3 * 2 ** 24;

function inBlocks(parts: readonly Uint8Array[]): string[] {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return Array.from({ length: Math.ceil(bytes.length / blockBytes) }, (_, i) =>
    base64(bytes.subarray(i * blockBytes, (i + 1) * blockBytes)),
  );
}

const base64 = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");

/** The most bytes of a page: browsers would not open a larger page. */
const mostPageBytes = 2 ** 30;

function npzParts(attentions: readonly Attention[], dtype: PageDType): Uint8Array[] {
  const size = dtype === "float16" ? 2 : 4;
  const bytes = attentions.reduce((sum, { data }) => sum + size * data.length, 0);
  const most = 2 ** 31;
  const less = dtype === "float32" ? "; --dtype float16 halves it" : "";
  if (bytes > most)
    throw new Failure(
      `the weights have ${megabytes(bytes)}, and a page at most ${megabytes(most)}${less}`,
    );
  const { deflateRawSync } = process.getBuiltinModule("node:zlib");
  const parts = npzOf(
    attentions.map((attention) => [attention.name, npyOf(attention, dtype)] as const),
    (bytes) => deflateRawSync(bytes),
  );
  const packed = parts.reduce((sum, { length }) => sum + Math.ceil((length * 4) / 3), 0);
  if (packed > mostPageBytes)
    throw new Failure(
      `the page would have ${megabytes(packed)}, and browsers open at most ${megabytes(mostPageBytes)}${less}`,
    );
  return parts;
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

/**
 * Writes to a temporary file in the same folder and then renames it, so that an error leaves the
 * old file unchanged.
 */
async function save(path: string, parts: AsyncIterable<string>): Promise<void> {
  try {
    const old = fs.statSync(path, { throwIfNoEntry: false });
    // A pipe is written directly.
    const isFile = old?.isFile() ?? true;
    const target = old && isFile ? fs.realpathSync(path) : path;
    const written = isFile ? `${target}.${process.pid}.part` : path;
    const file = fs.openSync(written, isFile ? "wx" : "w", old?.mode ?? 0o666);
    try {
      try {
        for await (const part of parts) fs.writeFileSync(file, part);
      } finally {
        fs.closeSync(file);
      }
      if (isFile) fs.renameSync(written, target);
    } catch (error) {
      if (isFile) fs.rmSync(written, { force: true });
      throw error;
    }
  } catch (error) {
    throw new Failure(`--out: ${(error as Error).message}`);
  }
}

async function write(request: Request): Promise<string> {
  const { weights, tokens, out, title, dtype, mask } = request;
  const paths = tokens === null ? [weights] : [weights, tokens];
  const { attentions, ignored } = await readAttention(await Promise.all(paths.map(inputOf)));
  const blocks = inBlocks(npzParts(attentions, dtype));
  const script = fs.readFileSync(new URL("./viewPage.js", import.meta.url), "utf8");
  const rounded = dtype === "float16" ? "Weights are rounded to 16 bits." : null;
  const content = { title, attentions, rounded, mask, script, blocks, version };
  await save(out, documentOf(content));
  const left = ignored.length === 0 ? "" : ` (left out: ${ignored.join(", ")})`;
  return `${out}: ${attentions.map(attentionSizes).join("; ")}${left}; ${megabytes(fs.statSync(out).size)}`;
}

try {
  const request = requestOf(process.argv.slice(2));
  console.log(typeof request === "string" ? request : await write(request));
} catch (error) {
  if (!(error instanceof Failure || error instanceof HeedError)) throw error;
  const more = error instanceof Misuse ? "\nheed --help lists the options." : "";
  console.error(`heed: ${error.message}${more}`);
  process.exitCode = 1;
}
