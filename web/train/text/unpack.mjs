// Decodes the formats in which packages store their texts: Unix compress, and the objects of R.

import { inflateSync } from "node:zlib";

const clearCode = 256;
const firstCode = 257;
const leastBits = 9;

/**
 * Decodes LZW in the format of Unix `compress` (Welch, "A Technique for High-Performance Data Compression", 1984).
 * Codes have 9 to 16 bits, the least significant bit first, in groups of eight. One code clears the table. The input
 * excludes the file's header of three bytes.
 */
export function decompress(bytes, mostBits = 16) {
  const out = [];
  // Each entry is a range of the output.
  let begins = [];
  let ends = [];
  let bits = leastBits;
  let at = 0;
  let groupStart = 0;
  let before;
  const align = () => {
    const group = 8 * bits;
    at = groupStart + Math.ceil((at - groupStart) / group) * group;
    groupStart = at;
  };
  while (at + bits <= 8 * bytes.length) {
    let code = 0;
    for (let bit = 0; bit < bits; bit++)
      code |= ((bytes[(at + bit) >> 3] >> ((at + bit) & 7)) & 1) << bit;
    at += bits;
    if (code === clearCode) {
      align();
      [begins, ends, bits, before] = [[], [], leastBits, undefined];
      continue;
    }
    const entry = code - firstCode;
    if (entry > begins.length || (entry === begins.length && before === undefined))
      throw new Error(`LZW: code ${code} is not in the table`);
    const start = out.length;
    if (code < clearCode) out.push(code);
    else {
      // The newest entry is the previous string followed by its own first byte, which is still being written.
      const [begin, end] =
        entry < begins.length ? [begins[entry], ends[entry]] : [before, start + 1];
      for (let i = begin; i < end; i++) out.push(out[i]);
    }
    if (before !== undefined && firstCode + begins.length < 2 ** mostBits) {
      begins.push(before);
      ends.push(start + 1);
      if (firstCode + begins.length === 2 ** bits && bits < mostBits) {
        align();
        ++bits;
      }
    }
    before = start;
  }
  return Uint8Array.from(out);
}

const stringVector = 16;

/**
 * Reads the vectors of texts in the database of an R package (R Internals, section 1.8, "Serialization
 * Formats"): a length of four bytes and a zlib stream for each object, in the format "X", version 3.
 */
export function readTextVectors(database) {
  const vectors = [];
  for (let at = 0; at < database.length; ) {
    const { buffer, engine } = inflateSync(database.subarray(at + 4), { info: true });
    at += 4 + engine.bytesWritten;
    vectors.push(readTextVector(buffer));
  }
  return vectors;
}

function readTextVector(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const skip = (count) => {
    at += count;
  };
  const int = () => {
    skip(4);
    return view.getInt32(at - 4);
  };
  const header = String.fromCharCode(bytes[0], bytes[1]);
  skip(2);
  const version = int();
  // The versions of R that wrote the object, and that can read it.
  skip(8);
  if (header !== "X\n" || version !== 3)
    throw new Error(`R object: expected format X of version 3, got ${header.trim()} of ${version}`);
  skip(int());
  const type = int() & 0xff;
  if (type !== stringVector) throw new Error(`R object: expected texts, got type ${type}`);
  return Array.from({ length: int() }, () => {
    skip(4);
    const length = int();
    skip(length);
    return new TextDecoder().decode(bytes.subarray(at - length, at));
  });
}
