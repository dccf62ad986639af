// Runs models without some of their heads (Michel, Levy and Neubig, "Are Sixteen Heads Really Better than
// One?", 2019).

import { describe, refuse } from "../core/error.js";
import { checkArgument, isFunction, isWholeNumber } from "../core/validate.js";
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
 * the model during that time are affected, too. Afterwards the parameters have their former values.
 *
 * @returns the result of `run`
 * @throws HeedError "option" for a head that the model does not have; recurrent models have none
 */
export async function withoutHeads<T>(
  model: TaskModel,
  heads: readonly Head[],
  run: () => T | Promise<T>,
): Promise<T> {
  checkArgument("model", model, {
    expected: "a model",
    accepts: (value) => value instanceof TaskModel,
  });
  checkArgument("heads", heads, {
    expected: "a list of { path, head }",
    accepts: Array.isArray,
  });
  checkArgument("run", run, isFunction);
  const parameters = model.stateDict();
  const paths = Object.keys(parameters).flatMap((name) =>
    name.endsWith(suffix) ? [name.slice(0, -suffix.length)] : [],
  );
  const { size, heads: count } = model.config;
  for (const [i, each] of heads.entries()) {
    if (!paths.includes(each?.path)) {
      const expected = paths.length > 0 ? `one of ${paths.join(", ")}` : "none in this model";
      throw refuse("option", `heads[${i}].path`, expected, describe(each?.path));
    }
    checkArgument(`heads[${i}].head`, each.head, isWholeNumber(0, count - 1));
  }
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
