/** A solver of this room: the trained encoder fills the gap of a series. */
import type { Heed } from "heed";
import {
  type Alignment,
  evaluate,
  loadModel,
  type ModelFiles,
  type Series,
  type TaskModel,
  taskOf,
} from "heed/models";
import { nn } from "heed/nn";
import { modelFilesIn, reportIn } from "../../../worker/modelFiles";
import type { Solver, SolverContext } from "../../../worker/solver";

export interface SeriesRequest {
  /** The absolute address of the model's folder, because the worker's base address differs from the page's. */
  readonly model: string;
  readonly seed: number;
}

export interface SeriesHeadWeights {
  readonly layer: number;
  readonly head: number;
  /** A row for each position. */
  readonly weights: Float32Array<ArrayBuffer>;
  /** By position, its weight on known values whole periods away; 0 for a position that is not hidden. */
  readonly onAlike: Float32Array<ArrayBuffer>;
}

export interface FilledSeries {
  readonly seed: number;
  readonly values: Float32Array<ArrayBuffer>;
  readonly isHidden: readonly boolean[];
  /** By position, the known values whole periods away. */
  readonly alike: Alignment;
  readonly filled: Float32Array<ArrayBuffer>;
  readonly heads: readonly SeriesHeadWeights[];
  /** Root mean square errors over the gap, of the model and of a straight line. */
  readonly error: number;
  readonly lineError: number;
  /** The same errors over all held-out series, measured when the model was trained. */
  readonly heldOut: HeldOut;
  readonly parameters: number;
  readonly milliseconds: number;
}

export type HeldOut = Readonly<Record<"examples" | "error" | "lineError", number>>;

function headsOf(model: TaskModel<Series>, example: Series): SeriesHeadWeights[] {
  const { alignment } = example;
  const [attentions = []] = model.weights([example]);
  return attentions.flatMap(({ path, heads, rows, columns, weights }) =>
    Array.from({ length: heads }, (_, head) => {
      const start = head * rows * columns;
      const own = weights.slice(start, start + rows * columns) as Float32Array<ArrayBuffer>;
      return {
        layer: Number(/\.layers\.(\d+)\./.exec(path)?.[1] ?? 0),
        head,
        weights: own,
        onAlike: Float32Array.from(alignment, (places, row) =>
          places.reduce((sum, place) => sum + (own[row * columns + place] as number), 0),
        ),
      };
    }),
  );
}

async function fill(
  heed: Heed,
  files: ModelFiles,
  heldOut: HeldOut,
  seed: number,
): Promise<FilledSeries> {
  const model = loadModel(heed, files) as unknown as TaskModel<Series>;
  try {
    const { task, taskOptions } = model.config;
    const example = taskOf(task, taskOptions).generate(new nn.Generator(seed), "test") as Series;
    const started = performance.now();
    const [answer] = await model.answer([example]);
    if (answer?.kind !== "numbers") throw new TypeError("the model does not fill series");
    const milliseconds = performance.now() - started;
    const { error = Number.NaN, lineError = Number.NaN } = await evaluate(model, [example]);
    return {
      seed,
      values: example.values.slice(),
      isHidden: example.isHidden,
      alike: example.alignment,
      filled: answer.values.slice(),
      heads: headsOf(model, example),
      error,
      lineError,
      heldOut,
      parameters: Object.values(model.stateDict()).reduce((sum, { size }) => sum + size, 0),
      milliseconds,
    };
  } finally {
    model.dispose();
  }
}

const solve: Solver<SeriesRequest, FilledSeries> = async (
  { model, seed }: SeriesRequest,
  { heed, signal }: SolverContext<never>,
) => {
  const [files, { heldOut }] = await Promise.all([
    modelFilesIn(model),
    reportIn<{ heldOut: HeldOut }>(model),
  ]);
  signal.throwIfAborted();
  return fill(heed, files, heldOut, seed);
};

export default solve;
