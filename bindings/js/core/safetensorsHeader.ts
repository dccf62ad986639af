// The header of a safetensors file, and its checks: see ../nn/safetensors.ts. Nothing here needs an engine.

import { describe, refuse } from "./error.js";
import { isListOf, isRecord } from "./objects.js";

/** The types of the format that are read and written. */
export type SafetensorsDType = keyof typeof types;

export const types = {
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
export const lengthBytes = 8;
/** The largest header that the format's reference implementation reads. */
const mostHeaderBytes = 100_000_000;
export const metadataName = "__metadata__";

export const isSize = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

export const countOf = (shape: readonly number[]) =>
  shape.reduce((product, size) => product * size, 1);

/**
 * Returns the length of the header, from the first 8 bytes of a file.
 *
 * @param size the size of the file
 * @throws HeedError "format" for more bytes than the file has, or than a header may have
 */
export function headerLength(bytes: Uint8Array, size: number): number {
  if (bytes.length < lengthBytes) {
    throw refuse("format", "file", "a header's length in 8 bytes", `${bytes.length} bytes`);
  }
  const length = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  const most = Math.min(size - lengthBytes, mostHeaderBytes);
  if (length > most) throw refuse("format", "header", `at most ${most} bytes`, `${length} bytes`);
  return Number(length);
}

/** The type and the shape of a tensor, and the range of its bytes after the header. */
export interface Place {
  readonly dtype: SafetensorsDType;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/**
 * Reads a header. Its content is not trusted. The type, the shape and the byte range of every
 * tensor must match, and the byte ranges must cover the data without gaps or overlaps, in any
 * order.
 *
 * @param encoded the header alone, in memory that is not shared, which TextDecoder does not read
 * @param dataBytes the size of the data after it
 * @throws HeedError "format"
 */
export function readHeader(
  encoded: Uint8Array,
  dataBytes: number,
): { places: Map<string, Place>; metadata: Record<string, string> } {
  let text: string;
  let header: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(encoded);
    header = JSON.parse(text);
  } catch (error) {
    const got = error instanceof Error ? error.message : "none";
    throw refuse("format", "header", "an object in JSON", got);
  }
  if (!isRecord(header) || !text.startsWith("{")) {
    throw refuse("format", "header", "an object in JSON", describe(header));
  }
  refuseDuplicates(text);
  const places = new Map<string, Place>();
  for (const [name, info] of Object.entries(header))
    if (name !== metadataName) places.set(name, checkEntry(name, info, dataBytes));
  checkPlaces(places, dataBytes);
  return { places, metadata: checkMetadata(header[metadataName]) };
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
      if (open.at(-1)?.has(name))
        throw refuse("format", "header", "each name once", `${last} twice`);
      open.at(-1)?.add(name);
    }
  }
}

/** The shape of a tensor. Throws if it is none. */
export function shapeOf(name: string, shape: unknown): readonly number[] {
  if (isListOf<number>(shape, isSize)) return shape;
  const expected = "a list of whole numbers of 0 or more";
  throw refuse("format", `${name}: shape`, expected, describe(shape));
}

function checkEntry(name: string, info: unknown, available: number): Place {
  if (!isRecord(info))
    throw refuse("format", name, "{ dtype, shape, data_offsets }", describe(info));
  const dtype = byCode.get(info.dtype as string);
  if (dtype === undefined) {
    throw refuse("format", `${name}: dtype`, [...byCode.keys()].join(", "), describe(info.dtype));
  }
  const { data_offsets: offsets } = info;
  const shape = shapeOf(name, info.shape);
  const bytes = countOf(shape) * types[dtype].array.BYTES_PER_ELEMENT;
  const isRange = isListOf(offsets, isSize) && offsets.length === 2;
  const [begin, end] = isRange ? (offsets as [number, number]) : [0, -1];
  if (begin > end || end > available) {
    const expected = `[begin, end] within the ${available} bytes of data`;
    throw refuse("format", `${name}: data_offsets`, expected, describe(offsets));
  }
  if (end - begin !== bytes) {
    const expected = `${bytes} bytes for ${dtype} [${shape.join(", ")}]`;
    throw refuse("format", `${name}: data_offsets`, expected, `${end - begin}`);
  }
  return { dtype, shape, begin, end };
}

/** Throws unless every byte of the data belongs to exactly one tensor, as the format requires. */
function checkPlaces(places: ReadonlyMap<string, Place>, available: number): void {
  const sorted = [...places].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end);
  let filled = 0;
  for (const [name, { begin, end }] of sorted) {
    if (begin !== filled) {
      const what = begin < filled ? "an overlap" : "a gap";
      throw refuse("format", `${name}: data_offsets`, `to begin at ${filled}`, `${begin}, ${what}`);
    }
    filled = end;
  }
  if (filled !== available) {
    throw refuse("format", "file", `${filled} bytes of data`, `${available}`);
  }
}

export function checkMetadata(metadata: unknown): Record<string, string> {
  if (metadata === undefined) return {};
  if (!isRecord(metadata))
    throw refuse("format", metadataName, "an object of texts", describe(metadata));
  for (const [name, value] of Object.entries(metadata)) {
    if (typeof value !== "string")
      throw refuse("format", `${metadataName}: ${name}`, "text", describe(value));
  }
  return metadata as Record<string, string>;
}
