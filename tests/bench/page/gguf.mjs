// Writes GGUF files of Llama, as llama.cpp reads them (gguf-py and ggml-quants.c, 2024). They have
// no tokenizer, because the bench passes ids.

import { eps, sizesOf, theta } from "./decoder_cases.mjs";

const [uint32, float32, string] = [4, 6, 8];
const alignment = 32;
const blockSize = 32;

/** The bytes of numbers in little-endian order, one field after the other. */
class Header {
  bytes = [];

  number(value, bytes) {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, BigInt(value), true);
    this.bytes.push(...new Uint8Array(view.buffer, 0, bytes));
  }

  text(value) {
    this.number(value.length, 8);
    this.bytes.push(...new TextEncoder().encode(value));
  }

  /** A text, a whole number or a float32. */
  field(key, value) {
    this.text(key);
    const type = typeof value === "string" ? string : Number.isInteger(value) ? uint32 : float32;
    this.number(type, 4);
    if (type === string) this.text(value);
    else if (type === uint32) this.number(value, 4);
    else this.bytes.push(...new Uint8Array(Float32Array.of(value).buffer));
  }
}

/** Writes each block of a matrix with `pack`, which gets the block's view and its numbers. */
const inBlocks = (bytes, pack) => (data) => {
  const packed = new Uint8Array((data.length / blockSize) * bytes);
  for (let i = 0; i < data.length / blockSize; ++i) {
    const view = new DataView(packed.buffer, i * bytes, bytes);
    pack(view, data.subarray(i * blockSize, (i + 1) * blockSize));
  }
  return packed;
};

/** Whole numbers from -127 to 127 and their scale. */
function packEights(view, numbers) {
  const scale = numbers.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 127;
  view.setFloat16(0, scale, true);
  for (let i = 0; i < blockSize; ++i) view.setInt8(2 + i, Math.round(numbers[i] / scale));
}

/**
 * Whole numbers from -8 to 7, stored with 8 added, and their scale. The number with the largest
 * magnitude becomes -8. Low bits have the first half of the block.
 */
function packFours(view, numbers) {
  const most = numbers.reduce((a, x) => (Math.abs(x) > Math.abs(a) ? x : a), 0);
  const scale = most / -8;
  view.setFloat16(0, scale, true);
  const rounded = (i) => Math.min(15, Math.floor(numbers[i] / scale + 8.5));
  for (let i = 0; i < blockSize / 2; ++i)
    view.setUint8(2 + i, rounded(i) | (rounded(i + blockSize / 2) << 4));
}

/** The types of matrices: their number in the file, the bytes of a block, and how to write them. */
const types = {
  float32: { type: 0, pack: (data) => data },
  float16: { type: 1, pack: (data) => new Float16Array(data) },
  int8: { type: 8, pack: inBlocks(34, packEights) },
  int4: { type: 2, pack: inBlocks(18, packFours) },
};

/**
 * Moves the rows of each head to the places where llama.cpp rotates them: pairs are neighbours,
 * not halves.
 */
function paired(data, rows, columns, D) {
  const moved = new Float32Array(data.length);
  for (let row = 0; row < rows; ++row) {
    const [first, within] = [row - (row % D), row % D];
    const half = D / 2;
    const to = first + 2 * (within % half) + Math.floor(within / half);
    moved.set(data.subarray(row * columns, (row + 1) * columns), to * columns);
  }
  return moved;
}

const renamed = [
  [/^model\.embed_tokens/, "token_embd"],
  [/^model\.norm/, "output_norm"],
  [/^model\.layers\./, "blk."],
  [/input_layernorm/, "attn_norm"],
  [/self_attn\.([qkv])_proj/, "attn_$1"],
  [/self_attn\.o_proj/, "attn_output"],
  [/post_attention_layernorm/, "ffn_norm"],
  [/mlp\.(\w+)_proj/, "ffn_$1"],
];
const nameInFile = (name) => renamed.reduce((text, [from, to]) => text.replace(from, to), name);

const metadataOf = ({ layers, E, H, G, F, vocabulary, context }) => ({
  "general.architecture": "llama",
  "llama.context_length": context,
  "llama.embedding_length": E,
  "llama.block_count": layers,
  "llama.feed_forward_length": F,
  "llama.attention.head_count": H,
  "llama.attention.head_count_kv": G,
  "llama.attention.layer_norm_rms_epsilon": eps,
  "llama.rope.freq_base": theta + 0.001, // a whole number would be written as an integer
  "llama.rope.dimension_count": E / H,
  "llama.vocab_size": vocabulary,
  "tokenizer.ggml.model": "none",
});

/** The file of a case, in parts. */
export function ggufOf(one, shapes, inputs) {
  const header = new Header();
  header.number(0x46554747, 4);
  header.number(3, 4);
  const metadata = Object.entries(metadataOf(one));
  const tensors = Object.entries(shapes);
  header.number(tensors.length, 8);
  header.number(metadata.length, 8);
  for (const field of metadata) header.field(...field);
  const { D } = sizesOf(one);
  const aligned = (size) => Math.ceil(size / alignment) * alignment;
  const parts = [];
  let at = 0;
  for (const [name, shape] of tensors) {
    const isPaired = /\.[qk]_proj\./.test(name);
    const data = isPaired ? paired(inputs[name], ...shape, D) : inputs[name];
    const { type, pack } = types[shape.length > 1 ? one.dtype : "float32"];
    const packed = pack(data);
    header.text(nameInFile(name));
    header.number(shape.length, 4);
    for (const size of shape.toReversed()) header.number(size, 8);
    header.number(type, 4);
    header.number(at, 8);
    const { byteLength: size } = packed;
    parts.push(packed, new Uint8Array(aligned(size) - size));
    at += aligned(size);
  }
  const { length } = header.bytes;
  return [Uint8Array.from(header.bytes), new Uint8Array(aligned(length) - length), ...parts];
}
