/** The layers of the small models of tasks, with the members that the pictures of a language model's layer read. */
import type { Heed, Tensor } from "heed";
import {
  DecoderModel,
  type EncoderModel,
  loadModel,
  type Task,
  type TransformerModel,
  taskOf,
} from "heed/models";
import { type WalkedModel, walkedStack } from "../../network/walkedModel";
import { modelFilesIn } from "../../worker/modelFiles";
import { numbersOf } from "../../worker/numbersOf";
import type { Numbers } from "./problem";

type TaskModel = EncoderModel | TransformerModel | DecoderModel;

export interface TaskLayers extends WalkedModel {
  readonly task: Task;
  readonly isCausal: boolean;
  /** The sizes and names that the model was created with. */
  readonly own: TaskModel["config"];
  idsOf(tokens: readonly string[]): number[];
  /** The inputs of a layer for tokens [1, L], of [1, L, E] each: the stream, and its norm. */
  inputsOf(ids: Tensor, layer: number): Numbers[];
}

/** The stack of a model, its embedding of tokens and their vocabulary. */
function partsOf(model: TaskModel) {
  if (model instanceof DecoderModel)
    return { stack: model.decoder, embedding: model.embedding, vocabulary: model.targetVocabulary };
  const embedding = "sourceEmbedding" in model ? model.sourceEmbedding : model.embedding;
  return { stack: model.encoder, embedding, vocabulary: model.sourceVocabulary };
}

async function load(heed: Heed, folder: string): Promise<TaskLayers> {
  const model = loadModel(heed, await modelFilesIn(folder)) as TaskModel;
  model.eval();
  const { stack, embedding, vocabulary } = partsOf(model);
  const { config, positions } = model;
  const isCausal = model instanceof DecoderModel;
  return {
    ...walkedStack(heed, stack),
    ...{ isCausal, own: config, task: taskOf(config.task, config.taskOptions) },
    idsOf: (tokens) => vocabulary.encode([...tokens]),
    inputsOf(ids, layer) {
      const found: Numbers[] = [];
      stack.forward(positions.forward(embedding.forward(ids)), {
        isCausal,
        receiveLayer(i, { selfAttn: { before, input } }) {
          if (i === layer) found.push(numbersOf(before), numbersOf(input));
        },
      });
      return found;
    },
  };
}

/** The models of each engine by their folders. The page keeps them, because none has more than 400 KB. */
const models = new WeakMap<Heed, Map<string, Promise<TaskLayers>>>();

export function taskLayers(heed: Heed, folder: string): Promise<TaskLayers> {
  const known = models.get(heed) ?? new Map<string, Promise<TaskLayers>>();
  models.set(heed, known);
  const loading = known.get(folder) ?? load(heed, folder);
  known.set(folder, loading);
  loading.catch(() => known.delete(folder));
  return loading;
}
