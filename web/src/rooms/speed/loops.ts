/**
 * Two loops that do only one thing, as WebAssembly modules written byte by byte, independent of any compiler
 * (https://webassembly.github.io/spec/core/binary):
 *
 *   arithmetic: acc = a * a + acc, fused (wide, relaxed), or acc = acc * a + a (simd), in a given number of accumulators
 *   memory: acc += the 16 bytes at p, in eight accumulators, over [begin, end)
 *
 * The accumulators of wide begin with loads and end with stores of neighbours in memory, so that an engine which merges
 * pairs of vectors into wider ones merges them. Both export r(i32, i32): the count of repeats and nothing, or begin and end.
 */

const [i32, v128] = [0x7f, 0x7b];

/** The unroll factor of the body, so that the loop counter costs little. */
const copies = 4;
const lanes = 4;
const vectorBytes = 16;
const readers = 8;
/** The bytes that one iteration of the memory loop reads. */
export const readStep = readers * vectorBytes;

/** LEB128, unsigned and signed. */
function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}
function signed(value: number): number[] {
  const isLast = value >= -64 && value < 64;
  return isLast ? [value & 127] : [(value & 127) | 128, ...signed(value >> 7)];
}

const get = (local: number) => [0x20, local];
const set = (local: number) => [0x21, local];
const tee = (local: number) => [0x22, local];
const integer = (value: number) => [0x41, ...signed(value)];
const real = (value: number) => [0x43, ...new Uint8Array(Float32Array.of(value).buffer)];
const addIntegers = [0x6a];
const isLess = [0x49];
const spread = [0xfd, 0x13];
const multiplyAdd = [0xfd, 0x85, 0x02];
const multiply = [0xfd, 0xe6, 0x01];
const add = [0xfd, 0xe4, 0x01];
const addLanes = [0xfd, 0xae, 0x01];
const storeVector = (offset: number) => [0xfd, 0x0b, 4, ...unsigned(offset)];
const loadVector = (offset: number) => [0xfd, 0x00, 4, ...unsigned(offset)];
const integerLane = (lane: number) => [0xfd, 0x1b, lane];
/** Repeats while the body leaves a number other than 0. */
const loop = (body: number[]) => [0x03, 0x40, ...body, 0x0d, 0x00, 0x0b];

const section = (id: number, content: number[]) => [id, ...unsigned(content.length), ...content];
const mostPages = 65536;

function bytesOf(vectors: number, body: number[], memoryKind: "none" | "shared" | "own") {
  const code = [1, vectors, v128, ...body, 0x0b];
  // A shared memory, imported as m.m.
  const memory = [1, 1, 0x6d, 1, 0x6d, 2, 3, 0, ...unsigned(mostPages)];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [1, 0x60, 2, i32, i32, 1, i32]),
    ...(memoryKind === "shared" ? section(2, memory) : []),
    ...section(3, [1, 0]),
    ...(memoryKind === "own" ? section(5, [1, 0, 1]) : []),
    ...section(7, [1, 1, 0x72, 0, 0]),
    ...section(10, [1, ...unsigned(code.length), ...code]),
  ]);
}

/** The sum of an accumulator's lanes, as integers. */
const lanesOf = (local: number) => [
  ...[...get(local), ...integerLane(0)],
  ...[1, 2, 3].flatMap((lane) => [...get(local), ...integerLane(lane), ...addIntegers]),
];

export type Variant = "wide" | "relaxed" | "simd";

/** The numbers stay normal: with simd they approach 1, with the others each step adds a millionth. */
export function arithmeticLoop(variant: Variant, accumulators: number) {
  const [count, a, first] = [0, 2, 3];
  const isWide = variant === "wide";
  const all = Array.from({ length: accumulators }, (_, i) => first + i);
  const once = all.flatMap((acc) =>
    variant === "simd"
      ? [...get(acc), ...get(a), ...multiply, ...get(a), ...add, ...set(acc)]
      : [...get(a), ...get(a), ...get(acc), ...multiplyAdd, ...set(acc)],
  );
  const body = [
    ...[...real(variant === "simd" ? 0.5 : 1e-3), ...spread, ...set(a)],
    // Different values, so that the compiler cannot merge two accumulators.
    ...all.flatMap((acc, i) => [
      ...(isWide ? [...integer(0), ...loadVector(vectorBytes * i)] : [...real(1 + i), ...spread]),
      ...set(acc),
    ]),
    ...loop([
      ...Array.from({ length: copies }, () => once).flat(),
      ...[...get(count), ...integer(-1), ...addIntegers, ...tee(count)],
    ]),
    ...(isWide
      ? all.flatMap((acc, i) => [...integer(0), ...get(acc), ...storeVector(vectorBytes * i)])
      : all.slice(1).flatMap((acc) => [...get(first), ...get(acc), ...add, ...set(first)])),
    ...(isWide ? [...integer(0), ...loadVector(0), ...set(first)] : []),
    ...lanesOf(first),
  ];
  return bytesOf(1 + accumulators, body, isWide ? "own" : "none");
}

export const operationsOf = (accumulators: number, repeats: number) =>
  2 * lanes * accumulators * copies * repeats;

export function memoryLoop() {
  const [p, end, first] = [0, 1, 2];
  const all = Array.from({ length: readers }, (_, i) => first + i);
  const body = [
    ...loop([
      ...all.flatMap((acc, i) => [
        ...[...get(acc), ...get(p), ...loadVector(vectorBytes * i), ...addLanes, ...set(acc)],
      ]),
      ...[...get(p), ...integer(readStep), ...addIntegers, ...tee(p), ...get(end), ...isLess],
    ]),
    ...all.slice(1).flatMap((acc) => [...get(first), ...get(acc), ...addLanes, ...set(first)]),
    ...lanesOf(first),
  ];
  return bytesOf(readers, body, "shared");
}

export function sharedMemory(bytes: number): WebAssembly.Memory {
  const memory = new WebAssembly.Memory({
    initial: Math.ceil(bytes / 65536),
    maximum: mostPages,
    shared: true,
  });
  // Pages that were never written would all map to one page of zeros, which stays in the cache.
  new Int32Array(memory.buffer).fill(1);
  return memory;
}
