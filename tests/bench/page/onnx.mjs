// Writes ONNX models: the few fields of onnx.proto that the bench needs, in protobuf's wire format
// (https://protobuf.dev/programming-guides/encoding). Field numbers are taken from onnx.proto,
// version 10 of the format.

function join(...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function varint(value) {
  const bytes = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return [...bytes, rest];
}

// A field is its number and wire type, then its value: 0 a varint, 2 a length and that many bytes.
const number = (field, value) => [...varint(field * 8), ...varint(value)];
const bytes = (field, ...parts) => {
  const value = join(...parts);
  return join(varint(field * 8 + 2), varint(value.length), value);
};
const string = (field, value) => bytes(field, new TextEncoder().encode(value));

const elementTypes = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7 };

/**
 * ValueInfoProto: name 1, type 2 { tensor_type 1 { elem_type 1, shape 2 { dim 1 } } }. A dim is
 * dim_value 1, or dim_param 2, the name of a size that varies.
 */
function valueInfo({ name, type = "float32", shape, dims = shape }) {
  const sizeOf = (size) => (typeof size === "string" ? string(2, size) : number(1, size));
  const sizes = dims ? [bytes(2, ...dims.map((size) => bytes(1, sizeOf(size))))] : [];
  const tensorType = bytes(1, number(1, elementTypes[type]), ...sizes);
  return join(string(1, name), bytes(2, tensorType));
}

/** AttributeProto of an integer or a list of them: name 1, i 3, ints 8, type 20 (INT is 2, INTS 7) */
const attribute = ([name, value]) =>
  Array.isArray(value)
    ? join(string(1, name), ...value.map((each) => number(8, each)), number(20, 7))
    : join(string(1, name), number(3, value), number(20, 2));

/** NodeProto: input 1, output 2, op_type 4, attribute 5, domain 7 */
const node = ({ type, domain = "", inputs, outputs, attributes = {} }) =>
  join(
    ...inputs.map((name) => string(1, name)),
    ...outputs.map((name) => string(2, name)),
    string(4, type),
    ...Object.entries(attributes).map((entry) => bytes(5, attribute(entry))),
    string(7, domain),
  );

/** The bytes of a constant. */
export const bytesOf = ({ data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/**
 * TensorProto: dims 1, data_type 2, name 8, and its bytes. The bytes are raw_data 9, or
 * external_data 13 { key 1, value 2 } in a file of the constant's name with data_location 14
 * (EXTERNAL is 1).
 */
const tensor = ({ name, type = "float32", shape, data, isExternal }) =>
  join(
    ...shape.map((size) => number(1, size)),
    number(2, elementTypes[type]),
    string(8, name),
    ...(isExternal
      ? [bytes(13, string(1, "location"), string(2, name)), number(14, 1)]
      : [bytes(9, bytesOf({ data }))]),
  );

const operatorSet = (domain, version) => bytes(8, string(1, domain), number(2, version));

/**
 * @typedef {{ name: string, shape: number[], type?: "float32" | "uint8" | "int8" | "int32" | "int64", dims?: (number | string)[] }} Input
 * @param {{
 *   nodes: { type: string, domain?: string, inputs: string[], outputs: string[], attributes?: Record<string, number | number[]> }[],
 *   inputs: Input[], constants?: (Input & { data: ArrayBufferView, isExternal?: boolean })[], outputs: string[] }} model
 */
export function modelOf({ nodes, inputs, constants = [], outputs }) {
  const graph = bytes(
    7,
    ...nodes.map((each) => bytes(1, node(each))),
    string(2, "bench"),
    ...constants.map((each) => bytes(5, tensor(each))),
    ...inputs.map((each) => bytes(11, valueInfo(each))),
    ...outputs.map((name) => bytes(12, valueInfo({ name }))),
  );
  return join(number(1, 10), graph, operatorSet("", 23), operatorSet("com.microsoft", 1));
}
