// Converts the numbers of a file to float32: little- or big-endian, in C or Fortran order. They are
// read in pieces, so that a page stays responsive, and memory is allocated only for numbers that
// the file contains, not for numbers that it only declares.

import { HeedError, refuse } from "../../core/error.js";

/** An array of a file, row-major. */
export interface NumberArray {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** How a file stores numbers: "f" float, "bf" bfloat16, "i" signed, "u" unsigned, and the bytes of each. */
export interface Stored {
  readonly kind: "f" | "bf" | "i" | "u";
  readonly bytes: number;
  readonly isBigEndian: boolean;
}

/** The largest number of bytes that the numbers of one array may take as float32. */
const mostBytes = 2 ** 32;

/** How many bytes of a file are read at a time. */
const pieceBytes = 2 ** 22;

/** The float32 value of each float16 bit pattern. */
let halves: Float32Array | undefined;

function halfTable(): Float32Array {
  halves ??= Float32Array.from({ length: 65536 }, (_, bits) => {
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    const sign = bits & 0x8000 ? -1 : 1;
    if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
    if (exponent === 0) return sign * fraction * 2 ** -24;
    return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  });
  return halves;
}

const plainArrays: Readonly<Record<string, unknown>> = {
  f4: Float32Array,
  f8: Float64Array,
  i1: Int8Array,
  i2: Int16Array,
  i4: Int32Array,
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
};

/** Reverses the bytes of each number. */
function swap(bytes: Uint8Array, size: number): void {
  for (let start = 0; start < bytes.length; start += size)
    for (let low = start, high = start + size - 1; low < high; ++low, --high) {
      const byte = bytes[low] as number;
      bytes[low] = bytes[high] as number;
      bytes[high] = byte;
    }
}

/** Writes stored numbers to `out` as float32. `bytes` may be changed, and must begin at a multiple of 8. */
function decode(
  { kind, bytes: size, isBigEndian }: Stored,
  bytes: Uint8Array,
  out: Float32Array,
): void {
  if (isBigEndian && size > 1) swap(bytes, size);
  const { byteOffset } = bytes;
  const buffer = bytes.buffer as ArrayBuffer;
  const count = bytes.length / size;
  if (kind === "bf") {
    const bits = new Uint16Array(buffer, byteOffset, count);
    const words = new Uint32Array(out.buffer, out.byteOffset, count);
    for (let i = 0; i < count; ++i) words[i] = (bits[i] as number) << 16;
  } else if (kind === "f" && size === 2) {
    const table = halfTable();
    const bits = new Uint16Array(buffer, byteOffset, count);
    for (let i = 0; i < count; ++i) out[i] = table[bits[i] as number] as number;
  } else if (kind !== "f" && size === 8) {
    const View = kind === "i" ? BigInt64Array : BigUint64Array;
    const numbers = new View(buffer, byteOffset, count);
    for (let i = 0; i < count; ++i) out[i] = Number(numbers[i]);
  } else {
    const View = plainArrays[`${kind}${size}`] as typeof Float32Array;
    out.set(new View(buffer, byteOffset, count));
  }
}

/** Allocates memory, or throws a HeedError "memory". */
export function allocate(name: string, count: number): Float32Array {
  try {
    if (count * 4 <= mostBytes) return new Float32Array(count);
  } catch {
    // The memory cannot hold this many numbers.
  }
  throw refuse("memory", name, `at most ${mostBytes / 4} numbers, and room`, `${count}`);
}

/** The bytes of a file or a part of it, in pieces of any length. */
export async function* piecesOf(blob: Blob): AsyncGenerator<Uint8Array> {
  for (let begin = 0; begin < blob.size; begin += pieceBytes)
    yield await bytesOf(blob.slice(begin, Math.min(begin + pieceBytes, blob.size)));
}

/** Reads all of a small part of a file. */
export async function bytesOf(blob: Blob): Promise<Uint8Array> {
  try {
    const bytes = new Uint8Array(await blob.arrayBuffer());
    if (bytes.length === blob.size) return bytes;
  } catch (error) {
    throw new HeedError("load", "file: it can no longer be read", { cause: error });
  }
  throw new HeedError("load", "file: it became shorter while it was read");
}

/**
 * Collects the numbers of an array from pieces of a file.
 *
 * @param isThere whether that number of bytes is known to follow: if not, memory grows with the
 *   pieces
 */
export async function collect(
  name: string,
  stored: Stored,
  count: number,
  pieces: AsyncIterable<Uint8Array>,
  isThere: boolean,
): Promise<Float32Array> {
  const size = stored.bytes;
  let out = allocate(name, isThere ? count : Math.min(count, pieceBytes));
  let filled = 0;
  // The first bytes of a number whose other bytes are in the next piece.
  let rest = new Uint8Array(0);
  for await (const piece of pieces) {
    const whole = Math.floor((rest.length + piece.length) / size) * size;
    const end = filled + whole / size;
    if (end > count || (end === count && rest.length + piece.length > whole)) {
      throw tooMany(name, count * size);
    }
    if (end > out.length) {
      const larger = allocate(name, Math.min(count, Math.max(end, 2 * out.length)));
      larger.set(out);
      out = larger;
    }
    const bytes = new Uint8Array(rest.length + piece.length);
    bytes.set(rest);
    bytes.set(piece, rest.length);
    rest = bytes.slice(whole);
    decode(stored, bytes.subarray(0, whole), out.subarray(filled, end));
    filled = end;
  }
  if (filled < count || rest.length > 0) {
    throw refuse(
      "format",
      name,
      `${count * size} bytes of numbers`,
      `${filled * size + rest.length}`,
    );
  }
  return out;
}

const tooMany = (name: string, bytes: number) =>
  refuse("format", name, `${bytes} bytes of numbers`, "more");

/** Converts numbers in Fortran order, where the first axis is innermost, to row-major order. */
export function fromFortran(name: string, { shape, data }: NumberArray): NumberArray {
  if (shape.length < 2) return { shape, data };
  const out = allocate(name, data.length);
  const strides = shape.map((_, axis) => shape.slice(0, axis).reduce((a, b) => a * b, 1));
  const last = shape.length - 1;
  const [length, stride] = [shape[last] as number, strides[last] as number];
  const index = new Array<number>(last).fill(0);
  let from = 0;
  for (let to = 0; to < data.length; to += length) {
    for (let i = 0; i < length; ++i) out[to + i] = data[from + i * stride] as number;
    for (let axis = last - 1; axis >= 0; --axis) {
      from += strides[axis] as number;
      index[axis] = (index[axis] as number) + 1;
      if ((index[axis] as number) < (shape[axis] as number)) break;
      from -= (strides[axis] as number) * (shape[axis] as number);
      index[axis] = 0;
    }
  }
  return { shape, data: out };
}
