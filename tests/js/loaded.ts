// Loads models of the hub in tests, and compares their results.

import type { Heed, Tensor } from "heed";
import { loadModel } from "heed/models";
import type { nn } from "heed/nn";
import { expect } from "vitest";
import type { Answer } from "./language_oracle.js";
import { expectValues } from "./modules.js";
import type { Values } from "./oracle.js";
import { any } from "./refusals/case.js";

/** Loads a model, and expects one of this class. */
export async function load<Model>(
  heed: Heed,
  source: Parameters<typeof loadModel>[1],
  Kind: new (...args: never[]) => Model,
  options = {},
): Promise<Model> {
  const model = await loadModel(heed, any(source) as string, options);
  if (model instanceof Kind) return model;
  expect.fail(`${model} is no ${Kind.name}`);
}

/** Runs a function with a model, in a scope, and frees the model. */
export function using<Model extends nn.Module>(
  heed: Heed,
  model: Model,
  run: (model: Model) => void,
): void {
  try {
    heed.scope(() => run(model));
  } finally {
    model.dispose();
  }
  expect(heed.memory().tensors.count).toBe(0);
  expect(heed.memory().packedWeights.count).toBe(0);
}

/** Expects the hidden states and the weights of attention that the oracle returns. */
export function expectStates(
  answer: Answer,
  states: readonly Tensor[],
  weights: readonly Values[],
): void {
  expect(states.length).toBe(answer.hidden.length);
  for (const [i, state] of states.entries()) expectValues(state, answer.hidden[i] as Values);
  expect(weights.length).toBe(answer.weights.length);
  for (const [i, { data, shape }] of weights.entries()) {
    const wanted = answer.weights[i] as Values;
    expect(shape).toEqual(wanted.shape);
    for (const [at, number] of Array.from(data).entries())
      expect(number).toBeCloseTo(wanted.data[at] as number, 5);
  }
}

/** Collects the weights of attention. */
export const seen =
  (weights: Values[]) =>
  (_: string, { shape, data }: Tensor) => {
    weights.push({ shape: [...shape], data: Array.from(data as Float32Array) });
  };

/** The root mean square of the differences, divided by the root mean square of the wanted numbers. */
export function errorOf(got: ArrayLike<number>, wanted: ArrayLike<number>): number {
  const norm = (numbers: number[]) => Math.sqrt(numbers.reduce((sum, x) => sum + x * x, 0));
  const all = Array.from(wanted);
  return norm(all.map((number, i) => number - (got[i] as number))) / norm(all);
}

/** The mean cross-entropy of logits in double precision. */
export function lossOf({ data, shape }: Values, targets: readonly number[]): number {
  const size = shape.at(-1) as number;
  const losses = targets.map((target, i) => {
    const row = Array.from(data).slice(i * size, (i + 1) * size);
    const sum = row.reduce((total, logit) => total + Math.exp(logit), 0);
    return Math.log(sum) - (row[target] as number);
  });
  return losses.reduce((total, each) => total + each, 0) / losses.length;
}

/** The slope of a loss in double precision at an entry of a parameter, which it reads. */
export function slopeAt({ data }: Values, at: number, loss: () => number): number {
  const own = data as number[];
  const kept = own[at] as number;
  const [above, below] = [1e-4, -1e-4].map((step) => {
    own[at] = kept + step;
    return loss();
  }) as [number, number];
  own[at] = kept;
  return (above - below) / 2e-4;
}
