// The blocks of weights in a GGUF file (ggml, ggml-quants.c, 2024). A block has 1, 32 or 256 elements of a
// row and their scales. An element of a block of 32 is a scale times a whole number, and some types add an
// offset. A block of 256 has 8 or 16 parts. The scale of a part is a whole number times the block's scale.

import { fromBits } from "../../core/tensor.js";

/** How a type stores elements. */
export interface BlockType {
  readonly name: string;
  /** The elements of a block. */
  readonly elements: number;
  /** The bytes of a block. */
  readonly bytes: number;
  /**
   * Writes the elements of a block into `to`, from the position `place` on; undefined if the bytes
   * are the elements of a type of safetensors.
   */
  readonly unpack: Unpack | undefined;
}

type Unpack = (block: Block, to: Float32Array, place: number) => void;

/** The value of each float16. */
let halves: Float32Array | undefined;

/** A block of bytes at a position, read by the functions below. */
export class Block {
  at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  byte(i: number): number {
    return this.#bytes[this.at + i] as number;
  }

  signed(i: number): number {
    return (this.byte(i) << 24) >> 24;
  }

  half(i: number): number {
    halves ??= Float32Array.from({ length: 2 ** 16 }, (_, bits) => fromBits(bits, "float16"));
    return halves[this.byte(i) | (this.byte(i + 1) << 8)] as number;
  }
}

/**
 * 32 elements of 4 bits: the low bits of 16 bytes, then their high bits. Some types add a fifth bit to each, from four
 * bytes. The offset is a number of the block or, without one, half of the range.
 */
const fours =
  (hasOffset: boolean, hasFifth: boolean): Unpack =>
  (block, to, place) => {
    const high = hasOffset ? 4 : 2;
    const first = hasFifth ? high + 4 : high;
    const zero = hasOffset ? 0 : hasFifth ? 16 : 8;
    // Adding -0 changes no number, not even the sign of a zero.
    const [scale, offset] = [block.half(0), hasOffset ? block.half(2) : -0];
    for (let i = 0; i < 32; ++i) {
      const low = (block.byte(first + (i & 15)) >> (i < 16 ? 0 : 4)) & 15;
      const fifth = hasFifth ? ((block.byte(high + (i >> 3)) >> (i & 7)) & 1) << 4 : 0;
      to[place + i] = scale * ((low | fifth) - zero) + offset;
    }
  };

/** The 6-bit scale and offset of part `i` of eight, packed into 12 bytes from byte 4 on. */
function partScale(block: Block, i: number): [scale: number, offset: number] {
  const byte = (n: number) => block.byte(4 + n);
  if (i < 4) return [byte(i) & 63, byte(i + 4) & 63];
  const low = byte(i + 4);
  return [(low & 15) | ((byte(i - 4) >> 6) << 4), (low >> 4) | ((byte(i) >> 6) << 4)];
}

/** Eight parts of 32 elements, each with a scale and an offset: 4 bits, and a fifth in some. */
const eighths =
  (first: number, hasFifth: boolean): Unpack =>
  (block, to, place) => {
    const [scale, offset] = [block.half(0), block.half(2)];
    for (let part = 0; part < 8; ++part) {
      const [factor, shift] = partScale(block, part);
      const [step, base] = [scale * factor, offset * shift];
      const from = first + 32 * (part >> 1);
      for (let i = 0; i < 32; ++i) {
        const low = (block.byte(from + i) >> (4 * (part & 1))) & 15;
        const high = hasFifth ? ((block.byte(16 + i) >> part) & 1) << 4 : 0;
        to[place + 32 * part + i] = step * (low | high) - base;
      }
    }
  };

/** Sixteen parts of 16 elements of 6 bits: 4 low bits, 2 high bits, scales of 8 bits. */
const sixths: Unpack = (block, to, place) => {
  const scale = block.half(208);
  for (let element = 0; element < 256; ++element) {
    const [side, within] = [element >> 7, element & 127];
    const [quarter, i] = [within >> 5, within & 31];
    const low = block.byte(64 * side + 32 * (quarter & 1) + i) >> (4 * (quarter >> 1));
    const high = block.byte(128 + 32 * side + i) >> (2 * quarter);
    const quant = ((low & 15) | ((high & 3) << 4)) - 32;
    to[place + element] = scale * block.signed(192 + (element >> 4)) * quant;
  }
};

const eights: Unpack = (block, to, place) => {
  const scale = block.half(0);
  for (let i = 0; i < 32; ++i) to[place + i] = scale * block.signed(2 + i);
};

const of = (name: string, elements: number, bytes: number, unpack?: Unpack): BlockType => ({
  ...{ name, elements, bytes },
  unpack,
});

/** The types that are read, by their numbers in the file. */
export const blockTypes: ReadonlyMap<number, BlockType> = new Map([
  [0, of("F32", 1, 4)],
  [1, of("F16", 1, 2)],
  [30, of("BF16", 1, 2)],
  [8, of("Q8_0", 32, 34, eights)],
  [2, of("Q4_0", 32, 18, fours(false, false))],
  [3, of("Q4_1", 32, 20, fours(true, false))],
  [6, of("Q5_0", 32, 22, fours(false, true))],
  [7, of("Q5_1", 32, 24, fours(true, true))],
  [12, of("Q4_K", 256, 144, eighths(16, false))],
  [13, of("Q5_K", 256, 176, eighths(48, true))],
  [14, of("Q6_K", 256, 210, sixths)],
]);

const otherTypes: Readonly<Record<number, string>> = {
  ...{ 9: "Q8_1", 10: "Q2_K", 11: "Q3_K", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS" },
  ...{ 19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 24: "I8", 25: "I16" },
  ...{ 26: "I32", 27: "I64", 28: "F64", 29: "IQ1_M" },
};

/** The name of a type that is not read. */
export const typeName = (number: number) => otherTypes[number] ?? `type ${number}`;

/** Unpacks whole blocks to float32. */
export function unpackBlocks(
  { elements, bytes, unpack }: BlockType,
  packed: Uint8Array,
): Float32Array {
  const count = packed.length / bytes;
  const floats = new Float32Array(count * elements);
  const block = new Block(packed);
  for (let i = 0; i < count; ++i, block.at += bytes) unpack?.(block, floats, i * elements);
  return floats;
}
