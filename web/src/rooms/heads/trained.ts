/** The trained model that this room has open in the worker: one at a time. */
import type { Heed } from "heed";
import {
  type Example,
  type HeadAlignment,
  loadModel,
  type Task,
  type TaskModel,
  taskOf,
} from "heed/models";
import type { nn } from "heed/nn";
import { modelFilesIn, reportIn } from "../../worker/modelFiles";

/** What the models of this room have in common: they are made of attention, and a last layer says what they say. */
export interface AttentiveModel extends TaskModel {
  readonly readOut: nn.Linear;
  /** Of those that write: what a text is gone on with. */
  write?(examples: readonly Example[]): Promise<string[][]>;
}

export interface Trained {
  readonly model: AttentiveModel;
  readonly task: Task;
  /** Where each head looked over examples held out: measured once, when the model was trained. */
  readonly heldOut: readonly HeadAlignment[];
  /** How many of them it answered without a fault, of all. */
  readonly score: { readonly examples: number; readonly exact: number };
}

let open: { readonly address: string; readonly trained: Promise<Trained> } | null = null;

async function loadFrom(heed: Heed, address: string): Promise<Trained> {
  const [files, report] = await Promise.all([
    modelFilesIn(address),
    reportIn<{ alignment: HeadAlignment[]; heldOut: Trained["score"] }>(address),
  ]);
  const model = loadModel(heed, files) as AttentiveModel;
  const task = taskOf(model.config.task, model.config.taskOptions);
  return { model, task, heldOut: report.alignment, score: report.heldOut };
}

/** Frees the model that is open, if there is one. */
export function close(): void {
  open?.trained.then(({ model }) => model.dispose()).catch(() => {});
  open = null;
}

export function modelAt(heed: Heed, address: string): Promise<Trained> {
  if (open?.address !== address) {
    close();
    const trained = loadFrom(heed, address);
    const mine = { address, trained };
    open = mine;
    // What failed once may succeed the next time.
    trained.catch(() => {
      if (open === mine) open = null;
    });
  }
  return (open as { trained: Promise<Trained> }).trained;
}
