// Writes WebAssembly modules of one function, for loops that no compiler may change
// (https://webassembly.github.io/spec/core/binary).

export const type = { i32: 0x7f, f32: 0x7d, v128: 0x7b };

export const op = {
  get: (local) => [0x20, local],
  set: (local) => [0x21, local],
  tee: (local) => [0x22, local],
  i32Const: (value) => [0x41, ...signedLeb(value)],
  f32Const: (value) => [0x43, ...new Uint8Array(new Float32Array([value]).buffer)],
  i32Add: [0x6a],
  i32LessThan: [0x49],
  /** A loop; its body leaves an i32 that is not 0 to run again. */
  loop: (body) => [0x03, 0x40, ...body, 0x0d, 0, 0x0b],
  f32Load: (offset) => [0x2a, 2, ...leb(offset)],
  v128Store: (offset) => [0xfd, 0x0b, 4, ...leb(offset)],
  v128Load: (offset) => [0xfd, 0x00, 4, ...leb(offset)],
  f32x4Splat: [0xfd, 0x13],
  i32x4Splat: [0xfd, 0x11],
  i32x4Lane: (lane) => [0xfd, 0x1b, lane],
  f32x4Lane: (lane) => [0xfd, 0x1f, lane],
  i32x4Add: [0xfd, 0xae, 0x01],
  f32x4Add: [0xfd, 0xe4, 0x01],
  f32x4Mul: [0xfd, 0xe6, 0x01],
  f32x4RelaxedMadd: [0xfd, 0x85, 0x02],
  f32x4ConvertI32x4: [0xfd, 0xfa, 0x01],
  i16x8Add: [0xfd, 0x8e, 0x01],
  i32x4DotI16x8: [0xfd, 0xba, 0x01],
  i16x8RelaxedDot: [0xfd, 0x92, 0x02],
  i32x4RelaxedDotAdd: [0xfd, 0x93, 0x02],
};

function leb(value) {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)];
}

function signedLeb(value) {
  return value >= -64 && value < 64
    ? [value & 127]
    : [(value & 127) | 128, ...signedLeb(value >> 7)];
}

const section = (id, content) => [id, ...leb(content.length), ...content];
const mostPages = 65536;

/**
 * A module that exports r and, with `hasMemory`, imports a shared memory as m.m. With
 * `hasOwnMemory`, the module has one page of zeros.
 *
 * @param {{ parameters: number[], result: number, vectors: number, body: number[], hasMemory?: boolean,
 *   hasOwnMemory?: boolean }} one
 *   `vectors` is the number of locals of type v128 after the parameters
 */
export function moduleOf({ parameters, result, vectors, body, hasMemory, hasOwnMemory }) {
  const code = [1, vectors, type.v128, ...body, 0x0b];
  const memory = [1, 1, 0x6d, 1, 0x6d, 2, 3, 0, ...leb(mostPages)];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [1, 0x60, parameters.length, ...parameters, 1, result]),
    ...(hasMemory ? section(2, memory) : []),
    ...section(3, [1, 0]),
    ...(hasOwnMemory ? section(5, [1, 0, 1]) : []),
    ...section(7, [1, 1, 0x72, 0, 0]),
    ...section(10, [1, ...leb(code.length), ...code]),
  ]);
}

export function sharedMemory(bytes) {
  return new WebAssembly.Memory({
    initial: Math.ceil(bytes / 65536),
    maximum: mostPages,
    shared: true,
  });
}
