// The header of a GGUF file, versions 2 and 3 (the specification of ggml, docs/gguf.md, 2024): metadata, and the type,
// shape and place of each tensor. Its content is not trusted.

import { describe, refuse } from "../../core/error.js";
import { isWholeNumber } from "../../core/validate.js";
import type { ByteSource } from "../fetched.js";
import { type BlockType, blockTypes, typeName } from "./blocks.js";

/** A value of the metadata. Integers of 64 bits are numbers. */
export type MetadataValue = number | boolean | string | readonly (number | boolean | string)[];

/** A tensor of the file. Its place is counted from the start of the file. */
export interface PackedTensor {
  readonly type: BlockType;
  /** The shape, the rows first. */
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

export interface GgufHeader {
  readonly metadata: ReadonlyMap<string, MetadataValue>;
  readonly tensors: ReadonlyMap<string, PackedTensor>;
}

const magic = 0x46554747; // "GGUF" in little-endian order
/** The first read of a header. Each further read takes four times as many bytes. */
const firstBytes = 2 ** 20;
/** The largest header. A vocabulary of 262,144 tokens takes about 10 MB. */
const mostBytes = 2 ** 28;
const mostAxes = 4;
/** The smallest sizes in bytes of a metadata entry and of a tensor's entry. */
const leastEntry = 13;
const leastTensor = 24;

/** Thrown if the header continues after the bytes that were read. */
class NeedsMore extends Error {}

/** Reads numbers and texts from the beginning of a file. */
class Cursor {
  at = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  /** The size of the whole file, which limits every length. */
  readonly #size: number;

  constructor(bytes: Uint8Array, size: number) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#size = size;
  }

  /** Moves past a number of bytes, and returns their position. */
  skip(count: number, what: string): number {
    const { at } = this;
    if (count > this.#size - at)
      throw refuse("format", what, `at most the ${this.#size - at} bytes that follow`, `${count}`);
    if (at + count > this.#bytes.length) throw new NeedsMore();
    this.at += count;
    return at;
  }

  /** Checks that the file has room for a number of entries, each of `least` bytes or more. */
  entries(count: number, least: number, what: string): number {
    const most = Math.floor((this.#size - this.at) / least);
    if (count > most) throw refuse("format", what, `at most ${most} entries`, `${count}`);
    return count;
  }

  number(type: keyof typeof numberTypes, what: string): number | boolean {
    const [bytes, read] = numberTypes[type];
    const number = read(this.#view, this.skip(bytes, what));
    if (typeof number !== "bigint") return number;
    if (BigInt(Number(number)) === number && Number.isSafeInteger(Number(number)))
      return Number(number);
    throw refuse("format", what, "a whole number below 2^53", `${number}`);
  }

  u32 = (what: string) => this.number(4, what) as number;
  u64 = (what: string) => this.number(10, what) as number;

  text(what: string): string {
    const length = this.u64(what);
    const begin = this.skip(length, what);
    const bytes = this.#bytes.subarray(begin, begin + length);
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw refuse("format", what, "a text in UTF-8", "other bytes");
    }
  }
}

type ReadNumber = (view: DataView, at: number) => number | bigint | boolean;

/** The numbers of the format by the number of their type: their bytes, and how they are read. */
const numberTypes = {
  0: [1, (view, at) => view.getUint8(at)],
  1: [1, (view, at) => view.getInt8(at)],
  2: [2, (view, at) => view.getUint16(at, true)],
  3: [2, (view, at) => view.getInt16(at, true)],
  4: [4, (view, at) => view.getUint32(at, true)],
  5: [4, (view, at) => view.getInt32(at, true)],
  6: [4, (view, at) => view.getFloat32(at, true)],
  7: [1, (view, at) => view.getUint8(at) !== 0],
  10: [8, (view, at) => view.getBigUint64(at, true)],
  11: [8, (view, at) => view.getBigInt64(at, true)],
  12: [8, (view, at) => view.getFloat64(at, true)],
} satisfies Record<number, readonly [number, ReadNumber]> as Readonly<
  Record<0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 10 | 11 | 12, readonly [number, ReadNumber]>
>;
const textType = 8;
const listType = 9;

function readValue(cursor: Cursor, type: number, key: string): MetadataValue {
  if (type in numberTypes) return cursor.number(type as keyof typeof numberTypes, key);
  if (type === textType) return cursor.text(key);
  if (type !== listType)
    throw refuse("format", `${key}: type`, "a type from 0 to 12", describe(type));
  const inner = cursor.u32(key);
  const bytes = inner === textType ? 8 : numberTypes[inner as 0]?.[0];
  if (bytes === undefined)
    throw refuse("format", `${key}: type`, "a list of numbers or texts", `type ${inner}`);
  const count = cursor.entries(cursor.u64(key), bytes, key);
  const list: (number | boolean | string)[] = [];
  for (let i = 0; i < count; ++i) list.push(readValue(cursor, inner, key) as string);
  return list;
}

/** Reads the entry of a tensor. Its place counts from the start of the data. */
function readTensor(cursor: Cursor, name: string): PackedTensor {
  const axes = cursor.u32(name);
  if (axes < 1 || axes > mostAxes) throw refuse("format", name, `1 to ${mostAxes} axes`, `${axes}`);
  const sizes = Array.from({ length: axes }, () => cursor.u64(name));
  const number = cursor.u32(name);
  const begin = cursor.u64(name);
  const type = blockTypes.get(number);
  if (type === undefined) {
    const known = [...blockTypes.values()].map((each) => each.name).join(", ");
    throw refuse("format", `${name}: type`, known, typeName(number));
  }
  const [columns = 1] = sizes;
  if (columns % type.elements !== 0) {
    const expected = `rows of a multiple of ${type.elements} as ${type.name}`;
    throw refuse("format", name, expected, `${columns}`);
  }
  const bytes = (sizes.reduce((a, b) => a * b, 1) / type.elements) * type.bytes;
  return { type, shape: sizes.reverse(), begin, end: begin + bytes };
}

/** Reads a header from the first bytes of a file of a size. */
function parse(bytes: Uint8Array, size: number): GgufHeader {
  const cursor = new Cursor(bytes, size);
  const mark = cursor.u32("file");
  if (mark !== magic) throw refuse("format", "file", 'the mark "GGUF"', describe(mark));
  const version = cursor.u32("version");
  if (version !== 2 && version !== 3) throw refuse("format", "version", "2 or 3", `${version}`);
  const tensorCount = cursor.entries(cursor.u64("tensors"), leastTensor, "tensors");
  const keyCount = cursor.entries(cursor.u64("metadata"), leastEntry, "metadata");
  const metadata = new Map<string, MetadataValue>();
  for (let i = 0; i < keyCount; ++i) {
    const key = cursor.text("metadata");
    if (metadata.has(key)) throw refuse("format", "metadata", "each key once", `${key} twice`);
    metadata.set(key, readValue(cursor, cursor.u32(key), key));
  }
  const places = new Map<string, PackedTensor>();
  for (let i = 0; i < tensorCount; ++i) {
    const name = cursor.text("tensors");
    if (places.has(name)) throw refuse("format", "tensors", "each name once", `${name} twice`);
    places.set(name, readTensor(cursor, name));
  }
  const alignment = metadata.get("general.alignment") ?? 32;
  if (!isWholeNumber(1, 2 ** 20).accepts(alignment))
    throw refuse("format", "general.alignment", "a whole number up to 2^20", describe(alignment));
  const start = Math.ceil(cursor.at / (alignment as number)) * (alignment as number);
  return { metadata, tensors: placed(places, start, size) };
}

/** Moves the places to the start of the file, in the order of the bytes, and refuses overlaps. */
function placed(tensors: ReadonlyMap<string, PackedTensor>, start: number, size: number) {
  let filled = start;
  const sorted = [...tensors].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end);
  return new Map(
    sorted.map(([name, tensor]) => {
      const [begin, end] = [start + tensor.begin, start + tensor.end];
      if (begin < filled)
        throw refuse("format", name, `to begin at ${filled} or later`, `${begin}, an overlap`);
      if (!(end <= size))
        throw refuse("format", name, `to end within the ${size} bytes of the file`, `${end}`);
      filled = end;
      return [name, { ...tensor, begin, end }] as const;
    }),
  );
}

/**
 * Reads the header of a file.
 *
 * @throws HeedError "format" that names the entry: another version, an unknown type, a size beyond
 *   the file, two tensors in one place
 */
export async function readGguf(file: ByteSource, signal?: AbortSignal): Promise<GgufHeader> {
  const most = Math.min(file.size, mostBytes);
  for (let length = Math.min(firstBytes, most); ; length = Math.min(4 * length, most)) {
    const bytes = await file.read(0, length, signal);
    try {
      return parse(bytes, file.size);
    } catch (error) {
      if (!(error instanceof NeedsMore)) throw error;
      if (bytes.length >= most || bytes.length < length)
        throw refuse("format", "header", `an end within ${most} bytes`, "more");
    }
  }
}
