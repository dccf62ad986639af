// Files of NumPy, made as numpy.save and numpy.savez make them, and wrongly.

import { deflateRawSync } from "node:zlib";

const encoder = new TextEncoder();
const crcs = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

export function crcOf(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) crc = (crcs[(crc ^ byte) & 255] as number) ^ (crc >>> 8);
  return (crc ^ -1) >>> 0;
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** A header of NumPy with its text as given, and bytes after it. */
export function npyText(text: string, data: Uint8Array, version = 1): Uint8Array<ArrayBuffer> {
  const body = encoder.encode(text);
  const before = version === 1 ? 10 : 12;
  const padded = Math.ceil((before + body.length + 1) / 64) * 64 - before;
  const header = new Uint8Array(padded).fill(0x20);
  header.set(body);
  header[padded - 1] = 0x0a;
  const start = new Uint8Array(before);
  start.set([0x93, ...encoder.encode("NUMPY"), version, 0]);
  const lengths = new DataView(start.buffer);
  if (version === 1) lengths.setUint16(8, padded, true);
  else lengths.setUint32(8, padded, true);
  return joined(start, header, data);
}

export interface NpyOptions {
  readonly descr?: string;
  readonly fortran?: boolean;
  readonly version?: number;
}

const tuple = (shape: readonly number[]) =>
  shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;

/** The bits of a number as float16, for numbers that one can represent. */
function halfOf(value: number): number {
  if (value === 0) return Object.is(value, -0) ? 0x8000 : 0;
  const sign = value < 0 ? 0x8000 : 0;
  const exponent = Math.floor(Math.log2(Math.abs(value)));
  if (exponent < -14) return sign | Math.round(Math.abs(value) * 2 ** 24);
  return sign | ((exponent + 15) << 10) | Math.round((Math.abs(value) / 2 ** exponent - 1) * 1024);
}

type Put = (view: DataView, at: number, value: number, little: boolean) => void;

/** Writes one number of a kind to a DataView. */
const puts: Readonly<Record<string, Put>> = {
  f2: (view, at, value, little) => view.setUint16(at, halfOf(value), little),
  f4: (view, at, value, little) => view.setFloat32(at, value, little),
  f8: (view, at, value, little) => view.setFloat64(at, value, little),
  i1: (view, at, value) => view.setInt8(at, value),
  i2: (view, at, value, little) => view.setInt16(at, value, little),
  i4: (view, at, value, little) => view.setInt32(at, value, little),
  i8: (view, at, value, little) => view.setBigInt64(at, BigInt(value), little),
  u1: (view, at, value) => view.setUint8(at, value),
  u2: (view, at, value, little) => view.setUint16(at, value, little),
  u4: (view, at, value, little) => view.setUint32(at, value, little),
  u8: (view, at, value, little) => view.setBigUint64(at, BigInt(value), little),
};

/** An array of NumPy; `numbers` are row-major. */
export function npy(
  shape: readonly number[],
  numbers: ArrayLike<number>,
  { descr = "<f4", fortran = false, version = 1 }: NpyOptions = {},
): Uint8Array<ArrayBuffer> {
  const kind = descr.slice(1);
  const size = Number(kind.slice(1));
  const put = puts[kind] as Put;
  const data = new DataView(new ArrayBuffer(numbers.length * size));
  // The strides, in elements, of the order in which the file has the numbers.
  const before = (axis: number) => shape.slice(0, axis).reduce((a, b) => a * b, 1);
  const after = (axis: number) => shape.slice(axis + 1).reduce((a, b) => a * b, 1);
  for (let i = 0; i < numbers.length; ++i) {
    const place = fortran
      ? shape.reduce(
          (sum, length, axis) => sum + (Math.floor(i / after(axis)) % length) * before(axis),
          0,
        )
      : i;
    put(data, place * size, numbers[i] as number, descr[0] !== ">");
  }
  const header = `{'descr': '${descr}', 'fortran_order': ${fortran ? "True" : "False"}, 'shape': ${tuple(shape)}, }`;
  return npyText(header, new Uint8Array(data.buffer), version);
}

export interface ZipPart {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly deflate?: boolean;
  /** A false value for the directory. */
  readonly crc?: number;
  readonly size?: number;
  readonly packed?: number;
  readonly offset?: number;
  readonly method?: number;
  readonly flags?: number;
  readonly localName?: string;
  readonly localExtra?: number;
}

const header = (bytes: number, fields: readonly (readonly [number, 2 | 4 | 8, number])[]) => {
  const view = new DataView(new ArrayBuffer(bytes));
  for (const [at, size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else if (size === 4) view.setUint32(at, value, true);
    else view.setBigUint64(at, BigInt(value), true);
  }
  return new Uint8Array(view.buffer);
};

/** A zip file, with sizes of 64 bits where `is64`, as numpy.savez has them in the headers of its entries. */
export function zip(
  parts: readonly ZipPart[],
  { is64 = false, count = parts.length, comment = "" } = {},
): Uint8Array<ArrayBuffer> {
  const all: Uint8Array[] = [];
  const central: Uint8Array[] = [];
  let at = 0;
  for (const part of parts) {
    const data = part.deflate ? new Uint8Array(deflateRawSync(part.bytes)) : part.bytes;
    const method = part.method ?? (part.deflate ? 8 : 0);
    const [packed, size] = [part.packed ?? data.length, part.size ?? part.bytes.length];
    const [offset, flags] = [part.offset ?? at, part.flags ?? 0];
    const crc = part.crc ?? crcOf(part.bytes);
    const name = encoder.encode(part.name);
    const localName = encoder.encode(part.localName ?? part.name);
    const localExtra = is64
      ? header(20, [
          [0, 2, 1],
          [2, 2, 16],
          [4, 8, size],
          [12, 8, packed],
        ])
      : new Uint8Array(0);
    const local = header(30, [
      ...([
        [0, 4, 0x04034b50],
        [4, 2, 45],
        [6, 2, flags],
        [8, 2, method],
        [14, 4, crc],
      ] as const),
      ...([
        [18, 4, is64 ? 0xffffffff : packed],
        [22, 4, is64 ? 0xffffffff : size],
      ] as const),
      ...([
        [26, 2, localName.length],
        [28, 2, part.localExtra ?? localExtra.length],
      ] as const),
    ]);
    const extra = is64
      ? header(28, [
          [0, 2, 1],
          [2, 2, 24],
          [4, 8, size],
          [12, 8, packed],
          [20, 8, offset],
        ])
      : new Uint8Array(0);
    const wide = (value: number) => (is64 ? 0xffffffff : value);
    central.push(
      header(46, [
        ...([
          [0, 4, 0x02014b50],
          [4, 2, 45],
          [6, 2, 45],
          [8, 2, flags],
          [10, 2, method],
        ] as const),
        ...([
          [16, 4, crc],
          [20, 4, wide(packed)],
          [24, 4, wide(size)],
          [42, 4, wide(offset)],
        ] as const),
        ...([
          [28, 2, name.length],
          [30, 2, extra.length],
        ] as const),
      ]),
      name,
      extra,
    );
    all.push(local, localName, localExtra, data);
    at += 30 + localName.length + localExtra.length + data.length;
  }
  const directory = joined(...central);
  const end64 = is64
    ? joined(
        header(56, [
          ...([
            [0, 4, 0x06064b50],
            [4, 8, 44],
            [24, 8, count],
            [32, 8, count],
          ] as const),
          ...([
            [40, 8, directory.length],
            [48, 8, at],
          ] as const),
        ]),
        header(20, [
          [0, 4, 0x07064b50],
          [8, 8, at + directory.length],
          [16, 4, 1],
        ]),
      )
    : new Uint8Array(0);
  const note = encoder.encode(comment);
  const end = header(22, [
    ...([
      [0, 4, 0x06054b50],
      [8, 2, is64 ? 65535 : count],
      [10, 2, is64 ? 65535 : count],
    ] as const),
    ...([
      [12, 4, is64 ? 0xffffffff : directory.length],
      [16, 4, is64 ? 0xffffffff : at],
    ] as const),
    [20, 2, note.length],
  ]);
  return joined(...all, directory, end64, end, note);
}

/** An .npz with arrays by their names. */
export function npz(
  arrays: Readonly<Record<string, Uint8Array>>,
  options: { deflate?: boolean; is64?: boolean } = {},
): Uint8Array<ArrayBuffer> {
  const { deflate = false, is64 = false } = options;
  const parts = Object.entries(arrays).map(([name, bytes]) => ({
    ...{ name: `${name}.npy`, bytes, deflate },
  }));
  return zip(parts, { is64 });
}
