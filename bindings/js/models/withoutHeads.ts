// Runs models without some of their heads (Michel, Levy and Neubig, "Are Sixteen Heads Really
// Better than One?", 2019).

import { describe, refuse } from "../core/error.js";
import { checkArgument, isFunction, isWholeNumber } from "../core/validate.js";
import { Module } from "../nn/module.js";
import type { HubModel } from "./language/load.js";
import { TaskModel } from "./model.js";

/** A head, named as in ExampleWeights, HeadAlignment and captureAttention. */
export interface Head {
  /** The path of the attention. */
  readonly path: string;
  /** The head's index, from 0. */
  readonly head: number;
}

const isHubModel = (model: unknown): model is HubModel =>
  model instanceof Module && "attentions" in model && model.attentions instanceof Map;

const suffix = ".out_proj.weight";

/**
 * Runs a function while some heads of a model are switched off:
 *
 *     const [answer] = await withoutHeads(model, [{ path, head: 2 }], () => model.answer([example]));
 *
 * These heads add zero to the output of their attention; their weights are computed as usual. Other
 * uses of the model during that time are affected, too. Afterwards the parameters have their former
 * values.
 *
 * @returns the result of `run`
 * @throws HeedError "option" for a head that the model does not have; recurrent models have none
 * @example
 * ```ts
 * const task = tasks.copy({ maxLength: 4 });
 * const model = createModel(heed, configOf(task, "transformer", { size: 16, layers: 1, heads: 2 })).eval();
 * const path = "decoder.layers.0.multihead_attn";
 * const [answer] = await withoutHeads(model, [{ path, head: 0 }], () => model.answer([task.read!("ab")]));
 * console.log(answer!.kind); // prints: tokens
 * ```
 */
export async function withoutHeads<T>(
  model: TaskModel | HubModel,
  heads: readonly Head[],
  run: () => T | Promise<T>,
): Promise<T> {
  checkArgument("model", model, {
    expected: "a model",
    accepts: (value) => value instanceof TaskModel || isHubModel(value),
  });
  checkArgument("heads", heads, {
    expected: "a list of { path, head }",
    accepts: Array.isArray,
  });
  checkArgument("run", run, isFunction);
  return model instanceof TaskModel
    ? withoutColumns(model, heads, run)
    : withAblatedHeads(model, heads, run);
}

/** @param counts the number of heads of each attention, by its path */
function checkHeads(heads: readonly Head[], counts: ReadonlyMap<string, number>): void {
  for (const [i, each] of heads.entries()) {
    const count = counts.get(each?.path);
    if (count === undefined) {
      const paths = [...counts.keys()].join(", ");
      const expected = paths === "" ? "none in this model" : `one of ${paths}`;
      throw refuse("option", `heads[${i}].path`, expected, describe(each?.path));
    }
    checkArgument(`heads[${i}].head`, each.head, isWholeNumber(0, count - 1));
  }
}

/**
 * Runs a function on a model of the hub, whose weights may be packed: its attentions set the
 * outputs of these heads to zero.
 */
async function withAblatedHeads<T>(
  { attentions }: HubModel,
  heads: readonly Head[],
  run: () => T | Promise<T>,
): Promise<T> {
  checkHeads(heads, new Map([...attentions].map(([path, { sizes }]) => [path, sizes.heads])));
  const before = [...attentions].map(([path, attention]) => {
    const { ablated } = attention;
    const own = heads.filter((each) => each.path === path).map(({ head }) => head);
    attention.ablated = new Set([...ablated, ...own]);
    return { attention, ablated };
  });
  try {
    return await run();
  } finally {
    for (const { attention, ablated } of before) attention.ablated = ablated;
  }
}

/**
 * Runs a function on a model of a task while the columns of the output projection that belong to
 * the heads are zeros.
 */
async function withoutColumns<T>(
  model: TaskModel,
  heads: readonly Head[],
  run: () => T | Promise<T>,
): Promise<T> {
  const parameters = model.stateDict();
  const paths = Object.keys(parameters).flatMap((name) =>
    name.endsWith(suffix) ? [name.slice(0, -suffix.length)] : [],
  );
  const { size, heads: count } = model.config;
  checkHeads(heads, new Map(paths.map((path) => [path, count])));
  // The columns of the output projection that belong to these heads.
  const width = size / count;
  const places = new Map<string, number[]>();
  for (const { path, head } of heads) {
    const own = Array.from({ length: size * width }, (_, i) => {
      return Math.floor(i / width) * size + head * width + (i % width);
    });
    places.set(path, [...(places.get(path) ?? []), ...own]);
  }
  // The memory of a tensor may move while the model runs, so `data` is read each time.
  const dataOf = (path: string) => parameters[`${path}${suffix}`]?.data as Float32Array;
  const kept = [...places].map(([path, own]) => ({
    ...{ path, own },
    values: own.map((place) => dataOf(path)[place] as number),
  }));
  try {
    for (const { path, own } of kept) for (const place of own) dataOf(path)[place] = 0;
    return await run();
  } finally {
    for (const { path, own, values } of kept)
      for (const [i, place] of own.entries()) dataOf(path)[place] = values[i] as number;
  }
}
