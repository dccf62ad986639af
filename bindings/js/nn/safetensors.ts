// Reads and writes safetensors files (https://github.com/huggingface/safetensors, "Format"). A file
// has three parts. The length of the header takes 8 bytes. The header, in JSON, gives the type, the
// shape and the byte range of each tensor. The elements follow, little-endian and row-major.

import { describe, refuse, withArticle } from "../core/error.js";
import type { Bytes } from "../core/module.js";
import { isRecord } from "../core/objects.js";
import {
  checkMetadata,
  countOf,
  headerLength,
  lengthBytes,
  metadataName,
  type Place,
  readHeader,
  type SafetensorsDType,
  shapeOf,
  types,
} from "../core/safetensorsHeader.js";
import { checkAttached } from "../core/tensor.js";

export type { SafetensorsDType };

/** A tensor of a file that is read or written. Heed's tensors have this form. */
export interface SafetensorsEntry {
  /** The type of the elements. */
  readonly dtype: SafetensorsDType;
  /** The sizes, outermost first. */
  readonly shape: readonly number[];
  /** The elements. float16 and bfloat16 elements are given as their bits, bool elements as bytes of 0 or 1. */
  readonly data: SafetensorsData;
}

/** The elements of a tensor in a file, by their type. */
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

/** The content of a file. */
export interface SafetensorsFile {
  /** The tensors, by name. */
  tensors: Record<string, SafetensorsEntry>;
  /** The file's metadata, names and values. */
  metadata: Record<string, string>;
}

/**
 * Reads a file. The content is not trusted. The type, the shape and the byte range of every tensor
 * must match, and the byte ranges must cover the data without gaps or overlaps, in any order.
 *
 * @param bytes the file, such as the ArrayBuffer of a Response
 * @returns tensors whose data are views of `bytes` where the alignment permits, else copies
 * @throws HeedError "format"
 * @example
 * ```ts
 * const bytes = safetensors.write({ x: heed.tensor([1, 2]) }, { made: "here" });
 * const { tensors, metadata } = safetensors.read(bytes);
 * console.log(tensors.x!.shape, tensors.x!.data, metadata.made); // prints: [ 2 ] Float32Array(2) [ 1, 2 ] here
 * ```
 */
export function read(bytes: Uint8Array | ArrayBuffer): SafetensorsFile {
  const file = plain(bytes);
  const dataStart = lengthBytes + headerLength(file, file.length);
  const data = file.subarray(dataStart);
  // Copies, because TextDecoder does not read shared memory.
  const { places, metadata } = readHeader(file.slice(lengthBytes, dataStart), data.length);
  const tensors = [...places].map(([name, place]): [string, SafetensorsEntry] => {
    const { dtype, shape } = place;
    return [name, { dtype, shape, data: view(name, place, data) }];
  });
  return { tensors: Object.fromEntries(tensors), metadata };
}

/** Returns a view as a plain Uint8Array, because `slice` of Node's Buffer does not copy. */
function plain(bytes: Uint8Array | ArrayBuffer): Uint8Array {
  if (bytes instanceof ArrayBuffer) {
    try {
      return new Uint8Array(bytes);
    } catch {
      throw refuse("option", "bytes", "a buffer", "one that is detached");
    }
  }
  if (!(bytes instanceof Uint8Array))
    throw refuse("format", "bytes", "a Uint8Array or an ArrayBuffer", describe(bytes));
  checkAttached("bytes", bytes);
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
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
  if (odd !== undefined)
    throw refuse("format", `${name}: data`, "bools, bytes of 0 or 1", `${odd}`);
}

/**
 * Writes a file. Tensors are sorted by element size, largest first, then by name. Each tensor is therefore
 * aligned, and the same tensors give the same bytes.
 *
 * @throws HeedError "format" for tensors or metadata that the format cannot represent
 * @example
 * ```ts
 * const layer = new nn.Linear(heed, 2, 3);
 * const bytes = safetensors.write(layer.stateDict());
 * new nn.Linear(heed, 2, 3).loadStateDict(safetensors.read(bytes).tensors);
 * console.log(bytes.length); // prints: 164
 * ```
 */
export function write(
  tensors: Readonly<Record<string, SafetensorsEntry>>,
  metadata: Readonly<Record<string, string>> = {},
): Bytes {
  if (!isRecord(tensors)) throw refuse("format", "tensors", "an object", describe(tensors));
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
  if (!isRecord(entry)) throw refuse("format", name, "{ dtype, shape, data }", describe(entry));
  const { dtype, shape, data } = entry;
  if (name === metadataName)
    throw refuse("format", "name", "another than the metadata's", describe(name));
  const type = typeof dtype === "string" && Object.hasOwn(types, dtype) ? types[dtype] : undefined;
  if (type === undefined) {
    throw refuse("format", `${name}: dtype`, Object.keys(types).join(", "), describe(dtype));
  }
  const sizes = shapeOf(name, shape);
  if (!(data instanceof type.array)) {
    const expected = `${withArticle(type.array.name)} for ${dtype}`;
    throw refuse("format", `${name}: data`, expected, describe(data));
  }
  checkAttached(`${name}: data`, data);
  const count = countOf(sizes);
  if (data.length !== count) {
    const expected = `${count} elements for [${sizes.join(", ")}]`;
    throw refuse("format", `${name}: data`, expected, `${data.length}`);
  }
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (dtype === "bool") checkBools(name, bytes);
  return { name, code: type.code, shape: [...sizes], bytes, element: type.array.BYTES_PER_ELEMENT };
}
