// The peak rate at which threads read memory: a sum over shared memory, as Heed's memory is. The
// loop repeats:
//
//   acc[i] += the 16 bytes at p + 16 i, for i in [0, 8); p += 128.
//
// There are eight accumulators, so that no addition waits for another. Every 32-bit number in the
// memory is 1, so the sum shows that all of it was read. Pages that were never written would all
// map to one page of zeros, in the cache.

import { startTogether } from "./threads.mjs";
import { moduleOf, op, sharedMemory, type } from "./wasm.mjs";

const accumulators = 8;
const lanes = 4;
const vectorBytes = 16;
const step = accumulators * vectorBytes;

const [p, end, first] = [0, 1, 2]; // locals: two parameters, then vectors
const all = Array.from({ length: accumulators }, (_, i) => first + i);

/** r(begin: i32, end: i32) -> i32, the sum */
function readingModule() {
  const once = all.flatMap((acc, i) =>
    [op.get(acc), op.get(p), op.v128Load(vectorBytes * i), op.i32x4Add, op.set(acc)].flat(),
  );
  const again = [op.get(p), op.i32Const(step), op.i32Add, op.tee(p), op.get(end), op.i32LessThan];
  const sum = all.slice(1).flatMap((acc) => [op.get(acc), op.i32x4Add].flat());
  const body = [
    op.loop([...once, ...again.flat()]),
    ...[op.get(first), sum, op.set(first)],
    ...[op.get(first), op.i32x4Lane(0)],
    ...Array.from({ length: lanes - 1 }, (_, i) => [
      ...[op.get(first), op.i32x4Lane(i + 1), op.i32Add].flat(),
    ]),
  ].flat();
  const parameters = [type.i32, type.i32];
  return moduleOf({ parameters, result: type.i32, vectors: accumulators, body, hasMemory: true });
}

/** Returns a limit whose runs each read `bytes` bytes, rounded up. */
export async function startRead(bytes, threads) {
  const share = Math.ceil(bytes / threads / step) * step;
  const memory = sharedMemory(share * threads);
  new Int32Array(memory.buffer).fill(1);
  const shares = Array.from({ length: threads }, (_, i) => [i * share, (i + 1) * share]);
  const isRight = (sum) => sum === share / 4;
  const run = await startTogether(readingModule(), shares, isRight, memory);
  return { name: "read", bytes: share * threads, run };
}
