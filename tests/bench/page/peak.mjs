// The peak rate of multiply-adds of some threads: a loop over registers. The loop repeats one of
// these:
//
//   `relaxed`  acc[0..14) = a * a + acc, one f32x4.relaxed_madd each.
//   `simd`     acc[0..14) = acc * a + a, an f32x4.mul and an f32x4.add each.
//   `wide`     acc[0..28) = a * a + acc, as relaxed, for V8 to merge into 14 of 256 bits.
//
// V8 merges chains that begin with loads and end with stores of neighbours in memory. The second
// form keeps a compiler from computing a * a outside the loop. Several numbers of accumulators are
// tried. With few, latency limits the rate (in V8 on x86, 12 reached 44 GFLOP/s and 14 reached 52).
// With more than there are registers, some are spilled (14 in Firefox). The loop is unrolled four
// times, so that its counter hardly takes time. The accumulators begin with different numbers, so
// that a compiler cannot merge them, and no number becomes subnormal or infinite.

import { startTogether } from "./threads.mjs";
import { moduleOf, op, type } from "./wasm.mjs";

const tried = [10, 12, 14];
const copies = 4;
const repeats = 200_000;
const lanes = 4;
const trials = 8;

const vectorBytes = 16;
const resultsAt = 1024; // after the zeros at the beginning, which do not change

const [iterations, x, a, first] = [0, 1, 2, 3]; // locals: two parameters, then vectors

const fused = (acc) => [op.get(a), op.get(a), op.get(acc), op.f32x4RelaxedMadd, op.set(acc)];
const steps = {
  wide: fused,
  relaxed: fused,
  simd: (acc) => [op.get(acc), op.get(a), op.f32x4Mul, op.get(a), op.f32x4Add, op.set(acc)],
};

/** r(iterations: i32, a: f32) -> f32 */
export function peakModule(variant, accumulators) {
  const all = Array.from({ length: accumulators }, (_, i) => first + i);
  const once = all.flatMap(steps[variant]).flat();
  const hasOwnMemory = variant === "wide";
  const start = op.i32Const(0);
  const begin = (acc, i) =>
    hasOwnMemory
      ? [start, op.v128Load(vectorBytes * i), op.set(acc)]
      : [op.f32Const(1 + i), op.f32x4Splat, op.set(acc)];
  const end = hasOwnMemory
    ? [
        ...all.flatMap((acc, i) => [start, op.get(acc), op.v128Store(resultsAt + vectorBytes * i)]),
        ...[start, op.f32Load(resultsAt)],
      ]
    : [
        op.get(first),
        ...all.slice(1).flatMap((acc) => [op.get(acc), op.f32x4Add]),
        op.f32x4Lane(0),
      ];
  const body = [
    ...[op.get(x), op.f32x4Splat, op.set(a)],
    ...all.flatMap(begin),
    op.loop([
      ...Array.from({ length: copies }, () => once).flat(),
      ...[op.get(iterations), op.i32Const(-1), op.i32Add, op.tee(iterations)].flat(),
    ]),
    ...end,
  ].flat();
  const parameters = [type.i32, type.f32];
  return moduleOf({ parameters, result: type.f32, vectors: 1 + accumulators, body, hasOwnMemory });
}

/** @param {"wide" | "relaxed" | "simd"} variant */
export async function startPeak(variant, threads) {
  // simd converges to 1; the others add a millionth in each step.
  const factor = variant === "simd" ? 0.5 : 1e-3;
  const shares = Array.from({ length: threads }, () => [repeats, factor]);
  const loops = [];
  for (const registers of tried) {
    const accumulators = variant === "wide" ? 2 * registers : registers;
    const bytes = peakModule(variant, accumulators);
    const run = await startTogether(bytes, shares, Number.isFinite);
    const operations = 2 * lanes * accumulators * copies * repeats * threads;
    loops.push({ name: `peak of ${variant}`, variant, operations, run, speed: 0 });
  }
  for (let i = 0; i < trials; ++i)
    for (const loop of loops) {
      const start = performance.now();
      loop.run();
      loop.speed = Math.max(loop.speed, loop.operations / (performance.now() - start));
    }
  return loops.toSorted((a, b) => b.speed - a.speed)[0];
}
