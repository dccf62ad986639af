/** Runs models with some of their heads ablated. */
import type { Head, TaskModel } from "heed/models";
import { nn } from "heed/nn";
import type { Ablation } from "../shared/ablation";
import type { ShownModel } from "./languageHeads";

type Model = TaskModel | ShownModel;

/** All heads with the mean of their outputs over all positions that the model reads while `run` runs. */
export function meanOutputs(model: Model, run: () => void): Required<Head>[] {
  const { heed } = model;
  const sums = new Map<string, { heads: number; rows: number; sum: Float64Array }>();
  const receive: nn.ReceiveWeights = (path, weights, compared) =>
    void heed.scope(() => {
      const { value } = (compared as () => nn.Compared)();
      const [, heads, rows, columns] = weights.shape as [number, number, number, number];
      // Groups of heads share values.
      const groups = value.shape[1] as number;
      const shares = heed.mean(weights, { axis: 2 });
      const perGroup = heed.reshape(shares, [1, groups, heads / groups, columns]);
      const means = heed.matmul(perGroup, value).data;
      const all = sums.get(path) ?? { heads, rows: 0, sum: new Float64Array(means.length) };
      for (const [i, mean] of means.entries()) (all.sum[i] as number) += rows * (mean as number);
      sums.set(path, { ...all, rows: all.rows + rows });
    });
  nn.captureAttention(model, receive, run);
  return [...sums].flatMap(([path, { heads, rows, sum }]) => {
    const mean = Float32Array.from(sum, (each) => each / rows);
    const size = mean.length / heads;
    return Array.from({ length: heads }, (_, head) => ({
      ...{ path, head, output: mean.slice(head * size, (head + 1) * size) },
    }));
  });
}

/** The means of each model, freed with it. */
const known = new WeakMap<Model, Required<Head>[]>();

/**
 * The heads to ablate: with their mean outputs, or with none, which means zeros.
 *
 * @param readReference has the model read the texts over which the means are, one at a time
 */
export function ablatedHeads(
  model: Model,
  heads: readonly Head[],
  ablation: Ablation,
  readReference: () => void,
): readonly Head[] {
  if (ablation === "zero" || heads.length === 0) return heads;
  const means = known.get(model) ?? meanOutputs(model, readReference);
  known.set(model, means);
  return heads.map(({ path, head }) => {
    const found = means.find((each) => each.path === path && each.head === head);
    if (!found) throw new RangeError("The model has no token of the reference text.");
    return found;
  });
}
