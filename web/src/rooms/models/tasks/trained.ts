/** The trained model that is loaded in the worker for the view of task models: one at a time. */
import type { Heed } from "heed";
import {
  type Example,
  type Head,
  type HeadAlignment,
  type LabelledWeights,
  loadModel,
  type Split,
  type TaskModel,
  taskOf,
} from "heed/models";
import { nn } from "heed/nn";
import type { Ablation } from "../../../shared/ablation";
import { attentionAt } from "../../../shared/attended";
import { type HeadKey, headKey } from "../../../shared/layerHeads";
import { ablatedHeads } from "../../../worker/ablating";
import { modelFilesIn, reportIn } from "../../../worker/modelFiles";
import { Lifetime } from "../lifetime";
import { referenceExamples } from "./state";

/** The common interface of the models of this room: attention, and a last layer that gives the answers. */
export interface AttentiveModel extends TaskModel {
  readonly readOut: nn.Linear;
  /** Generates text, if the model can. */
  write?(examples: readonly Example[]): Promise<string[][]>;
}

export type Trained = Awaited<ReturnType<typeof loadFrom>>;

/** The facts about a model that were measured when it was trained. */
interface Report {
  /** The attention of each head on the answer positions of held-out examples. */
  readonly alignment: readonly HeadAlignment[];
  /** The share of held-out examples that it answered correctly. */
  readonly heldOut: { readonly examples: number; readonly exact: number };
}

/** A split that was not used in training. */
export const split: Split = "test";

/** The heads of a model by their keys. */
export type Heads = ReadonlyMap<HeadKey, Head>;

/** All heads, prepared for their ablation. */
export function ablatableHeads(
  { model, task }: Trained,
  attentions: readonly LabelledWeights[],
  ablation: Ablation,
): Heads {
  const readReference = () => {
    const random = new nn.Generator(1);
    for (let i = 0; i < referenceExamples; ++i)
      model.heed.scope(() => model.forward([task.generate(random, split)]));
  };
  const all = attentions.flatMap(({ path, heads }) =>
    Array.from({ length: heads }, (_, head) => ({ path, head })),
  );
  return new Map(
    ablatedHeads(model, all, ablation, readReference).map((head) => {
      const { name, layer } = attentionAt(head.path) as NonNullable<ReturnType<typeof attentionAt>>;
      return [headKey({ name, layer, head: head.head }), head];
    }),
  );
}

let open: { readonly address: string; readonly trained: Promise<Trained> } | null = null;

async function loadFrom(heed: Heed, address: string) {
  const [files, report] = await Promise.all([modelFilesIn(address), reportIn<Report>(address)]);
  const model = loadModel(heed, files) as AttentiveModel;
  const task = taskOf(model.config.task, model.config.taskOptions);
  const facts = { task, heldOut: report.alignment, score: report.heldOut };
  return Object.assign(new Lifetime(model), facts);
}

/** Frees the loaded model, if there is one, after its last request. */
export function close(): void {
  open?.trained.then((trained) => trained.close()).catch(() => {});
  open = null;
}

export function modelAt(heed: Heed, address: string): Promise<Trained> {
  if (open?.address !== address) {
    close();
    const trained = loadFrom(heed, address);
    const mine = { address, trained };
    open = mine;
    // Forgets a failed load, so that the next attempt loads again.
    trained.catch(() => {
      if (open === mine) open = null;
    });
  }
  return (open as { trained: Promise<Trained> }).trained;
}
