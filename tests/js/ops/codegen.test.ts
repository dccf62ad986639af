// The inner loops of the products in the binaries, as V8 compiles them: instructions for each multiply-add and
// accesses to the stack. A processor that starts four instructions a cycle is bound by the instructions. V8 must also
// merge the vectors of two other loops: the loop that measures the limit of the machine, and the loop by which `load`
// detects merging. A last test limits the length of the functions of a first call.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loopsModule } from "../../../dist/load/probe.js";
import { arithmeticLoop } from "../../../web/src/rooms/speed/loops.js";
import { loopsOf, mergedLoops, productLoops } from "../../bench/codegen.mjs";
import { peakModule } from "../../bench/page/peak.mjs";
import { missing, recentNode } from "../../harness/v8.mjs";

const flags = missing === undefined ? readFileSync("/proc/cpuinfo", "utf8") : "";
const whyNot256 = missing ?? (/ avx2 /.test(flags) ? undefined : "this processor has no AVX2");
const whyNoDot = missing ?? (/ avx_vnni /.test(flags) ? undefined : "this processor has no VNNI");

/** Scores and values of attention, the products of its gradient, linear layers and matmul, some in several functions. */
function expectShortLoops(
  variant: "wide" | "relaxed" | "simd",
  rows: number,
  most: number,
  count: number,
): void {
  const short = productLoops(variant).filter(
    (loop) => loop.rows === rows && loop.instructions / loop.multiplyAdds <= most,
  );
  expect(short.length).toBeGreaterThanOrEqual(count);
  expect(short.filter(({ stack }) => stack > 0)).toEqual([]);
}

describe.skipIf(missing !== undefined)("the inner loops of products of floats", () => {
  test.each([
    // A block has 6 rows of two vectors with fused multiply-adds, and 4 without; then a multiply-add is two
    // instructions. Without the first step before the loop there are 2.67 and 3.58 instructions. The simd binary is
    // written for JavaScriptCore: a number is loaded and copied by two instructions (src/simd/vector.hpp).
    ["relaxed", 6, 2.1, 7],
    ["simd", 4, 3.9, 7],
  ] as const)(
    "of the %s binary: %d rows, at most %d instructions a multiply-add",
    expectShortLoops,
  );
});

test.skipIf(whyNoDot !== undefined)(
  "the relaxed binary multiplies four rows of bytes with one instruction for each 16 products",
  () => {
    const dots = (loop: string[]) => loop.filter((text) => text.startsWith("vpdpbusd")).length;
    const found = loopsOf("relaxed").filter((loop: string[]) => dots(loop) === 16);
    expect(found.length).toBeGreaterThan(0);
    // Four rows, two vectors of columns and two groups of four depths, with at most two other instructions for each.
    const isShort = (loop: string[]) =>
      loop.length <= 48 && !loop.some((text) => /xmm.*\[r[bs]p/.test(text));
    expect(found.filter(isShort).length).toBeGreaterThan(0);
  },
);

test.skipIf(whyNoDot !== undefined)(
  "the relaxed binary computes the same bits with and without this instruction",
  () => {
    const program = `
    import { load } from ${JSON.stringify(new URL("../../../dist/index.js", import.meta.url))};
    const heed = await load({ threads: 1, variant: "relaxed" });
    let seed = 7;
    const next = () => (seed = (seed * 48271) % 2147483647) / 2147483647 - 0.5;
    const random = (rows, cols) => heed.tensor(Float32Array.from({ length: rows * cols }, next), [rows, cols]);
    for (const format of ["int8", "int4"])
      for (const rows of [1, 2, 5, 13]) {
        const y = heed.linear(random(rows, 100), heed.packWeights(random(21, 100), { format }));
        console.log(Array.from(y.data).join());
      }
    process.exit(0);`;
    const printed = ["--enable-avx-vnni", "--no-enable-avx-vnni"].map((flag) =>
      execFileSync(recentNode(), [flag, "--input-type=module", "--eval", program], {
        encoding: "utf8",
      }),
    );
    expect(printed[0]?.trim().split("\n")).toHaveLength(8);
    expect(printed[1]).toBe(printed[0]);
  },
);

// V8 runs a function slowly until all of it is optimised, so the rare code of a long function delays its frequent code.
// As one function of 13 KB the first attention took 27 ms to be optimised.
test.skipIf(missing !== undefined).each(["relaxed", "simd"] as const)(
  "V8 optimises an attention of the %s binary in functions of less than 4 KB",
  (variant) => {
    const program = `
    import { load } from ${JSON.stringify(new URL("../../../dist/index.js", import.meta.url))};
    const heed = await load({ threads: 1, variant: "${variant}" });
    const x = heed.tensor(new Float32Array(4 * 512 * 64), [1, 4, 512, 64]);
    for (let i = 0; i < 12; ++i) heed.attention(x, x, x).output.dispose();
    setTimeout(() => process.exit(), 500); // V8 optimises beside the program`;
    const options = ["--trace-wasm-compilation-times", "--input-type=module", "--eval", program];
    const printed = execFileSync(recentNode(), options, { encoding: "utf8" });
    const lines = printed.matchAll(/ using TurboFan, .* bodysize (\d+) /g);
    const sizes = Array.from(lines, (line) => Number(line[1])).filter((size) => size > 500);
    expect(sizes.length).toBeGreaterThan(5);
    expect(Math.max(...sizes)).toBeLessThan(4000);
  },
);

describe.skipIf(whyNot256 !== undefined)("an engine that merges vectors merges", () => {
  const countIn = (loop: string[], pattern: RegExp) =>
    loop.filter((text) => pattern.test(text)).length;

  // V8 does not report that it cannot merge the two halves of a vector; there are only fewer such loops.
  test("the products of the wide binary: 6 rows, at most 2.2 instructions a multiply-add of 256 bits", () => {
    expectShortLoops("wide", 6, 2.2, 6);
  });

  test.each([10, 12, 14])("the loops of the limits, in %d registers", (registers) => {
    for (const bytes of [
      peakModule("wide", 2 * registers),
      arithmeticLoop("wide", 2 * registers),
    ]) {
      const [loop = [], ...others] = mergedLoops(bytes);
      expect(others).toEqual([]);
      expect(countIn(loop, /^vfmadd\d+ps ymm/)).toBe(4 * registers);
      expect(countIn(loop, /^vfmadd\d+ps xmm/)).toBe(0);
    }
  });

  test("the sums of the measurement that are stored in pairs, and not the others", () => {
    const loops = mergedLoops(loopsModule());
    expect(loops.length).toBe(2);
    const wide = loops.map((loop) => countIn(loop, /^vaddps ymm/));
    const narrow = loops.map((loop) => countIn(loop, /^vaddps xmm/));
    // A loop may be unrolled.
    const steps = Math.max(...wide) / 7;
    expect(Number.isInteger(steps)).toBe(true);
    expect(wide).toContain(0);
    expect(narrow).toContain(0);
    expect(Math.max(...narrow) % 14).toBe(0);
  });
});
