// The most multiply-adds that threads can do: a loop over registers.
//
//   repeat: acc[0..14) = a * a + acc      relaxed: one f32x4.relaxed_madd each
//           acc[0..14) = acc * a + a      simd: f32x4.mul and f32x4.add
//
// The second form is what keeps a compiler from computing a * a once and for all. 14 accumulators
// and the factor are all the registers that V8 gives on x86, and 12 accumulators are too few to
// hide the latency of mul and add: they reached 44 GFLOP/s where 14 reached 52. The body stands
// four times in the loop, so that its counter costs next to nothing. The accumulators begin with
// different numbers, so that no two are known to be the same, and all stay normal numbers.

import { startTogether } from "./threads.mjs";
import { moduleOf, op, type } from "./wasm.mjs";

const accumulators = 14;
const copies = 4;
const repeats = 200_000;
const lanes = 4;

const [iterations, x, a, first] = [0, 1, 2, 3]; // locals: two parameters, then vectors
const all = Array.from({ length: accumulators }, (_, i) => first + i);

const steps = {
  relaxed: (acc) => [op.get(a), op.get(a), op.get(acc), op.f32x4RelaxedMadd, op.set(acc)],
  simd: (acc) => [op.get(acc), op.get(a), op.f32x4Mul, op.get(a), op.f32x4Add, op.set(acc)],
};

/** r(iterations: i32, a: f32) -> f32 */
function moduleFor(variant) {
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
  // relaxed adds a millionth each time; simd tends to 1.
  const factor = variant === "relaxed" ? 1e-3 : 0.5;
  const shares = Array.from({ length: threads }, () => [repeats, factor]);
  const run = await startTogether(moduleFor(variant), shares, Number.isFinite);
  return {
    name: `peak of ${variant}`,
    variant,
    operations: 2 * lanes * accumulators * copies * repeats * threads,
    run,
  };
}
