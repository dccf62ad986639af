// Writes an .npz file, as numpy.savez_compressed does: arrays of NumPy, deflated, in a zip file of less than 4 GB.

import type { Attention } from "../files/attention.js";
import { crcOf } from "../files/zip.js";
import { npyHeader } from "../picture/npyHeader.js";

/** The stored type of weights. float16 has 11 binary digits, so numbers differ by at most 0.05 %. */
export type PageDType = "float32" | "float16";

/** The bits of the float16 that is nearest to a float32; ties are rounded to even. */
function halfBits(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const size = bits & 0x7fffffff;
  if (size >= 0x7f800000) return sign | (size > 0x7f800000 ? 0x7e00 : 0x7c00);
  const exponent = (size >>> 23) - 112;
  if (exponent >= 31) return sign | 0x7c00;
  // The fraction with the leading digit that a normal number does not store, and the number of dropped digits.
  const fraction = (size & 0x7fffff) | 0x800000;
  const dropped = exponent > 0 ? 13 : 14 - exponent;
  if (dropped > 24) return sign;
  const kept = fraction >>> dropped;
  const rest = fraction & ((1 << dropped) - 1);
  const half = 1 << (dropped - 1);
  const rounded = kept + (rest > half || (rest === half && (kept & 1) === 1) ? 1 : 0);
  // A carry of the rounding increments the exponent, which gives the right number.
  return sign | (exponent > 0 ? ((exponent - 1) << 10) + rounded : rounded);
}

/** A NumPy array that contains the weights. */
export function npyOf({ shape, data }: Attention, dtype: PageDType): Uint8Array {
  const size = dtype === "float16" ? 2 : 4;
  const header = npyHeader(dtype === "float16" ? "<f2" : "<f4", shape);
  const bytes = new Uint8Array(header.length + size * data.length);
  bytes.set(header);
  // The header's length is a multiple of 64 bytes, so the numbers are aligned.
  if (dtype === "float32") new Float32Array(bytes.buffer, header.length).set(data);
  else {
    const words = new Uint32Array(data.buffer, data.byteOffset, data.length);
    const halves = new Uint16Array(bytes.buffer, header.length);
    for (let i = 0; i < halves.length; ++i) halves[i] = halfBits(words[i] as number);
  }
  return bytes;
}

type Field = readonly [at: number, bytes: 2 | 4, value: number];

function record(size: number, fields: readonly Field[], name = ""): Uint8Array {
  const bytes = new Uint8Array(size + name.length);
  const view = new DataView(bytes.buffer);
  for (const [at, width, value] of fields)
    if (width === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
  for (let i = 0; i < name.length; ++i) bytes[size + i] = name.charCodeAt(i);
  return bytes;
}

/**
 * Writes a file in parts.
 *
 * @param arrays the arrays by their names, which are ASCII
 * @param deflate compresses bytes to a raw deflate stream, without a header
 */
export function npzOf(
  arrays: readonly (readonly [name: string, npy: Uint8Array])[],
  deflate: (bytes: Uint8Array) => Uint8Array,
): Uint8Array[] {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const [array, bytes] of arrays) {
    const name = `${array}.npy`;
    const packed = deflate(bytes);
    // The fields from the version that a reader needs to the length of the name. The date 33 is the
    // first of January 1980.
    const common = (at: number): Field[] => [
      ...([
        [at, 2, 20],
        [at + 4, 2, 8],
        [at + 8, 2, 33],
        [at + 10, 4, crcOf(bytes)],
      ] as const),
      ...([
        [at + 14, 4, packed.length],
        [at + 18, 4, bytes.length],
        [at + 22, 2, name.length],
      ] as const),
    ];
    const local = record(30, [[0, 4, 0x04034b50], ...common(4)], name);
    parts.push(local, packed);
    directory.push(
      record(46, [[0, 4, 0x02014b50], [4, 2, 20], ...common(6), [42, 4, offset]], name),
    );
    offset += local.length + packed.length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const count = arrays.length;
  const end = record(22, [
    ...([
      [0, 4, 0x06054b50],
      [8, 2, count],
      [10, 2, count],
      [12, 4, size],
      [16, 4, offset],
    ] as const),
  ]);
  return [...parts, ...directory, end];
}
