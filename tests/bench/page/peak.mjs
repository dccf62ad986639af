// The peak rate of multiply-adds of some threads: a loop over registers. The loop repeats one of
// these:
//
//   `relaxed`  acc[0..14) = a * a + acc, one f32x4.relaxed_madd each.
//   `simd`     acc[0..14) = acc * a + a, an f32x4.mul and an f32x4.add each.
//   `wide`     acc[0..28) = a * a + acc, as relaxed, for V8 to merge into 14 of 256 bits.
//   `dot`      acc[0..14) += the products of four bytes in each lane, one relaxed dot product each.
//   `pairs`    the same with products of 16 bits, twice as many: two relaxed dot products, which
//              are added, and an i32x4.dot_i16x8 that adds their pairs.
//
// The last two are the limit of products of bytes: a CPU with VNNI has an instruction for `dot`,
// others are faster with `pairs`. In `pairs`, acc is a factor, so that a compiler cannot compute the
// products once.
//
// V8 merges chains that begin with loads and end with stores of neighbours in memory. The form
// of `simd` keeps a compiler from computing a * a outside the loop. Several numbers of accumulators are
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
/** Multiply-adds of a step in a lane. */
const products = { pairs: 8, dot: 4, wide: 1, relaxed: 1, simd: 1 };
const trials = 8;

const vectorBytes = 16;
const resultsAt = 1024; // after the zeros at the beginning, which do not change

const [iterations, x, a, first] = [0, 1, 2, 3]; // locals: two parameters, then vectors

const fused = (acc) => [op.get(a), op.get(a), op.get(acc), op.f32x4RelaxedMadd, op.set(acc)];
const pairs = (acc) => [
  ...[op.get(acc), op.get(acc), op.get(a), op.i16x8RelaxedDot],
  ...[op.get(a), op.get(acc), op.i16x8RelaxedDot, op.i16x8Add],
  ...[op.get(a), op.i32x4DotI16x8, op.i32x4Add, op.set(acc)],
];
const steps = {
  pairs,
  dot: (acc) => [op.get(a), op.get(a), op.get(acc), op.i32x4RelaxedDotAdd, op.set(acc)],
  wide: fused,
  relaxed: fused,
  simd: (acc) => [op.get(acc), op.get(a), op.f32x4Mul, op.get(a), op.f32x4Add, op.set(acc)],
};

/** r(iterations: i32, a: f32) -> f32 */
export function peakModule(variant, accumulators) {
  const all = Array.from({ length: accumulators }, (_, i) => first + i);
  const once = all.flatMap(steps[variant]).flat();
  const hasOwnMemory = variant === "wide";
  const isOfBytes = variant === "dot" || variant === "pairs";
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
        ...all.slice(1).flatMap((acc) => [op.get(acc), isOfBytes ? op.i32x4Add : op.f32x4Add]),
        ...(isOfBytes ? [op.f32x4ConvertI32x4] : []),
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

/**
 * Starts the fastest of some forms of a loop.
 *
 * @param {("wide" | "relaxed" | "simd" | "dot" | "pairs")[]} variants
 */
async function fastestOf(variants, threads) {
  const loops = [];
  for (const variant of variants)
    for (const registers of tried) {
      // simd converges to 1; relaxed and wide add a millionth in each step; whole numbers may wrap.
      const factor = variant === "simd" ? 0.5 : 1e-3;
      const shares = Array.from({ length: threads }, () => [repeats, factor]);
      const accumulators = variant === "wide" ? 2 * registers : registers;
      const run = await startTogether(peakModule(variant, accumulators), shares, Number.isFinite);
      const count = accumulators * copies * repeats * threads;
      loops.push({ operations: 2 * lanes * products[variant] * count, run, speed: 0 });
    }
  for (let i = 0; i < trials; ++i)
    for (const loop of loops) {
      const start = performance.now();
      loop.run();
      loop.speed = Math.max(loop.speed, loop.operations / (performance.now() - start));
    }
  return loops.toSorted((a, b) => b.speed - a.speed)[0];
}

/** @param {"wide" | "relaxed" | "simd"} variant */
export const startPeak = async (variant, threads) => ({
  ...(await fastestOf([variant], threads)),
  ...{ name: `peak of ${variant}`, variant },
});

/** The limit of products of bytes, for every binary; for engines with relaxed SIMD. */
export const startBytePeak = async (threads) => ({
  ...(await fastestOf(["dot", "pairs"], threads)),
  name: "peak of bytes",
});
