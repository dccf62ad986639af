// The arrays of a file of any supported format. The format is detected from the first bytes.

import { describe, refuse } from "../../core/error.js";
import { isListOf, isRecord } from "../../core/objects.js";
import {
  countOf,
  headerLength,
  lengthBytes,
  readHeader,
  types,
} from "../../core/safetensorsHeader.js";
import { npyMagic, readNpy } from "./npy.js";
import { bytesOf, collect, type NumberArray, piecesOf, type Stored } from "./numbers.js";
import { readDirectory, readEntry, zipMagics } from "./zip.js";

async function readSafetensors(blob: Blob): Promise<Map<string, NumberArray>> {
  const length = headerLength(await bytesOf(blob.slice(0, lengthBytes)), blob.size);
  const start = lengthBytes + length;
  const header = await bytesOf(blob.slice(lengthBytes, start));
  const { places } = readHeader(header, blob.size - start);
  const arrays = new Map<string, NumberArray>();
  for (const [name, { dtype, shape, begin, end }] of places) {
    const [, kind, bits] = /^(BF|F|I|U)(\d+)$/.exec(types[dtype].code) ?? [];
    if (!kind) throw refuse("dtype", name, "numbers", dtype);
    const pieces = piecesOf(blob.slice(start + begin, start + end));
    const stored = {
      kind: kind.toLowerCase() as Stored["kind"],
      bytes: Number(bits) / 8,
      isBigEndian: false,
    };
    const data = await collect(name, stored, countOf(shape), pieces, true);
    arrays.set(name, { shape, data });
  }
  return arrays;
}

async function readNpz(blob: Blob): Promise<Map<string, NumberArray>> {
  const entries = await readDirectory(blob);
  if (entries.some(({ name }) => /(^|\/)data\.pkl$/.test(name)))
    throw refuse("format", "file", "arrays of numpy.savez", "a file of torch.save");
  const arrays = new Map<string, NumberArray>();
  for (const entry of entries) {
    const name = entry.name.replace(/\.npy$/, "");
    if (name === entry.name)
      throw refuse("format", "zip", "arrays of numpy.savez", describe(entry.name));
    const isThere = !entry.isDeflated;
    arrays.set(name, await readNpy(name, readEntry(blob, entry), entry.size, isThere));
  }
  return arrays;
}

/** The content of a file: arrays by their names, or a value in JSON. */
type FileContent = { readonly arrays: Map<string, NumberArray> } | { readonly json: unknown };

/** The size in bytes of the largest JSON file that is read: tokens need little space. */
const mostJsonBytes = 2 ** 26;

/**
 * Reads a file of NumPy (.npy, .npz), of safetensors, or in JSON. The content is not trusted.
 *
 * @throws HeedError "format", "dtype", "shape", "memory", or "load" for a file that can no longer
 *   be read
 */
export async function readContent(name: string, blob: Blob): Promise<FileContent> {
  const first = String.fromCharCode(...(await bytesOf(blob.slice(0, 64))));
  if (first.startsWith(npyMagic)) {
    const array = await readNpy(name, piecesOf(blob), blob.size, true);
    return { arrays: new Map([[name.replace(/\.npy$/, ""), array]]) };
  }
  if (zipMagics.some((magic) => first.startsWith(magic))) return { arrays: await readNpz(blob) };
  // The length of a header in 8 bytes, which contain a zero byte, then the "{" of the header.
  if (first[lengthBytes] === "{" && first.slice(0, lengthBytes).includes("\0"))
    return { arrays: await readSafetensors(blob) };
  if (/^(\xef\xbb\xbf)?\s*[[{]/.test(first) && blob.size <= mostJsonBytes) {
    try {
      return { json: JSON.parse(new TextDecoder().decode(await bytesOf(blob))) };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw refuse("format", name, "JSON", error.message);
    }
  }
  const got = first === "" ? "an empty file" : "other bytes";
  throw refuse("format", name, "a file of NumPy, of safetensors, or in JSON", got);
}

const isTexts = (value: unknown): value is readonly string[] =>
  isListOf<string>(value, (entry) => typeof entry === "string");

/** The lists of tokens in JSON: one list, or an object of lists. */
export function tokensIn(name: string, json: unknown): Map<string, readonly string[]> {
  const lists = new Map(Array.isArray(json) ? [["tokens", json]] : []);
  if (isRecord(json)) for (const [key, list] of Object.entries(json)) lists.set(key, list as never);
  const known = ["tokens", "queries", "keys", "encoder_tokens", "decoder_tokens"];
  for (const [key, list] of lists) {
    if (!known.includes(key))
      throw refuse("format", name, `a list, or an object of ${known.join(", ")}`, describe(key));
    if (!isTexts(list))
      throw refuse("format", `${name}: ${key}`, "a list of texts", describe(list));
  }
  return lists;
}
