// Writes GGUF files with random weights, for tests. Each packer draws whole numbers and scales, computes the elements
// from them in double precision, and writes them in the order of ggml's structs.

import type { Tensors } from "./checkpoints.js";
import type { Random } from "./values.js";

export interface Packed {
  type: number;
  shape: number[];
  bytes: Uint8Array;
  /** The elements, rounded to float32. */
  values: Float32Array;
}

/** A float16, with fewer bits of the fraction below the smallest normal number. */
function halfOf(exponent: number, fraction: number, isNegative: boolean) {
  const missing = Math.max(0, -14 - exponent);
  const whole = (1024 + fraction) >> missing;
  const bits = missing > 0 ? whole : ((exponent + 15) << 10) | fraction;
  const value = whole * 2 ** (exponent - 10 + missing);
  return isNegative ? { bits: bits | 0x8000, value: -value } : { bits, value };
}

/** Draws a scale for whole numbers of `bits` bits. The elements of all types have similar sizes. */
const drawHalf = (random: Random, bits: number) =>
  halfOf(random.whole(-5, -2) - bits, random.whole(0, 1023), random.next() < 0.3);
const two = (bits: number) => [bits & 255, bits >> 8];

type Packer = (random: Random) => { bytes: number[]; values: number[] };

/** Blocks of 32: a scale, sometimes the least value, sometimes fifth bits, and 4 bits for each element. */
const small =
  (bits: 4 | 5, hasLeast: boolean): Packer =>
  (random) => {
    const [scale, least] = [drawHalf(random, bits), drawHalf(random, 1)];
    const quants = Array.from({ length: 32 }, () => random.whole(0, 2 ** bits - 1));
    const fifths = quants.reduce((all, quant, i) => all + (quant >> 4) * 2 ** i, 0);
    const low = Array.from({ length: 16 }, (_, i) => {
      const [first = 0, second = 0] = [quants[i], quants[i + 16]];
      return (first & 15) + 16 * (second & 15);
    });
    const words = [...two(scale.bits), ...(hasLeast ? two(least.bits) : [])];
    const high = bits === 5 ? [0, 8, 16, 24].map((by) => Math.floor(fifths / 2 ** by) % 256) : [];
    const values = quants.map((quant) =>
      hasLeast ? scale.value * quant + least.value : scale.value * (quant - 2 ** (bits - 1)),
    );
    return { bytes: [...words, ...high, ...low], values };
  };

const byteScaled: Packer = (random) => {
  const scale = drawHalf(random, 8);
  const quants = Array.from({ length: 32 }, () => random.whole(-128, 127));
  const bytes = [...two(scale.bits), ...quants.map((quant) => quant & 255)];
  return { bytes, values: quants.map((quant) => scale.value * quant) };
};

/** Blocks of 256 in eight parts, with scales and offsets of 6 bits. */
const eight =
  (bits: 4 | 5): Packer =>
  (random) => {
    const [scale, offset] = [drawHalf(random, bits + 6), drawHalf(random, 6)];
    const draw = (count: number, most: number) =>
      Array.from({ length: count }, () => random.whole(0, most));
    const [factors, shifts] = [draw(8, 63), draw(8, 63)];
    const quants = draw(256, 2 ** bits - 1);
    const packedScales = Array.from({ length: 12 }, (_, i) => {
      const at = (list: number[], n: number) => list[n] as number;
      if (i < 4) return at(factors, i) | ((at(factors, i + 4) >> 4) << 6);
      if (i < 8) return at(shifts, i - 4) | ((at(shifts, i) >> 4) << 6);
      return (at(factors, i - 4) & 15) | ((at(shifts, i - 4) & 15) << 4);
    });
    const low: number[] = [];
    for (let begin = 0; begin < 256; begin += 64)
      for (let i = begin; i < begin + 32; ++i)
        low.push(((quants[i] as number) & 15) | (((quants[i + 32] as number) & 15) << 4));
    const high = Array.from({ length: 32 }, (_, i) => {
      let byte = 0;
      for (let part = 0; part < 8; ++part) byte |= ((quants[32 * part + i] as number) >> 4) << part;
      return byte;
    });
    const values = quants.map((quant, i) => {
      const part = Math.floor(i / 32);
      return (
        scale.value * (factors[part] as number) * quant - offset.value * (shifts[part] as number)
      );
    });
    const head = [...two(scale.bits), ...two(offset.bits), ...packedScales];
    return { bytes: [...head, ...(bits === 5 ? high : []), ...low], values };
  };

/** Blocks of 256 elements of 6 bits in sixteen parts. */
const sixteen: Packer = (random) => {
  const scale = drawHalf(random, 12);
  const factors = Array.from({ length: 16 }, () => random.whole(-128, 127));
  const quants = Array.from({ length: 256 }, () => random.whole(0, 63));
  const [low, high]: [number[], number[]] = [[], []];
  for (let begin = 0; begin < 256; begin += 128) {
    const at = (i: number) => quants[begin + i] as number;
    for (let i = 0; i < 32; ++i) low.push((at(i) & 15) | ((at(i + 64) & 15) << 4));
    for (let i = 0; i < 32; ++i) low.push((at(i + 32) & 15) | ((at(i + 96) & 15) << 4));
    for (let i = 0; i < 32; ++i)
      high.push(
        (at(i) >> 4) |
          ((at(i + 32) >> 4) << 2) |
          ((at(i + 64) >> 4) << 4) |
          ((at(i + 96) >> 4) << 6),
      );
  }
  const bytes = [...low, ...high, ...factors.map((each) => each & 255), ...two(scale.bits)];
  const values = quants.map(
    (quant, i) => scale.value * (factors[Math.floor(i / 16)] as number) * (quant - 32),
  );
  return { bytes, values };
};

const packers = {
  Q4_0: { type: 2, elements: 32, pack: small(4, false) },
  Q4_1: { type: 3, elements: 32, pack: small(4, true) },
  Q5_0: { type: 6, elements: 32, pack: small(5, false) },
  Q5_1: { type: 7, elements: 32, pack: small(5, true) },
  Q8_0: { type: 8, elements: 32, pack: byteScaled },
  Q4_K: { type: 12, elements: 256, pack: eight(4) },
  Q5_K: { type: 13, elements: 256, pack: eight(5) },
  Q6_K: { type: 14, elements: 256, pack: sixteen },
};
export type PackedType = keyof typeof packers;
export const packedTypes = Object.keys(packers) as PackedType[];

/** Draws a tensor in blocks of a type. */
export function pack(type: PackedType, shape: number[], random: Random): Packed {
  const { elements, pack, type: number } = packers[type];
  const count = shape.reduce((a, b) => a * b, 1) / elements;
  const blocks = Array.from({ length: count }, () => pack(random));
  return {
    ...{ type: number, shape },
    bytes: Uint8Array.from(blocks.flatMap(({ bytes }) => bytes)),
    values: Float32Array.from(blocks.flatMap(({ values }) => values)),
  };
}

/** A tensor of float32 elements. */
export const plain = (values: Float32Array, shape: readonly number[]): Packed => ({
  ...{ type: 0, shape: [...shape], values },
  bytes: new Uint8Array(values.slice().buffer),
});

export type Value = number | boolean | string | string[] | Float32Array | Int32Array;

class Writer {
  readonly bytes: number[] = [];

  number(value: number, bytes: number): this {
    let rest = BigInt(value);
    for (let i = 0; i < bytes; ++i, rest >>= 8n) this.bytes.push(Number(rest & 255n));
    return this;
  }

  text(value: string): this {
    const bytes = new TextEncoder().encode(value);
    this.number(bytes.length, 8).bytes.push(...bytes);
    return this;
  }

  value(value: Value): this {
    if (typeof value === "boolean") return this.number(7, 4).number(Number(value), 1);
    if (typeof value === "string") return this.number(8, 4).text(value);
    if (typeof value === "number" && Number.isInteger(value))
      return this.number(4, 4).number(value, 4);
    if (typeof value === "number") return this.number(6, 4).raw(Float32Array.of(value));
    const type = Array.isArray(value) ? 8 : value instanceof Float32Array ? 6 : 5;
    this.number(9, 4).number(type, 4).number(value.length, 8);
    if (!Array.isArray(value)) return this.raw(value);
    for (const each of value) this.text(each);
    return this;
  }

  raw(value: Float32Array | Int32Array): this {
    for (const byte of new Uint8Array(value.slice().buffer)) this.bytes.push(byte);
    return this;
  }
}

/** Writes a file. */
export function ggufOf(
  metadata: Readonly<Record<string, Value>>,
  tensors: Readonly<Record<string, Packed>>,
  { version = 3, alignment = 32 } = {},
): Uint8Array<ArrayBuffer> {
  const writer = new Writer().number(0x46554747, 4).number(version, 4);
  const all = alignment === 32 ? metadata : { ...metadata, "general.alignment": alignment };
  writer.number(Object.keys(tensors).length, 8).number(Object.keys(all).length, 8);
  for (const [key, value] of Object.entries(all)) writer.text(key).value(value);
  let at = 0;
  const aligned = (size: number) => Math.ceil(size / alignment) * alignment;
  for (const [name, { type, shape, bytes }] of Object.entries(tensors)) {
    writer.text(name).number(shape.length, 4);
    for (const size of [...shape].reverse()) writer.number(size, 8);
    writer.number(type, 4).number(at, 8);
    at = aligned(at + bytes.length);
  }
  const start = aligned(writer.bytes.length);
  const file = new Uint8Array(start + at);
  file.set(writer.bytes);
  let place = start;
  for (const { bytes } of Object.values(tensors)) {
    file.set(bytes, place);
    place = aligned(place + bytes.length);
  }
  return file;
}

/** The row of a file of Llama that holds row `row` of the hub, as llama.cpp's converter places it. */
function pairedRow(row: number, headSize: number): number {
  const [head, within] = [Math.floor(row / headSize), row % headSize];
  const [half, pair] = [Math.floor(within / (headSize / 2)), within % (headSize / 2)];
  return head * headSize + 2 * pair + half;
}

function paired(
  { data, shape }: { data: Float32Array; shape: readonly number[] },
  headSize: number,
) {
  const [rows = 0, columns = 1] = shape;
  const moved = new Float32Array(data.length);
  for (let row = 0; row < rows; ++row) {
    const from = data.subarray(row * columns, (row + 1) * columns);
    moved.set(from, pairedRow(row, headSize) * columns);
  }
  return moved;
}

const renamed: readonly (readonly [RegExp, string])[] = [
  [/^model\.embed_tokens/, "token_embd"],
  [/^model\.norm/, "output_norm"],
  [/^lm_head/, "output"],
  [/^model\.layers\./, "blk."],
  [/input_layernorm/, "attn_norm"],
  [/self_attn\.([qkv])_proj/, "attn_$1"],
  [/self_attn\.o_proj/, "attn_output"],
  [/self_attn\.([qk])_norm/, "attn_$1_norm"],
  [/post_attention_layernorm/, "ffn_norm"],
  [/mlp\.(\w+)_proj/, "ffn_$1"],
  [/^bert\.embeddings\.word_embeddings/, "token_embd"],
  [/^bert\.embeddings\.position_embeddings/, "position_embd"],
  [/^bert\.embeddings\.token_type_embeddings/, "token_types"],
  [/^bert\.embeddings\.LayerNorm/, "token_embd_norm"],
  [/^bert\.encoder\.layer\./, "blk."],
  [/attention\.self\.(q|k|v)\w+/, "attn_$1"],
  [/attention\.output\.dense/, "attn_output"],
  [/attention\.output\.LayerNorm/, "attn_output_norm"],
  [/intermediate\.dense/, "ffn_up"],
  [/output\.dense/, "ffn_down"],
  [/output\.LayerNorm/, "layer_output_norm"],
];
export const nameInFile = (name: string) =>
  renamed.reduce((text, [from, to]) => text.replace(from, to), name);

/**
 * The tensors of a checkpoint as a file of an architecture has them.
 *
 * @param headSize given for Llama, whose rows of queries and keys have another order
 */
export function packedOf(tensors: Tensors, headSize?: number): Record<string, Packed> {
  const entries = Object.entries(tensors).map(([name, tensor]) => {
    const isPaired = headSize !== undefined && /\.[qk]_proj\./.test(name);
    const data = isPaired ? paired(tensor, headSize) : tensor.data;
    return [nameInFile(name), plain(data, tensor.shape)] as const;
  });
  return Object.fromEntries(entries);
}

export const metadataOf = (name: string, sizes: Readonly<Record<string, number>>) => ({
  "general.architecture": name,
  ...Object.fromEntries(Object.entries(sizes).map(([key, value]) => [`${name}.${key}`, value])),
});

/** The sizes of `llama()` of checkpoints.ts. */
export const llamaSizes = {
  ...{ embedding_length: 16, block_count: 2, feed_forward_length: 24, context_length: 32 },
  ...{ "attention.head_count": 4, "attention.head_count_kv": 2 },
  ...{ "attention.layer_norm_rms_epsilon": Math.fround(1e-5), "rope.freq_base": 10_000.5 },
};
