// Bad input: every operation throws a HeedError with a code and a message that names the argument, the
// expected value and the given value. Afterwards the engine works as before. All this also holds while a
// tape records.

import type { Heed, Tensor } from "heed";
import { Tape } from "heed/nn";
import { describe, expect, test } from "vitest";
import { describeEngines, engine, refusal } from "../engine.js";
import { attention } from "../refusals/attention.js";
import { attentionOptions } from "../refusals/attention_options.js";
import { attentionPooling } from "../refusals/attention_pooling.js";
import { blockMask } from "../refusals/block_mask.js";
import type { Make } from "../refusals/case.js";
import { gradients } from "../refusals/gradients.js";
import { kvCache } from "../refusals/kv_cache.js";
import { layers } from "../refusals/layers.js";
import { linearAttention } from "../refusals/linear_attention.js";
import { mergeAttention } from "../refusals/merge_attention.js";
import { modules } from "../refusals/modules.js";
import { multiHeadAttention } from "../refusals/multi_head_attention.js";
import { losses, operands } from "../refusals/operands.js";
import { packedSequences } from "../refusals/packed.js";
import { rope } from "../refusals/rope.js";
import { sampling } from "../refusals/sampling.js";
import { steps } from "../refusals/steps.js";
import { tensor } from "../refusals/tensor.js";
import { expectWorks, sizeOf } from "../values.js";

/** Wraps an engine and records which tensors it returned. The engine itself must free all others. */
function noting(heed: Heed, given: Set<unknown>): Heed {
  const note = (value: unknown) => {
    for (const tensor of Array.isArray(value) ? value : [value]) given.add(tensor);
    if (value?.constructor === Object) for (const part of Object.values(value)) given.add(part);
    return value;
  };
  return new Proxy(heed, {
    get(target, name) {
      const member = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => note(member.apply(target, args));
    },
  });
}

/** Returns the tensors that an engine creates while a function runs. */
function madeBy(heed: Heed, run: () => void): Tensor[] {
  const { engine } = heed as unknown as { engine: { track(tensor: Tensor): Tensor } };
  const made: Tensor[] = [];
  const track = engine.track;
  engine.track = (tensor) => {
    made.push(tensor);
    return track.call(engine, tensor);
  };
  try {
    run();
  } finally {
    engine.track = track;
  }
  return made;
}

const other = engine({ threads: 1 });

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
    operands,
    layers,
    attentionPooling,
    sampling,
    gradients,
    losses,
  })) {
    describe(name, () => {
      for (const [what, [call, refused]] of Object.entries(cases)) {
        /** The tensors that the call made and neither gave nor freed. */
        const leftBy = (within: (call: () => unknown) => unknown): Tensor[] => {
          const made: Tensor[] = [];
          const given = new Set<unknown>();
          const noted = noting(heed(), given);
          const make: Make = (...shape) => {
            const tensor = noted.tensor(new Float32Array(sizeOf(shape)).fill(1), shape);
            made.push(tensor);
            return tensor;
          };
          return heed().scope(() => {
            const all = madeBy(heed(), () => {
              const error = refusal(() => within(() => call(noted, make, other())));
              expect(`${error.code}: ${error.message}`).toBe(refused);
            });
            // The arguments are unchanged.
            expect(made.every((tensor) => tensor.data.every((x) => x === 1))).toBe(true);
            return all.filter((tensor) => !given.has(tensor) && !tensor.isDisposed);
          });
        };
        test(`refuses ${what}`, () => {
          expect(leftBy((call) => call())).toEqual([]);
          expectWorks(heed());
          if (cases === gradients || cases === losses) return;
          const source = heed().tensor([1]);
          leftBy((call) => new Tape([source]).run(call));
          source.dispose();
          expectWorks(heed());
        });
      }
    });
  }
});
