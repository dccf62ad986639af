// Reads and writes safetensors files (https://github.com/huggingface/safetensors, "Format"). A file has
// three parts: the length of the header in 8 bytes; the header in JSON, which gives the type, the shape and
// the byte range of each tensor; and the elements, little-endian and row-major.

import { describe, HeedError } from "../core/error.js";
import type { Bytes } from "../core/module.js";
import { checkAttached } from "../core/tensor.js";
import { isListOf } from "../core/validate.js";

/** A tensor of a file that is read or written. Heed's tensors have this form. */
export interface SafetensorsEntry {
  readonly dtype: SafetensorsDType;
  readonly shape: readonly number[];
  /**
   * The elements. float16 and bfloat16 elements are given as their bits, bool elements as bytes of 0 or 1.
   */
  readonly data: SafetensorsData;
}

export type SafetensorsDType = keyof typeof types;

export type SafetensorsData =
  | Float64Array
  | Float32Array
  | Uint16Array
  | BigInt64Array
  | BigUint64Array
  | Int32Array
  | Uint32Array
  | Int16Array
  | Int8Array
  | Uint8Array;

export interface SafetensorsFile {
  tensors: Record<string, SafetensorsEntry>;
  /** The file's metadata, names and values. */
  metadata: Record<string, string>;
}

const types = {
  float64: { code: "F64", array: Float64Array },
  float32: { code: "F32", array: Float32Array },
  float16: { code: "F16", array: Uint16Array },
  bfloat16: { code: "BF16", array: Uint16Array },
  int64: { code: "I64", array: BigInt64Array },
  uint64: { code: "U64", array: BigUint64Array },
  int32: { code: "I32", array: Int32Array },
  uint32: { code: "U32", array: Uint32Array },
  int16: { code: "I16", array: Int16Array },
  uint16: { code: "U16", array: Uint16Array },
  int8: { code: "I8", array: Int8Array },
  uint8: { code: "U8", array: Uint8Array },
  bool: { code: "BOOL", array: Uint8Array },
} as const;

const byCode = new Map(
  Object.entries(types).map(([dtype, { code }]) => [code as string, dtype as SafetensorsDType]),
);

/** The size of the header's length, which precedes the header. */
const lengthBytes = 8;
/** The largest header that the format's reference implementation reads. */
const mostHeaderBytes = 100_000_000;
const metadataName = "__metadata__";

/** Creates the error for invalid content of a file. */
function wrong(what: string, expected: string, got: string): HeedError {
  return new HeedError("format", `${what}: expected ${expected}, got ${got}`);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);

const isSize = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

const countOf = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1);

/**
 * Reads a file. The content is not trusted: the type, the shape and the byte range of every tensor must
 * match, and the byte ranges must cover the data without gaps or overlaps, in any order.
 *
 * @returns tensors whose data are views of `bytes` where the alignment permits, else copies
 * @throws HeedError "format"
 */
export function read(bytes: Uint8Array): SafetensorsFile {
  if (!(bytes instanceof Uint8Array)) throw wrong("bytes", "a Uint8Array", describe(bytes));
  checkAttached("bytes", bytes);
  // Makes a plain Uint8Array, because `slice` of Node's Buffer does not copy.
  const file = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  const { header, dataStart } = readHeader(file);
  const data = file.subarray(dataStart);
  const tensors: [string, SafetensorsEntry][] = [];
  const places: { name: string; begin: number; end: number }[] = [];
  for (const [name, info] of Object.entries(header)) {
    if (name === metadataName) continue;
    const place = checkEntry(name, info, data.length);
    places.push({ name, begin: place.begin, end: place.end });
    tensors.push([name, { dtype: place.dtype, shape: place.shape, data: view(name, place, data) }]);
  }
  checkPlaces(places, data.length);
  return { tensors: Object.fromEntries(tensors), metadata: checkMetadata(header[metadataName]) };
}

function readHeader(bytes: Uint8Array): { header: Record<string, unknown>; dataStart: number } {
  if (bytes.length < lengthBytes) {
    throw wrong("file", "a header's length in 8 bytes", `${bytes.length} bytes`);
  }
  const length = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  const rest = bytes.length - lengthBytes;
  const most = Math.min(rest, mostHeaderBytes);
  if (length > most) throw wrong("header", `at most ${most} bytes`, `${length} bytes`);
  const dataStart = lengthBytes + Number(length);
  // Copies, because TextDecoder does not read shared memory.
  const encoded = bytes.slice(lengthBytes, dataStart);
  let text: string;
  let header: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(encoded);
    header = JSON.parse(text);
  } catch (error) {
    throw wrong("header", "an object in JSON", error instanceof Error ? error.message : "none");
  }
  if (!isObject(header) || !text.startsWith("{")) {
    throw wrong("header", "an object in JSON", describe(header));
  }
  refuseDuplicates(text);
  return { header, dataStart };
}

/**
 * Throws if a name occurs twice. JSON.parse keeps the last of two equal names; a reader that keeps the
 * first would read a different file.
 */
function refuseDuplicates(json: string): void {
  const open: Set<string>[] = [];
  let last = "";
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (token !== ":") last = token;
    else {
      const name = JSON.parse(last) as string;
      if (open.at(-1)?.has(name)) throw wrong("header", "each name once", `${last} twice`);
      open.at(-1)?.add(name);
    }
  }
}

interface Place {
  dtype: SafetensorsDType;
  shape: readonly number[];
  begin: number;
  end: number;
}

function checkEntry(name: string, info: unknown, available: number): Place {
  if (!isObject(info)) throw wrong(name, "{ dtype, shape, data_offsets }", describe(info));
  const dtype = byCode.get(info.dtype as string);
  if (dtype === undefined) {
    throw wrong(`${name}: dtype`, [...byCode.keys()].join(", "), describe(info.dtype));
  }
  const { shape, data_offsets: offsets } = info;
  if (!isListOf<number>(shape, isSize)) {
    throw wrong(`${name}: shape`, "a list of whole numbers of 0 or more", describe(shape));
  }
  const bytes = countOf(shape) * types[dtype].array.BYTES_PER_ELEMENT;
  const isRange = isListOf(offsets, isSize) && offsets.length === 2;
  const [begin, end] = isRange ? (offsets as [number, number]) : [0, -1];
  if (begin > end || end > available) {
    const expected = `[begin, end] within the ${available} bytes of data`;
    throw wrong(`${name}: data_offsets`, expected, describe(offsets));
  }
  if (end - begin !== bytes) {
    const expected = `${bytes} bytes for ${dtype} [${shape.join(", ")}]`;
    throw wrong(`${name}: data_offsets`, expected, `${end - begin}`);
  }
  return { dtype, shape, begin, end };
}

/** Returns a view of the elements if they are aligned, else a copy. */
function view(name: string, { dtype, begin, end }: Place, data: Uint8Array): SafetensorsData {
  const { array } = types[dtype];
  const isAligned = (data.byteOffset + begin) % array.BYTES_PER_ELEMENT === 0;
  const bytes = isAligned ? data.subarray(begin, end) : data.slice(begin, end);
  const length = (end - begin) / array.BYTES_PER_ELEMENT;
  const numbers = new array(bytes.buffer as ArrayBuffer, bytes.byteOffset, length);
  if (dtype === "bool") checkBools(name, bytes);
  return numbers;
}

function checkBools(name: string, bytes: Uint8Array): void {
  const odd = bytes.find((byte) => byte > 1);
  if (odd !== undefined) throw wrong(`${name}: data`, "bools, bytes of 0 or 1", `${odd}`);
}

/** Throws unless every byte of the data belongs to exactly one tensor, as the format requires. */
function checkPlaces(
  places: { name: string; begin: number; end: number }[],
  available: number,
): void {
  places.sort((a, b) => a.begin - b.begin || a.end - b.end);
  let filled = 0;
  for (const { name, begin, end } of places) {
    if (begin !== filled) {
      const what = begin < filled ? "an overlap" : "a gap";
      throw wrong(`${name}: data_offsets`, `to begin at ${filled}`, `${begin}, ${what}`);
    }
    filled = end;
  }
  if (filled !== available) {
    throw wrong("file", `${filled} bytes of data`, `${available}`);
  }
}

function checkMetadata(metadata: unknown): Record<string, string> {
  if (metadata === undefined) return {};
  if (!isObject(metadata)) throw wrong(metadataName, "an object of texts", describe(metadata));
  for (const [name, value] of Object.entries(metadata)) {
    if (typeof value !== "string") throw wrong(`${metadataName}: ${name}`, "text", describe(value));
  }
  return metadata as Record<string, string>;
}

/**
 * Writes a file. Tensors are sorted by element size, largest first, then by name. Each tensor is therefore
 * aligned, and the same tensors give the same bytes.
 *
 * @throws HeedError "format" for tensors or metadata that the format cannot represent
 */
export function write(
  tensors: Readonly<Record<string, SafetensorsEntry>>,
  metadata: Readonly<Record<string, string>> = {},
): Bytes {
  if (!isObject(tensors)) throw wrong("tensors", "an object", describe(tensors));
  const entries = Object.entries(tensors).map(([name, entry]) => toWrite(name, entry));
  entries.sort((a, b) => b.element - a.element || (a.name < b.name ? -1 : 1));
  const header: [string, unknown][] = [];
  const said = checkMetadata(metadata);
  if (Object.keys(said).length > 0) header.push([metadataName, said]);
  let end = 0;
  for (const entry of entries) {
    const begin = end;
    end = begin + entry.bytes.length;
    const { code, shape } = entry;
    header.push([entry.name, { dtype: code, shape, data_offsets: [begin, end] }]);
  }
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(header)));
  // The data begins at a multiple of 8 bytes: spaces fill the header, as the format prescribes.
  const length = Math.ceil(json.length / 8) * 8;
  const file = new Uint8Array(lengthBytes + length + end).fill(0x20, 0, lengthBytes + length);
  new DataView(file.buffer).setBigUint64(0, BigInt(length), true);
  file.set(json, lengthBytes);
  let at = lengthBytes + length;
  for (const { bytes } of entries) {
    file.set(bytes, at);
    at += bytes.length;
  }
  return file;
}

function toWrite(name: string, entry: SafetensorsEntry) {
  if (!isObject(entry)) throw wrong(name, "{ dtype, shape, data }", describe(entry));
  const { dtype, shape, data } = entry;
  if (name === metadataName) throw wrong("name", "another than the metadata's", describe(name));
  const type = typeof dtype === "string" && Object.hasOwn(types, dtype) ? types[dtype] : undefined;
  if (type === undefined) {
    throw wrong(`${name}: dtype`, Object.keys(types).join(", "), describe(dtype));
  }
  if (!isListOf<number>(shape, isSize)) {
    throw wrong(`${name}: shape`, "a list of whole numbers of 0 or more", describe(shape));
  }
  if (!(data instanceof type.array)) {
    throw wrong(`${name}: data`, `a ${type.array.name} for ${dtype}`, describe(data));
  }
  checkAttached(`${name}: data`, data);
  const count = countOf(shape);
  if (data.length !== count) {
    const expected = `${count} elements for [${shape.join(", ")}]`;
    throw wrong(`${name}: data`, expected, `${data.length}`);
  }
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (dtype === "bool") checkBools(name, bytes);
  return { name, code: type.code, shape: [...shape], bytes, element: type.array.BYTES_PER_ELEMENT };
}
