// The peak rate of multiply-adds of some threads: a loop over registers.
//
//   repeat: acc[0..14) = a * a + acc      relaxed: one f32x4.relaxed_madd each
//           acc[0..14) = acc * a + a      simd: f32x4.mul and f32x4.add
//
// The second form keeps a compiler from computing a * a outside the loop. Several numbers of
// accumulators are tried: with few, latency limits the rate (in V8 on x86, 12 reached 44 GFLOP/s and
// 14 reached 52); with more than there are registers, some are spilled (14 in Firefox). The loop is
// unrolled four times, so that its counter hardly takes time. The accumulators begin with different
// numbers, so that a compiler cannot merge them, and no number becomes subnormal or infinite.

import { startTogether } from "./threads.mjs";
import { moduleOf, op, type } from "./wasm.mjs";

const tried = [10, 12, 14];
const copies = 4;
const repeats = 200_000;
const lanes = 4;
const trials = 8;

const [iterations, x, a, first] = [0, 1, 2, 3]; // locals: two parameters, then vectors

const steps = {
  relaxed: (acc) => [op.get(a), op.get(a), op.get(acc), op.f32x4RelaxedMadd, op.set(acc)],
  simd: (acc) => [op.get(acc), op.get(a), op.f32x4Mul, op.get(a), op.f32x4Add, op.set(acc)],
};

/** r(iterations: i32, a: f32) -> f32 */
function moduleFor(variant, accumulators) {
  const all = Array.from({ length: accumulators }, (_, i) => first + i);
  const once = all.flatMap(steps[variant]).flat();
  const body = [
    ...[op.get(x), op.f32x4Splat, op.set(a)],
    ...all.flatMap((acc, i) => [op.f32Const(1 + i), op.f32x4Splat, op.set(acc)]),
    op.loop([
      ...Array.from({ length: copies }, () => once).flat(),
      ...[op.get(iterations), op.i32Const(-1), op.i32Add, op.tee(iterations)].flat(),
    ]),
    op.get(first),
    ...all.slice(1).flatMap((acc) => [op.get(acc), op.f32x4Add]),
    op.f32x4Lane(0),
  ].flat();
  const parameters = [type.i32, type.f32];
  return moduleOf({ parameters, result: type.f32, vectors: 1 + accumulators, body });
}

/** @param {"relaxed" | "simd"} variant */
export async function startPeak(variant, threads) {
  // relaxed adds a millionth in each step; simd converges to 1.
  const factor = variant === "relaxed" ? 1e-3 : 0.5;
  const shares = Array.from({ length: threads }, () => [repeats, factor]);
  const loops = [];
  for (const accumulators of tried) {
    const bytes = moduleFor(variant, accumulators);
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
