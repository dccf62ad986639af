// Reads zip files (APPNOTE.TXT 6.3, PKWARE) with 64-bit sizes, such as numpy.savez writes. The
// directory at the end lists the entries. It is not trusted: each entry must be at the declared
// place, apart from the others, with the declared size and checksum. An entry is never inflated
// beyond its declared size, and no memory is allocated in advance.

import { HeedError, refuse } from "../../core/error.js";
import { bytesOf, piecesOf } from "./numbers.js";

interface ZipEntry {
  readonly name: string;
  readonly isDeflated: boolean;
  readonly crc: number;
  /** The number of bytes in the file; `size` is the number after inflating. */
  readonly packed: number;
  readonly size: number;
  /** The place where the entry begins, and the limit before which it must end. */
  readonly offset: number;
  readonly end: number;
}

/** The first bytes of a zip file: of an entry, or of the end record if there is no entry. */
export const zipMagics = ["PK\x03\x04", "PK\x05\x06"];

const signatures = { local: 0x04034b50, central: 0x02014b50, end: 0x06054b50 };
const signatures64 = { end: 0x06064b50, locator: 0x07064b50 };
const endBytes = 22;
const locatorBytes = 20;
const end64Bytes = 56;
const centralBytes = 46;
const localBytes = 30;
const mostComment = 65535;
/** Deflate expands one byte to at most this many bytes. */
const mostRatio = 1032;
const unknown32 = 0xffffffff;

const wrong = (what: string, expected: string, got: string) =>
  refuse("format", what, expected, got);

const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

function size64(bytes: DataView, at: number): number {
  const size = bytes.getBigUint64(at, true);
  if (size > BigInt(Number.MAX_SAFE_INTEGER)) throw wrong("zip", "sizes of a file", `${size}`);
  return Number(size);
}

interface Directory {
  readonly begin: number;
  readonly size: number;
  readonly count: number;
}

/** Finds the record at the end of the file. A comment may follow the record. */
async function findDirectory(blob: Blob): Promise<Directory> {
  const tailBegin = Math.max(0, blob.size - endBytes - mostComment);
  const tail = await bytesOf(blob.slice(tailBegin));
  const record = view(tail);
  let at = tail.length - endBytes;
  const isEnd = () =>
    record.getUint32(at, true) === signatures.end &&
    at + endBytes + record.getUint16(at + 20, true) === tail.length;
  while (at >= 0 && !isEnd()) --at;
  if (at < 0) throw wrong("zip", "a directory at the end", "none: is the file cut off?");
  const isOneDisk = record.getUint32(at + 4, true) === 0;
  const directory = {
    begin: record.getUint32(at + 16, true),
    size: record.getUint32(at + 12, true),
    count: record.getUint16(at + 10, true),
  };
  const isLarge =
    directory.begin === unknown32 || directory.size === unknown32 || directory.count === 65535;
  const found =
    isLarge && at + tailBegin >= locatorBytes
      ? await findDirectory64(blob, at + tailBegin - locatorBytes)
      : directory;
  const { begin, size, count } = found;
  if (!isOneDisk && !isLarge) throw wrong("zip", "one part", "several");
  if (begin + size > tailBegin + at || count * centralBytes > size)
    throw wrong(
      "zip: directory",
      `${count} entries before byte ${tailBegin + at}`,
      `${size} bytes at ${begin}`,
    );
  return found;
}

async function findDirectory64(blob: Blob, at: number): Promise<Directory> {
  const locator = view(await bytesOf(blob.slice(at, at + locatorBytes)));
  const isThere = locator.getUint32(0, true) === signatures64.locator;
  const recordAt = isThere ? size64(locator, 8) : -1;
  if (!isThere || recordAt + end64Bytes > at) throw wrong("zip", "a 64-bit directory", "none");
  const record = view(await bytesOf(blob.slice(recordAt, recordAt + end64Bytes)));
  if (record.getUint32(0, true) !== signatures64.end)
    throw wrong("zip", "a 64-bit directory", "other bytes");
  return { count: size64(record, 32), size: size64(record, 40), begin: size64(record, 48) };
}

/** The sizes and the offset that are in the extra field because they need 64 bits, in their order. */
function sizes64(name: string, extra: Uint8Array, sizes: readonly number[]): number[] {
  if (!sizes.includes(unknown32)) return [...sizes];
  const fields = view(extra);
  for (let at = 0; at + 4 <= extra.length; at += 4 + fields.getUint16(at + 2, true)) {
    if (fields.getUint16(at, true) !== 1) continue;
    const end = Math.min(extra.length, at + 4 + fields.getUint16(at + 2, true));
    let next = at + 4;
    return sizes.map((size) => {
      if (size !== unknown32) return size;
      if (next + 8 > end) throw wrong(`zip: ${name}`, "sizes of 64 bits", "none");
      next += 8;
      return size64(fields, next - 8);
    });
  }
  throw wrong(`zip: ${name}`, "sizes of 64 bits", "none");
}

/** Lists the entries of a file, in the order of their offsets. */
export async function readDirectory(blob: Blob): Promise<ZipEntry[]> {
  const { begin, size, count } = await findDirectory(blob);
  const bytes = await bytesOf(blob.slice(begin, begin + size));
  const fields = view(bytes);
  const found: Omit<ZipEntry, "end">[] = [];
  const names = new Set<string>();
  let at = 0;
  for (let i = 0; i < count; ++i) {
    if (at + centralBytes > size || fields.getUint32(at, true) !== signatures.central)
      throw wrong("zip: directory", `${count} entries`, `${i}`);
    const flags = fields.getUint16(at + 8, true);
    const method = fields.getUint16(at + 10, true);
    const nameEnd = at + centralBytes + fields.getUint16(at + 28, true);
    const extraEnd = nameEnd + fields.getUint16(at + 30, true);
    const end = extraEnd + fields.getUint16(at + 32, true);
    if (end > size) throw wrong("zip: directory", `${count} entries`, `${i}`);
    const name = new TextDecoder().decode(bytes.subarray(at + centralBytes, nameEnd));
    if (names.has(name)) throw wrong("zip", "each name once", `${JSON.stringify(name)} twice`);
    names.add(name);
    if (flags & 1) throw wrong(`zip: ${name}`, "no password", "an encrypted entry");
    if (method !== 0 && method !== 8)
      throw wrong(`zip: ${name}`, "stored or deflated bytes", `method ${method}`);
    const sizes = [24, 20, 42].map((place) => fields.getUint32(at + place, true));
    const [whole, packed, offset] = sizes64(name, bytes.subarray(nameEnd, extraEnd), sizes) as [
      number,
      number,
      number,
    ];
    const most = method === 0 ? packed : packed * mostRatio;
    if (whole > most || (method === 0 && whole !== packed))
      throw wrong(`zip: ${name}`, `at most ${most} bytes in ${packed}`, `${whole}`);
    found.push({
      ...{ name, isDeflated: method === 8, packed, size: whole, offset },
      crc: fields.getUint32(at + 16, true),
    });
    at = end;
  }
  found.sort((a, b) => a.offset - b.offset);
  return found.map((entry, i) => {
    const end = found[i + 1]?.offset ?? begin;
    const { name, offset, packed } = entry;
    if (offset + localBytes + packed > end)
      throw wrong(`zip: ${name}`, `an end at byte ${end}`, `${packed} bytes from ${offset} on`);
    return { ...entry, end };
  });
}

/** The CRC-32 of each byte value, with the polynomial of zip files. */
let table: Uint32Array | undefined;

/** The CRC-32 of bytes. `before` is the CRC-32 of the preceding bytes. */
export function crcOf(bytes: Uint8Array, before = 0): number {
  table ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; ++bit) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
  });
  let crc = before ^ -1;
  for (let i = 0; i < bytes.length; ++i)
    crc = (table[(crc ^ (bytes[i] as number)) & 255] as number) ^ (crc >>> 8);
  return (crc ^ -1) >>> 0;
}

async function* inflated(name: string, packed: Blob): AsyncGenerator<Uint8Array> {
  if (typeof DecompressionStream === "undefined")
    throw new HeedError("unsupported", `zip: ${name}: this browser cannot inflate`);
  const stream = new DecompressionStream("deflate-raw") as unknown as ReadableWritablePair<
    Uint8Array,
    Uint8Array
  >;
  const reader = packed.stream().pipeThrough(stream).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (error) {
    if (error instanceof HeedError) throw error;
    throw refuse("format", `zip: ${name}`, "deflated bytes", "others", { cause: error });
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/**
 * The bytes of an entry, in pieces.
 *
 * @throws HeedError "format" after the last piece that fits, if the entry has more or fewer bytes,
 *   or if its checksum is wrong
 */
export async function* readEntry(blob: Blob, entry: ZipEntry): AsyncGenerator<Uint8Array> {
  const { name, offset, end, packed, size, isDeflated } = entry;
  const header = view(await bytesOf(blob.slice(offset, offset + localBytes)));
  const nameBegin = offset + localBytes;
  const nameEnd = nameBegin + header.getUint16(26, true);
  const begin = nameEnd + header.getUint16(28, true);
  const local = new TextDecoder().decode(await bytesOf(blob.slice(nameBegin, nameEnd)));
  if (header.getUint32(0, true) !== signatures.local || local !== name)
    throw wrong(`zip: ${name}`, `its header at byte ${offset}`, "other bytes");
  if (begin + packed > end)
    throw wrong(`zip: ${name}`, `an end at byte ${end}`, `${packed} bytes from ${begin} on`);
  const data = blob.slice(begin, begin + packed);
  let read = 0;
  let crc = 0;
  for await (const piece of isDeflated ? inflated(name, data) : piecesOf(data)) {
    read += piece.length;
    if (read > size) throw wrong(`zip: ${name}`, `${size} bytes`, "more");
    crc = crcOf(piece, crc);
    yield piece;
  }
  if (read !== size) throw wrong(`zip: ${name}`, `${size} bytes`, `${read}`);
  if (crc !== entry.crc)
    throw wrong(`zip: ${name}`, "the bytes of its checksum", "others: the file is damaged");
}
