// The most multiply-adds that one thread can do: a loop over registers, in a module made here.
//
//   repeat: acc[0..14) = a * a + acc      relaxed: one f32x4.relaxed_madd each
//           acc[0..14) = acc * a + a      simd: f32x4.mul and f32x4.add
//
// The second form is what keeps a compiler from computing a * a once and for all. 14 accumulators
// and the factor are all the registers that V8 gives on x86, and 12 accumulators are too few to
// hide the latency of mul and add: they reached 44 GFLOP/s where 14 reached 52. The body stands
// four times in the loop, so that its counter costs next to nothing. The accumulators begin with
// different numbers, so that no two are known to be the same, and all stay normal numbers.

const accumulators = 14;
const copies = 4;
const repeats = 50_000;
const lanes = 4;

const [i32, f32, v128] = [0x7f, 0x7d, 0x7b];
const [iterations, x, a, first] = [0, 1, 2, 3]; // locals: two parameters, then vectors

const get = (local) => [0x20, local];
const set = (local) => [0x21, local];
const tee = (local) => [0x22, local];
const splat = [0xfd, 0x13];
const lane0 = [0xfd, 0x1f, 0];
const add = [0xfd, 0xe4, 0x01];
const mul = [0xfd, 0xe6, 0x01];
const relaxedMadd = [0xfd, 0x85, 0x02];

function f32Const(value) {
  return [0x43, ...new Uint8Array(new Float32Array([value]).buffer)];
}

const steps = {
  relaxed: (acc) => [...get(a), ...get(a), ...get(acc), ...relaxedMadd, ...set(acc)],
  simd: (acc) => [...get(acc), ...get(a), ...mul, ...get(a), ...add, ...set(acc)],
};

function body(variant) {
  const all = Array.from({ length: accumulators }, (_, i) => first + i);
  return [
    ...[1, 1 + accumulators, v128], // one group of locals
    ...[...get(x), ...splat, ...set(a)],
    ...all.flatMap((acc, i) => [...f32Const(1 + i), ...splat, ...set(acc)]),
    ...[0x03, 0x40], // loop
    ...Array.from({ length: copies }, () => all.flatMap(steps[variant])).flat(),
    ...[...get(iterations), 0x41, 1, 0x6b, ...tee(iterations), 0x0d, 0], // br_if (--iterations)
    0x0b, // end of the loop
    ...get(first),
    ...all.slice(1).flatMap((acc) => [...get(acc), ...add]),
    ...[...lane0, 0x0b],
  ];
}

function leb(value) {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >> 7)];
}

const section = (id, content) => [id, ...leb(content.length), ...content];

/** A module that exports r(iterations: i32, a: f32) -> f32. */
function moduleOf(variant) {
  const code = body(variant);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [1, 0x60, 2, i32, f32, 1, f32]),
    ...section(3, [1, 0]),
    ...section(7, [1, 1, 0x72, 0, 0]),
    ...section(10, [1, ...leb(code.length), ...code]),
  ]);
}

/** @param {"relaxed" | "simd"} variant */
export function startPeak(variant) {
  const { r } = new WebAssembly.Instance(new WebAssembly.Module(moduleOf(variant))).exports;
  // relaxed adds a millionth each time; simd tends to 1.
  const factor = variant === "relaxed" ? 1e-3 : 0.5;
  return {
    name: `peak of ${variant}`,
    variant,
    operations: 2 * lanes * accumulators * copies * repeats,
    run() {
      if (!Number.isFinite(r(repeats, factor)))
        throw new Error(`the peak of ${variant} went out of range`);
    },
  };
}
