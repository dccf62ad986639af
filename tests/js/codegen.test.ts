// The inner loops of the products in the binaries, as V8 compiles them: instructions for each multiply-add and
// accesses to the stack. A processor that starts four instructions a cycle is bound by the instructions.

import { describe, expect, test } from "vitest";
import { productLoops } from "../bench/codegen.mjs";
import { missing } from "../harness/v8.mjs";

describe.skipIf(missing !== undefined)("the inner loops of products of floats", () => {
  test.each([
    // A block has 6 rows of two vectors with fused multiply-adds, and 4 without; then a multiply-add is two
    // instructions. Without the first step before the loop there are 2.67 and 3.58 instructions.
    // In wide these are operations on 256 bits, of V8 with revectorization. Where it fails to merge the two
    // halves of a vector, there is no word of it, only fewer such loops.
    ["wide", 6, 2.2, 8],
    ["relaxed", 6, 2.1, 9],
    ["simd", 4, 3.4, 9],
  ] as const)(
    "of the %s binary: %d rows, at most %d instructions a multiply-add",
    (variant, rows, most, count) => {
      const loops = productLoops(variant);
      const short = loops.filter(
        (loop) => loop.rows === rows && loop.instructions / loop.multiplyAdds <= most,
      );
      // Scores and values of attention, the products of its gradient, linear layers and matmul, some of them in
      // several functions.
      expect(short.length).toBeGreaterThanOrEqual(count);
      expect(short.filter(({ stack }) => stack > 0)).toEqual([]);
    },
  );
});
