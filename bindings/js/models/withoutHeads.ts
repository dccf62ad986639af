// Runs models without some of their heads (Michel, Levy and Neubig, "Are Sixteen Heads Really Better than
// One?", 2019).

import { describe, refuse } from "../core/error.js";
import { checkArgument, isFunction, isWholeNumber } from "../core/validate.js";
import { CausalLanguageModel } from "./language/causalModel.js";
import { TaskModel } from "./model.js";

/** A head, named as in ExampleWeights and HeadAlignment. */
export interface Head {
  readonly path: string;
  readonly head: number;
}

const suffix = ".out_proj.weight";

/**
 * Runs a function while some heads of a model are switched off:
 *
 *     const [answer] = await withoutHeads(model, [{ path, head: 2 }], () => model.answer([example]));
 *
 * These heads add zero to the output of their attention; their weights are computed as usual. Other uses of
 * the model during that time are affected, too. Afterwards the model is as before.
 *
 * @returns the result of `run`
 * @throws HeedError "option" for a head that the model does not have; recurrent models have none
 */
export async function withoutHeads<T>(
  model: TaskModel | CausalLanguageModel,
  heads: readonly Head[],
  run: () => T | Promise<T>,
): Promise<T> {
  checkArgument("model", model, {
    expected: "a model",
    accepts: (value) => value instanceof TaskModel || value instanceof CausalLanguageModel,
  });
  checkArgument("heads", heads, {
    expected: "a list of { path, head }",
    accepts: Array.isArray,
  });
  checkArgument("run", run, isFunction);
  const restore =
    model instanceof TaskModel ? withoutColumns(model, heads) : silenced(model, heads);
  try {
    return await run();
  } finally {
    restore();
  }
}

/** @param paths of the attentions, each with `count` heads */
function checkHeads(heads: readonly Head[], paths: readonly string[], count: number): void {
  for (const [i, each] of heads.entries()) {
    if (!paths.includes(each?.path)) {
      const expected = paths.length > 0 ? `one of ${paths.join(", ")}` : "none in this model";
      throw refuse("option", `heads[${i}].path`, expected, describe(each?.path));
    }
    checkArgument(`heads[${i}].head`, each.head, isWholeNumber(0, count - 1));
  }
}

/** Sets the columns of the output projections that belong to these heads to 0; returns what restores them. */
function withoutColumns(model: TaskModel, heads: readonly Head[]): () => void {
  const parameters = model.stateDict();
  const paths = Object.keys(parameters).flatMap((name) =>
    name.endsWith(suffix) ? [name.slice(0, -suffix.length)] : [],
  );
  const { size, heads: count } = model.config;
  checkHeads(heads, paths, count);
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
  for (const { path, own } of kept) for (const place of own) dataOf(path)[place] = 0;
  return () => {
    for (const { path, own, values } of kept)
      for (const [i, place] of own.entries()) dataOf(path)[place] = values[i] as number;
  };
}

/** Silences heads in a language model, whose weights may be packed; returns what restores them. */
function silenced(model: CausalLanguageModel, heads: readonly Head[]): () => void {
  const attentions = model.model.layers.map(({ selfAttn }) => ({
    ...{ path: model.nameOf(selfAttn) as string, selfAttn, before: selfAttn.silent },
  }));
  checkHeads(
    heads,
    attentions.map(({ path }) => path),
    model.config.heads,
  );
  for (const { path, selfAttn, before } of attentions) {
    const own = heads.filter((each) => each.path === path).map(({ head }) => head);
    selfAttn.silent = new Set([...before, ...own]);
  }
  return () => {
    for (const { selfAttn, before } of attentions) selfAttn.silent = before;
  };
}
