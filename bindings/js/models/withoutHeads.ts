// Runs models without some of their heads (Michel, Levy and Neubig, "Are Sixteen Heads Really
// Better than One?", 2019), or with a constant output in place of theirs (Wang et al.,
// "Interpretability in the Wild", 2022).

import { describe, refuse } from "../core/error.js";
import { checkArgument, isFunction, isWholeNumber } from "../core/validate.js";
import { Module } from "../nn/module.js";
import type { AttentionSizes } from "./language/attention.js";
import type { HubModel } from "./language/load.js";
import { TaskModel } from "./model.js";

/** A head, named as in ExampleWeights, HeadAlignment and captureAttention. */
export interface Head {
  /** The path of the attention. */
  readonly path: string;
  /** The head's index, from 0. */
  readonly head: number;
  /**
   * In `withoutHeads` the output [D] of this head at every position, such as the mean of its outputs
   * over other texts (mean ablation); zeros by default.
   */
  readonly output?: Float32Array;
}

const isHubModel = (model: unknown): model is HubModel =>
  model instanceof Module && "attentions" in model && model.attentions instanceof Map;

const suffix = ".out_proj.weight";

/**
 * Runs a function while some heads of a model are switched off:
 *
 *     const [answer] = await withoutHeads(model, [{ path, head: 2 }], () => model.answer([example]));
 *
 * The outputs of these heads are zeros, or `output` of each; their weights are computed as usual. Other
 * uses of the model during that time are affected, too. Afterwards the parameters have their former
 * values. Calls for the same model run one after another, so `run` must not wait for another one.
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
  const ablate = () =>
    model instanceof TaskModel
      ? withoutColumns(model, heads, run)
      : withAblatedHeads(model, heads, run);
  const result = lastRun.get(model)?.then(ablate) ?? ablate();
  const ended = result.then(
    () => {},
    () => {},
  );
  lastRun.set(model, ended);
  try {
    return await result;
  } finally {
    if (lastRun.get(model) === ended) lastRun.delete(model);
  }
}

/** The end of the last call for a model. */
const lastRun = new WeakMap<Module, Promise<void>>();

interface Sized {
  readonly sizes: Pick<AttentionSizes, "heads" | "headSize">;
}

/** @param attentions the attentions of the model by path */
function checkHeads(heads: readonly Head[], attentions: ReadonlyMap<string, Sized>): void {
  for (const [i, each] of heads.entries()) {
    const sizes = attentions.get(each?.path)?.sizes;
    if (sizes === undefined) {
      const paths = [...attentions.keys()].join(", ");
      const expected = paths === "" ? "none in this model" : `one of ${paths}`;
      throw refuse("option", `heads[${i}].path`, expected, describe(each?.path));
    }
    const { headSize } = sizes;
    checkArgument(`heads[${i}].head`, each.head, isWholeNumber(0, sizes.heads - 1));
    checkArgument(`heads[${i}].output`, each.output, {
      expected: `a Float32Array of ${headSize} numbers`,
      accepts: (value) =>
        value === undefined || (value instanceof Float32Array && value.length === headSize),
    });
  }
}

/**
 * Runs a function on a model of the hub, whose weights may be packed: its attentions replace the
 * outputs of these heads.
 */
async function withAblatedHeads<T>(
  { attentions }: HubModel,
  heads: readonly Head[],
  run: () => T | Promise<T>,
): Promise<T> {
  checkHeads(heads, attentions);
  const before = [...attentions].map(([path, attention]) => {
    const { ablated } = attention;
    const own = heads.filter((each) => each.path === path);
    attention.ablated = new Map([
      ...ablated,
      ...own.map(({ head, output }) => [head, output] as const),
    ]);
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
 * the heads are zeros. The bias of the projection gets the product of these columns and `output`.
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
  const headSize = size / count;
  const sizes = { heads: count, headSize };
  checkHeads(heads, new Map(paths.map((path) => [path, { sizes }])));
  // The memory of a tensor may move while the model runs, so `data` is read each time.
  const dataOf = (path: string, name: string) =>
    parameters[`${path}.out_proj.${name}`]?.data as Float32Array;
  const kept = [...new Set(heads.map(({ path }) => path))].flatMap((path) =>
    ["weight", "bias"].map((name) => ({ path, name, values: dataOf(path, name).slice() })),
  );
  try {
    for (const { path, head, output } of heads) {
      const [weight, bias] = [dataOf(path, "weight"), dataOf(path, "bias")];
      for (let row = 0; row < size; ++row) {
        const start = row * size + head * headSize;
        const own = weight.subarray(start, start + headSize);
        (bias[row] as number) += own.reduce((sum, w, d) => sum + w * (output?.[d] ?? 0), 0);
        own.fill(0);
      }
    }
    return await run();
  } finally {
    for (const { path, name, values } of kept) dataOf(path, name).set(values);
  }
}
