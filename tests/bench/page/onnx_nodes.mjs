// Collects the nodes and the weights of an ONNX model, for graphs of several layers.

import { transpose } from "./cases.mjs";

export const contrib = "com.microsoft";

/** Each call returns the name of the node's first output. */
export class Nodes {
  list = [];

  add(type, inputs, { outputs = [`n${this.list.length}`], domain = "", attributes = {} } = {}) {
    this.list.push({ type, domain, inputs, outputs, attributes });
    return outputs[0];
  }

  linear(x, name) {
    return this.add("Add", [this.add("MatMul", [x, `${name}.weight`]), `${name}.bias`]);
  }

  norm(x, name) {
    return this.add("LayerNormalization", [x, `${name}.weight`, `${name}.bias`]);
  }

  /** [1, L, E] -> [1, H, L, E / H] */
  heads(x) {
    const perm = [0, 2, 1, 3];
    return this.add("Transpose", [this.add("Reshape", [x, "by heads"])], { attributes: { perm } });
  }
}

const blockSize = 32;

/** The largest magnitude of `count` numbers. */
const largest = (numbers, start, count) => {
  let most = 0;
  for (let i = start; i < start + count; ++i) most = Math.max(most, Math.abs(numbers[i]));
  return most;
};

/** Whole numbers from -127 to 127, with a scale for each row. */
export function rowsInBytes(weight, [rows, columns]) {
  const scales = new Float32Array(rows);
  const whole = new Int8Array(weight.length);
  for (let row = 0; row < rows; ++row) {
    const start = row * columns;
    scales[row] = largest(weight, start, columns) / 127;
    for (let i = start; i < start + columns; ++i) whole[i] = Math.round(weight[i] / scales[row]);
  }
  return { scales, whole };
}

/** Two numbers in a byte, the first one in the low bits, with 8 added; a scale for each 32. */
function blocksOfFours(weight) {
  const scales = new Float32Array(weight.length / blockSize);
  const bytes = new Uint8Array(weight.length / 2);
  scales.forEach((_, block) => {
    const start = block * blockSize;
    const scale = largest(weight, start, blockSize) / 7;
    const rounded = (i) => Math.round(weight[i] / scale) + 8;
    for (let i = start; i < start + blockSize; i += 2)
      bytes[i / 2] = rounded(i) | (rounded(i + 1) << 4);
    scales[block] = scale;
  });
  return { scales, bytes };
}

/**
 * Nodes of a model with weights [out, in] that are stored in a type, as files for transformers.js
 * have them: float32; "q8", bytes with a scale for each output, whose products round their
 * activations to bytes with one scale; "q4", blocks of 32.
 */
export class TypedNodes extends Nodes {
  constants = [];
  #dtype;
  #inputs;
  #rounded = new Map();

  constructor(dtype, inputs) {
    super();
    this.#dtype = dtype;
    this.#inputs = inputs;
  }

  /** Adds a constant, and returns its name. */
  constant(name, shape, data, type = "float32") {
    const isExternal = data.length > 1024;
    this.constants.push({ name, type, shape, data, isExternal });
    return name;
  }

  /** A parameter in float32. */
  vector(name) {
    const data = this.#inputs[name];
    return this.constant(name, [data.length], data);
  }

  /** x W^T + b, with the parameters `name`.weight and `name`.bias */
  product(x, name, shape) {
    const hasBias = `${name}.bias` in this.#inputs;
    const bias = hasBias ? this.vector(`${name}.bias`) : "";
    const weight = this.#inputs[`${name}.weight`];
    if (this.#dtype === "int8") return this.#inBytes(x, name, shape, weight, bias);
    const output = this.#dtype === "int4" ? this.#inFours(x, name, shape, weight) : undefined;
    const result = output ?? this.#inFloats(x, name, shape, weight);
    return hasBias ? this.add("Add", [result, bias]) : result;
  }

  #inFloats(x, name, [out, size], weight) {
    const turned = this.constant(`${name}.turned`, [size, out], transpose(weight, out, size));
    return this.add("MatMul", [x, turned]);
  }

  #inBytes(x, name, [out, size], weight, bias) {
    if (!this.#rounded.has(x)) {
      const outputs = ["", ".scale", ".zero"].map((part) => `${x}.rounded${part}`);
      this.add("DynamicQuantizeLinear", [x], { outputs });
      this.#rounded.set(x, outputs);
    }
    const [rounded, scale, zero] = this.#rounded.get(x);
    const { scales, whole } = rowsInBytes(weight, [out, size]);
    const turned = transpose(whole, out, size);
    const bytes = this.constant(`${name}.bytes`, [size, out], turned, "int8");
    const own = this.constant(`${name}.scales`, [out], scales);
    const inputs = [rounded, bytes, scale, own, zero, "", bias];
    return this.add("MatMulIntegerToFloat", inputs, { domain: contrib });
  }

  #inFours(x, name, [out, size], weight) {
    const { scales, bytes } = blocksOfFours(weight);
    const blocks = size / blockSize;
    const shape = [out, blocks, blockSize / 2];
    const own = this.constant(`${name}.bytes`, shape, bytes, "uint8");
    const inputs = [x, own, this.constant(`${name}.scales`, [out * blocks], scales)];
    // With level 4 the operator may round activations to bytes.
    const attributes = { K: size, N: out, bits: 4, block_size: blockSize, accuracy_level: 4 };
    return this.add("MatMulNBits", inputs, { domain: contrib, attributes });
  }
}

export const int64 = (name, numbers, shape, dims = shape) => ({
  ...{ name, type: "int64", shape, dims, data: BigInt64Array.from(numbers, BigInt) },
});

const int32 = (name, number) => ({
  ...{ name, type: "int32", shape: [1], data: Int32Array.of(number) },
});

/** The inputs of GroupQueryAttention that tell the number of keys. */
export const lengths = (keys) => [int32("seqlens", keys - 1), int32("total", keys)];
