// Bad input: every operation refuses it with a code and a message that names the argument, what was
// expected and what came, and the engine goes on as if nothing had been asked.

import type { Tensor } from "heed";
import { describe, expect, test } from "vitest";
import { describeEngines, refusal } from "./engine.js";
import { attention } from "./refusals/attention.js";
import { attentionOptions } from "./refusals/attention_options.js";
import { blockMask } from "./refusals/block_mask.js";
import type { Make } from "./refusals/case.js";
import { kvCache } from "./refusals/kv_cache.js";
import { linearAttention } from "./refusals/linear_attention.js";
import { mergeAttention } from "./refusals/merge_attention.js";
import { modules } from "./refusals/modules.js";
import { multiHeadAttention } from "./refusals/multi_head_attention.js";
import { packedSequences } from "./refusals/packed.js";
import { rope } from "./refusals/rope.js";
import { steps } from "./refusals/steps.js";
import { tensor } from "./refusals/tensor.js";
import { expectWorks, sizeOf } from "./values.js";

describeEngines((heed) => {
  for (const [name, cases] of Object.entries({
    tensor,
    attention,
    attentionOptions,
    packedSequences,
    kvCache,
    blockMask,
    mergeAttention,
    linearAttention,
    multiHeadAttention,
    modules,
    rope,
    steps,
  })) {
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
