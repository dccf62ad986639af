// Random calls in which an argument is replaced: each is right, or refused with a typed error that names the argument;
// and the engine is usable after. `./dev soak` runs the same calls for any time.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cacheMethods, methodOf, methods } from "../calls/methods.js";
import { callStrangely, strangeCall } from "../calls/refused.js";
import { engine } from "../engine.js";
import { operations } from "../operations/table.js";
import { expectWorks } from "../values.js";

/** The same calls in each run of the tests: a failure then comes from a change. */
const seed = 18;

describe("random calls with what does not fit", () => {
  const MiB = 2 ** 20;
  const heed = engine({ threads: 2, maxMemory: 64 * MiB });
  const other = engine({ threads: 1, maxMemory: 16 * MiB });

  test("are refused with an error that names the argument, or are right", () => {
    let refused = 0;
    fc.assert(
      fc.property(strangeCall, (call) => {
        if (callStrangely(heed(), other(), call)) ++refused;
        expectWorks(heed());
      }),
      { seed, numRuns: 8000 },
    );
    expect(refused).toBeGreaterThan(5000);
    expect(heed().memory().tensors.count).toBe(0);
  });

  test("are made of all methods", () => {
    const names = new Set(Object.keys(methods).map(methodOf));
    expect([...names].sort()).toEqual(
      [
        ...Object.keys(operations),
        "tensor",
        "scope",
        "keep",
        "fromTorchMask",
        "blockMask",
        "createKvCache",
      ].sort(),
    );
    expect(Object.keys(cacheMethods).sort()).toEqual(["append", "reorder", "rewind", "share"]);
  });
});
