// Writes ONNX models of one node: the few fields of onnx.proto that such a model has, in protobuf's
// wire format (https://protobuf.dev/programming-guides/encoding). Field numbers are those of
// onnx.proto, version 10 of the format.

const text = (string) => [...new TextEncoder().encode(string)];

function varint(value) {
  const bytes = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return [...bytes, rest];
}

// A field is its number and wire type, then its value: 0 a varint, 2 a length and that many bytes.
const number = (field, value) => [...varint(field * 8), ...varint(value)];
const bytes = (field, value) => [...varint(field * 8 + 2), ...varint(value.length), ...value];
const string = (field, value) => bytes(field, text(value));

/** ValueInfoProto of a float tensor: name 1, type 2 { tensor_type 1 { elem_type 1, shape 2 { dim 1 } } } */
function valueInfo({ name, shape }) {
  const dims = shape.flatMap((size) => bytes(1, number(1, size)));
  const tensorType = [...number(1, 1), ...bytes(2, dims)];
  return [...string(1, name), ...bytes(2, bytes(1, tensorType))];
}

/** AttributeProto of an integer: name 1, i 3, type 20 (INT is 2) */
const attribute = ([name, value]) => [...string(1, name), ...number(3, value), ...number(20, 2)];

/**
 * @param {{ type: string, domain: string, version: number, attributes: Record<string, number> }} operator
 * @param {{ name: string, shape: number[] }[]} inputs
 * @param {{ name: string, shape: number[] }} output
 */
export function modelOf({ type, domain, version, attributes }, inputs, output) {
  const node = [
    ...inputs.flatMap(({ name }) => string(1, name)),
    ...string(2, output.name),
    ...string(4, type),
    ...Object.entries(attributes).flatMap((entry) => bytes(5, attribute(entry))),
    ...string(7, domain),
  ];
  const graph = [
    ...bytes(1, node),
    ...string(2, "bench"),
    ...inputs.flatMap((input) => bytes(11, valueInfo(input))),
    ...bytes(12, valueInfo(output)),
  ];
  const operatorSet = [...string(1, domain), ...number(2, version)];
  const irVersion = 10;
  return Uint8Array.from([...number(1, irVersion), ...bytes(7, graph), ...bytes(8, operatorSet)]);
}
