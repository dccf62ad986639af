// Bad input: every operation refuses it with a code and a message that names the argument, what was
// expected and what came, and the engine goes on as if nothing had been asked.

import type { Tensor } from "heed";
import { describe, expect, test } from "vitest";
import { describeEngines, refusal } from "./engine.js";
import { attention } from "./refusals/attention.js";
import type { Make } from "./refusals/case.js";
import { multiHeadAttention } from "./refusals/multi_head_attention.js";
import { steps } from "./refusals/steps.js";
import { expectWorks, sizeOf } from "./values.js";

describeEngines((heed) => {
  for (const [name, cases] of Object.entries({ attention, multiHeadAttention, steps })) {
    describe(name, () => {
      for (const { what, call, code, argument, expected, got } of cases) {
        test(`refuses ${what}`, () => {
          const made: Tensor[] = [];
          const make: Make = (...shape) => {
            const tensor = heed().tensor(new Float32Array(sizeOf(shape)).fill(1), shape);
            made.push(tensor);
            return tensor;
          };
          heed().scope(() => {
            const error = refusal(() => call(heed(), make));
            expect(error.message).toBe(`${argument}: expected ${expected}, got ${got}`);
            expect(error.code).toBe(code);
            // What was given is as it was.
            expect(made.every((tensor) => tensor.data.every((x) => x === 1))).toBe(true);
          });
          expectWorks(heed());
        });
      }
    });
  }
});
