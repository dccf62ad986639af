// Valid random calls agree with the reference, with one thread and with two. `./dev soak` runs the same calls for
// any time.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { reached } from "../calls/attention.js";
import { rightCalls } from "../calls/index.js";
import { describeEngines } from "../engine.js";

describeEngines((heed) => {
  for (const [name, { given, run }] of Object.entries(rightCalls))
    test(name, () => {
      // The same calls in each run of the tests, and others for each number of threads.
      const seed = 18 + heed().info.threads;
      fc.assert(
        fc.property(given, (drawn) => void run(heed(), drawn)),
        { seed, numRuns: 60 },
      );
    });

  test("caches become long, and drop tokens", () => {
    expect(reached.length).toBeGreaterThan(300);
    expect(reached.dropped).toBeGreaterThan(0);
  });
});
