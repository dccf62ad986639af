// Gives modules random parameters for tests.

import type { Heed, Tensor } from "heed";
import type { nn } from "heed/nn";
import { Parameters } from "./layer_oracle.js";
import type { Values } from "./oracle.js";
import { expectClose, Random, sizeOf } from "./values.js";

/** Replaces all parameters, including biases, by random values, and returns a copy of them. */
export function randomise(module: nn.Module, seed: number): Parameters {
  const random = new Random(seed);
  const dict = module.stateDict();
  for (const tensor of Object.values(dict)) {
    const spread = tensor.shape.length > 1 ? 1 / Math.sqrt(tensor.shape.at(-1) as number) : 0.5;
    const around = tensor.data.every((value) => value === 1) ? 1 : 0;
    tensor.data.set(random.array(tensor.shape, spread).data.map((value) => around + value));
  }
  return parametersOf(module);
}

export function parametersOf(module: nn.Module): Parameters {
  const copies = Object.entries(module.stateDict()).map(([name, { data, shape }]) => [
    name,
    { data: Array.from(data), shape: [...shape] },
  ]);
  return new Parameters(Object.fromEntries(copies));
}

export function expectValues(tensor: Tensor, { data, shape }: Values, tolerance?: number): void {
  expectClose(tensor, shape, data, tolerance);
}

export function ids(heed: Heed, shape: readonly number[], most: number, seed: number): Tensor {
  const random = new Random(seed);
  return heed.tensor(
    Int32Array.from({ length: sizeOf(shape) }, () => random.whole(0, most - 1)),
    shape,
  );
}
