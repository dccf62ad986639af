/** A desk of this room: the trained encoder fills the gap of a series. */
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
import type { Bench, Solver } from "../../../desks";

export interface SeriesRequest {
  /** The folder of the model's files, an address of its own: the worker's is another one than the page's. */
  readonly model: string;
  readonly seed: number;
}

export interface HeadWeights {
  readonly layer: number;
  readonly head: number;
  /** A row for each position. */
  readonly weights: Float32Array<ArrayBuffer>;
  /** By position, its weight on the values that are alike; 0 where nothing is hidden. */
  readonly onAlike: Float32Array<ArrayBuffer>;
}

export interface FilledSeries {
  readonly seed: number;
  readonly values: Float32Array<ArrayBuffer>;
  readonly isHidden: readonly boolean[];
  /** By position, the known values that are whole periods away. */
  readonly alike: Alignment;
  readonly filled: Float32Array<ArrayBuffer>;
  readonly heads: readonly HeadWeights[];
  /** Root mean square errors over the gap: the model's, and a straight line's. */
  readonly error: number;
  readonly lineError: number;
  /** The same errors over all series held out, measured when the model was trained. */
  readonly heldOut: HeldOut;
  readonly parameters: number;
  readonly milliseconds: number;
}

export type HeldOut = Readonly<Record<"examples" | "error" | "lineError", number>>;

interface Files extends ModelFiles {
  readonly heldOut: HeldOut;
}

/** The files, fetched once; the model itself stands in memory only while it answers. */
const files = new Map<string, Promise<Files>>();

async function fetchFiles(folder: string): Promise<Files> {
  const get = async (name: string) => {
    const response = await fetch(new URL(name, folder));
    if (!response.ok) throw new Error(`${name}: ${response.status}`);
    return response;
  };
  const names = ["config.json", "model.safetensors", "report.json"];
  const [config, weights, report] = (await Promise.all(names.map(get))) as [
    Response,
    Response,
    Response,
  ];
  const { heldOut } = (await report.json()) as { heldOut: HeldOut };
  return {
    config: await config.text(),
    weights: new Uint8Array(await weights.arrayBuffer()),
    heldOut,
  };
}

function filesOf(folder: string): Promise<Files> {
  const known = files.get(folder) ?? fetchFiles(folder);
  files.set(folder, known);
  known.catch(() => files.delete(folder));
  return known;
}

function headsOf(model: TaskModel<Series>, example: Series): HeadWeights[] {
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

async function fill(heed: Heed, given: Files, seed: number): Promise<FilledSeries> {
  const model = loadModel(heed, given) as unknown as TaskModel<Series>;
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
      heldOut: given.heldOut,
      parameters: Object.values(model.stateDict()).reduce((sum, { size }) => sum + size, 0),
      milliseconds,
    };
  } finally {
    model.dispose();
  }
}

const solve: Solver<SeriesRequest, FilledSeries> = async (
  { model, seed }: SeriesRequest,
  { heed, signal }: Bench<never>,
) => {
  let given: Files;
  try {
    given = await filesOf(model);
  } catch (error) {
    throw new Error(`the trained model could not be fetched (${(error as Error).message})`);
  }
  signal.throwIfAborted();
  return fill(heed, given, seed);
};

export default solve;
