/** The solver that fills the gap of a series with the trained encoder. */
import type { Heed } from "heed";
import { loadModel, type ModelFiles, type Series, type TaskModel, taskOf } from "heed/models";
import { nn } from "heed/nn";
import { layerAt } from "../../../shared/attended";
import { headKey } from "../../../shared/layerHeads";
import { modelFilesIn, reportIn } from "../../../worker/modelFiles";
import type { Solver } from "../../../worker/solver";
import { alikeIn, type OwnSeries, periodOf } from "./ownSeries";

interface SeriesRequest {
  /** The absolute address of the model's folder, because the worker's base address differs from the page's. */
  readonly model: string;
  readonly seed: number;
  /** The person's own series; null for the series that is drawn from the seed. */
  readonly own: OwnSeries | null;
}

export type FilledSeries = Awaited<ReturnType<typeof fill>>;
export type SeriesHeadWeights = FilledSeries["heads"][number];

type HeldOut = Readonly<Record<"examples" | "error" | "lineError", number>>;

function headsOf(model: TaskModel<Series>, example: Series) {
  const { alignment } = example;
  const [attentions = []] = model.weights([example]);
  return attentions.flatMap(({ path, heads, rows, columns, weights }) =>
    Array.from({ length: heads }, (_, head) => {
      const start = head * rows * columns;
      const own = weights.slice(start, start + rows * columns) as Float32Array<ArrayBuffer>;
      return {
        key: headKey({ layer: layerAt(path), head }),
        /** One row for each position. */
        weights: own,
        /** For each position its weight on known values whole periods away; 0 for a position that is not hidden. */
        onAlike: Float32Array.from(alignment, (places, row) =>
          places.reduce((sum, place) => sum + (own[row * columns + place] as number), 0),
        ),
      };
    }),
  );
}

interface Question {
  /** The input of the model, with values from about -1 to 1. */
  readonly example: Series;
  readonly values: Float64Array<ArrayBuffer>;
  /** Converts outputs of the model to numbers of the series. */
  readonly scale: { readonly middle: number; readonly half: number };
}

/** Scales the person's own series to the range of the training data, -1 to 1. */
function ownQuestion({ values, isHidden }: OwnSeries, period: number | null): Question {
  const known = values.filter((_, t) => !isHidden[t]);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const scale = { middle: (least + most) / 2, half: (most - least) / 2 || 1 };
  const scaled = values.map((value, t) => (isHidden[t] ? 0 : (value - scale.middle) / scale.half));
  const example: Series = {
    ...{ kind: "series", values: Float32Array.from(scaled), isHidden },
    alignment: alikeIn(isHidden, period),
  };
  return { example, values: Float64Array.from(values), scale };
}

const rootMeanSquare = (values: readonly number[]) =>
  Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);

/** The straight line over the gap, for each position. */
function lineAt(values: ArrayLike<number>, isHidden: readonly boolean[]): (t: number) => number {
  const [before, after] = [isHidden.indexOf(true) - 1, isHidden.lastIndexOf(true) + 1];
  const [start, end] = [values[before] as number, values[after] as number];
  return (t) => start + ((end - start) * (t - before)) / (after - before);
}

async function fill(heed: Heed, files: ModelFiles, heldOut: HeldOut, { seed, own }: SeriesRequest) {
  const model = loadModel(heed, files) as unknown as TaskModel<Series>;
  try {
    const { task, taskOptions } = model.config;
    const period = own && periodOf(own);
    const drawn = () =>
      taskOf(task, taskOptions).generate(new nn.Generator(seed), "test") as Series;
    const ours = (example: Series): Question => ({
      ...{ example, values: Float64Array.from(example.values), scale: { middle: 0, half: 1 } },
    });
    const { example, values, scale } = own ? ownQuestion(own, period) : ours(drawn());
    const { isHidden, alignment } = example;
    const started = performance.now();
    const [answer] = await model.answer([example]);
    if (answer?.kind !== "numbers") throw new TypeError("the model does not fill series");
    const milliseconds = performance.now() - started;
    const filled = values.map((value, t) =>
      isHidden[t] ? (answer.values[t] as number) * scale.half + scale.middle : value,
    );
    const hasTruth = own?.hasTruth ?? true;
    const hidden = [...isHidden.keys()].filter((t) => isHidden[t]);
    const errorOf = (at: (t: number) => number) =>
      hasTruth ? rootMeanSquare(hidden.map((t) => at(t) - (values[t] as number))) : null;
    return {
      ...{ values, isHidden, filled },
      hasTruth,
      /** The period, which is estimated for a person's own series; null if there is none. */
      period,
      /** For each position the known values whole periods away. */
      alike: alignment,
      heads: headsOf(model, example),
      /** Root mean square errors over the gap, of the model and of a straight line; null if the true values are unknown. */
      error: errorOf((t) => filled[t] as number),
      lineError: errorOf(lineAt(values, isHidden)),
      /** The same errors over all held-out series, measured when the model was trained. */
      heldOut,
      parameters: Object.values(model.stateDict()).reduce((sum, { size }) => sum + size, 0),
      milliseconds,
    };
  } finally {
    model.dispose();
  }
}

const solve = (async (request, { heed, signal }) => {
  const [files, { heldOut }] = await Promise.all([
    modelFilesIn(request.model),
    reportIn<{ heldOut: HeldOut }>(request.model),
  ]);
  signal.throwIfAborted();
  return fill(heed, files, heldOut, request);
}) satisfies Solver<SeriesRequest, unknown>;

export default solve;
