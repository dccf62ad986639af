// Trains the models of tasks in tests, step by step.

import type { Heed, KvCache, Tensor } from "heed";
import type { Example, TaskModel } from "heed/models";
import { optim, valueAndGrad } from "heed/nn";
import { expect, vi } from "vitest";
import { Random } from "./values.js";

/** Trains for a number of steps on drawn examples; returns the loss of each step. */
export function train<E extends Example>(
  heed: Heed,
  model: TaskModel<E>,
  draw: (random: Random) => E,
  steps: number,
): number[] {
  const random = new Random(5);
  using optimizer = new optim.AdamW(model, { learningRate: 0.01 });
  return Array.from({ length: steps }, () =>
    heed.scope(() => {
      const examples = Array.from({ length: 16 }, () => draw(random));
      const { value, gradients } = valueAndGrad(model, () => model.forward(examples).loss);
      optim.clipGradNorm(gradients, 1);
      optimizer.step(gradients);
      return value;
    }),
  );
}

/** Waits for the next turn of the event loop. */
export const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

/** From now on, notes the tensors that outlive a turn of the event loop, and the caches, of an engine. */
export async function watched(heed: Heed) {
  await turn();
  // Objects that outlive a turn are registered with a FinalizationRegistry.
  const tensors = vi.spyOn(FinalizationRegistry.prototype, "register");
  const caches = vi.spyOn(heed, "createKvCache");
  return {
    async expectNothingLeft(): Promise<void> {
      await turn();
      const left = tensors.mock.calls.filter(([tensor]) => !(tensor as Tensor).isDisposed);
      expect(left).toHaveLength(0);
      for (const { value } of caches.mock.results)
        expect(() => (value as KvCache).lengths).toThrow("disposed");
    },
    [Symbol.dispose]() {
      tensors.mockRestore();
      caches.mockRestore();
    },
  };
}
