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
 * values. Calls at the same time, or within each other, switch off the heads of all of them.
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
  const now = running.get(model) ?? { ...headsOf(model), calls: new Set() };
  checkHeads(heads, now.attentions);
  running.set(model, now);
  const own = [...heads];
  try {
    now.set([...now.calls.add(own)].flat());
    return await run();
  } finally {
    now.calls.delete(own);
    now.set([...now.calls].flat());
    if (now.calls.size === 0) running.delete(model);
  }
}

interface Sized {
  readonly sizes: Pick<AttentionSizes, "heads" | "headSize">;
}

/** The heads of a model. */
interface ModelHeads {
  /** The attentions by path. */
  readonly attentions: ReadonlyMap<string, Sized>;
  /** Switches off these heads, and no others. */
  set(heads: readonly Head[]): void;
}

/** The models that run without some heads now, and the heads of each call. */
const running = new WeakMap<Module, ModelHeads & { readonly calls: Set<readonly Head[]> }>();

const headsOf = (model: TaskModel | HubModel): ModelHeads =>
  model instanceof TaskModel ? headsOfTask(model) : headsOfHub(model);

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

/** A model of the hub, whose weights may be packed: its attentions replace the outputs of the heads. */
const headsOfHub = ({ attentions }: HubModel): ModelHeads => ({
  attentions,
  set(heads) {
    for (const [path, attention] of attentions) {
      const own = heads.filter((each) => each.path === path);
      attention.ablated = new Map(own.map(({ head, output }) => [head, output]));
    }
  },
});

/**
 * A model of a task: the columns of the output projection that belong to the heads become zeros, and its
 * bias gets the product of these columns and `output`.
 */
function headsOfTask(model: TaskModel): ModelHeads {
  const parameters = model.stateDict();
  const paths = Object.keys(parameters).flatMap((name) =>
    name.endsWith(suffix) ? [name.slice(0, -suffix.length)] : [],
  );
  const { size, heads: count } = model.config;
  const headSize = size / count;
  // The memory of a tensor may move while the model runs, so `data` is read each time.
  const dataOf = (path: string, name: string) =>
    parameters[`${path}.out_proj.${name}`]?.data as Float32Array;
  const former = new Map<string, readonly [weight: Float32Array, bias: Float32Array]>();
  return {
    attentions: new Map(paths.map((path) => [path, { sizes: { heads: count, headSize } }])),
    set(heads) {
      for (const [path, [weight, bias]] of former) {
        dataOf(path, "weight").set(weight);
        dataOf(path, "bias").set(bias);
      }
      for (const { path, head, output } of heads) {
        const [weight, bias] = [dataOf(path, "weight"), dataOf(path, "bias")];
        if (!former.has(path)) former.set(path, [weight.slice(), bias.slice()]);
        for (let row = 0; row < size; ++row) {
          const start = row * size + head * headSize;
          const own = weight.subarray(start, start + headSize);
          (bias[row] as number) += own.reduce((sum, w, d) => sum + w * (output?.[d] ?? 0), 0);
          own.fill(0);
        }
      }
    },
  };
}
