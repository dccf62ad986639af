// Plain JavaScript: the definition in double precision, as the oracle has it.

import { nonLocalMeans } from "./oracle.mjs";

/** For each kind, a function that computes a case. */
const kinds = { nonLocalMeans: (one, inputs) => nonLocalMeans(one, inputs, 0, one.H) };

export function javaScript(_threads, one, inputs) {
  const compute = kinds[one.kind];
  if (!compute) return [];
  const run = () => compute(one, inputs);
  return [{ name: "plain JavaScript", prepare: async () => ({ answer: run, run }) }];
}
