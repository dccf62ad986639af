// A valid call of each method of an engine, whose arguments refused.ts replaces one by one: the calls of the table of
// operations, and further ones with other options.

import type { Heed, Tensor } from "heed";
import { type Call, made } from "../operations/operation.js";
import { entriesOf } from "../operations/table.js";

/** The arguments of a valid call. `t` makes a tensor of ones. */
type Arguments = (heed: Heed, t: (...shape: number[]) => Tensor) => readonly unknown[];

/** The method that a title begins with. */
export const methodOf = (title: string) => title.split(/[ ,]/)[0] as string;

/** The arguments that a call of the table passes to a method. */
function argumentsOf(name: string, [taken, call]: Call): Arguments {
  return (heed) => {
    let given: readonly unknown[] = [];
    const recorder = new Proxy(heed, {
      get: (_, member) => {
        if (member === name)
          return (...all: unknown[]) => {
            given = all;
          };
        const value = Reflect.get(heed, member);
        return typeof value === "function" ? value.bind(heed) : value;
      },
    });
    const tensors = Object.entries(taken).map(([name, one]) => [name, made(heed, one)]);
    call(recorder, Object.fromEntries(tensors));
    return given;
  };
}

export const methods: Readonly<Record<string, Arguments>> = {
  ...Object.fromEntries(
    entriesOf("calls").map(([title, call]) => [title, argumentsOf(methodOf(title), call)]),
  ),

  tensor: () => [[1, 2, 3], [3, 1], "float32"],
  scope: () => [() => 1],
  keep: () => [1],
  fromTorchMask: (h) => [h.tensor([true, false])],

  attention: (h, t) => [
    ...[t(1, 2, 3, 4), t(1, 2, 5, 4), t(1, 2, 5, 4)],
    {
      ...{ scale: 0.5, isCausal: true, causalOffset: [1], window: [2, 1], softcap: 3 },
      ...{ mask: h.tensor(new Uint8Array(5).fill(1), [5], "bool"), kvLengths: [4], bias: t(3, 5) },
      ...{ alibiSlopes: [1, 2], sinks: [1, 2], dropout: 0.1, seed: 3, precision: "float32" },
      ...{ needWeights: true, needLse: true, capture: ["scores", "entropy"] },
    },
  ],
  "attention of heads": (_, t) => [
    ...[t(1, 3, 8), t(1, 5, 4), t(1, 5, 4)],
    { heads: 2, kvHeads: 1, blockMask: undefined, past: undefined },
  ],
  "attention of a past": (_, t) => [
    ...[t(1, 2, 3, 4), t(1, 2, 5, 4), t(1, 2, 5, 4)],
    { past: { key: t(1, 2, 2, 4), value: t(1, 2, 2, 4) } },
  ],
  "attention of packed sequences": (_, t) => [
    ...[t(4, 2, 3), t(6, 2, 3), t(6, 2, 3)],
    { cuSeqlens: { q: [0, 1, 4], k: [0, 2, 6] }, isCausal: true },
  ],
  "attention of a cache": (h, t) => [
    ...[t(1, 2, 1, 4), t(1, 2, 1, 4), t(1, 2, 1, 4)],
    { past: h.createKvCache({ heads: 2, headSize: 4, capacity: 4 }), kvLengths: [1] },
  ],
  "attention of blocks": (h, t) => [
    ...[t(1, 1, 3, 4), t(1, 1, 5, 4), t(1, 1, 5, 4)],
    { blockMask: h.blockMask(({ q, k }) => k <= q, { queries: 3, keys: 5 }) },
  ],
  linearAttention: (_, t) => [
    ...[t(1, 2, 3, 4), t(1, 2, 3, 4), t(1, 2, 3, 4)],
    { rule: "gatedDelta", scale: 1, decay: t(1, 2, 3), beta: t(1, 2, 3), pastState: t(1, 2, 4, 4) },
  ],
  multiHeadAttention: (_, t) => [
    ...[t(1, 2, 4), t(1, 3, 4), t(1, 3, 4)],
    { inProjWeight: t(12, 4), inProjBias: t(12), outProjWeight: t(4, 4), outProjBias: t(4) },
    { heads: 2, isCausal: true, needWeights: true, averageWeights: true },
  ],
  blockMask: () => [
    ({ q, k }: { q: number; k: number }) => k <= q,
    { batch: 1, heads: 2, queries: 3, keys: 4 },
  ],
  createKvCache: () => [
    {
      ...{ batch: 4, heads: 2, headSize: 4, valueSize: 4, capacity: 9, dtype: "float16" },
      isRolling: true,
    },
  ],
  "rope of an offset": (_, t) => [
    t(1, 2, 3, 4),
    { style: "half", rotarySize: 2, base: 100, offset: 3 },
  ],
  "cast to another type": (_, t) => [t(2, 3), "float16"],
};

/** Valid calls of a cache's methods. */
export const cacheMethods: Readonly<Record<string, Arguments>> = {
  append: (_, t) => [t(2, 1, 2, 3), t(2, 1, 2, 3), [1, 2]],
  rewind: () => [1, 0],
  share: () => [{ from: 0, to: 1, tokens: 1 }],
  reorder: () => [[1, 0]],
};
