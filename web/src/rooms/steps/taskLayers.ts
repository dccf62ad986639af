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
import type { nn } from "heed/nn";
import type { Norm, WalkedLayer, WalkedModel } from "../../network/walkedModel";
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

function normOf(norm: nn.LayerNorm): Norm {
  const { eps, weight, bias } = norm;
  return { norm: "layer", eps, weight, bias, forward: (x) => norm.forward(x) };
}

function layerOf(heed: Heed, layer: nn.TransformerEncoderLayer): WalkedLayer {
  const { selfAttn, norm1, norm2, linear1, linear2, activation } = layer;
  const { heads, embedDim: size, inProjWeight, inProjBias, outProj } = selfAttn;
  /** The rows of the joint matrix for queries, keys or values. Its members must be read in a scope. */
  const third = (index: number) => {
    const rows = { axis: 0, start: index * size, length: size };
    return {
      get weight() {
        return heed.slice(inProjWeight as Tensor, rows);
      },
      get bias() {
        return inProjBias && heed.slice(inProjBias, rows);
      },
    };
  };
  return {
    inputLayernorm: normOf(norm1),
    selfAttn: {
      sizes: { heads, kvHeads: heads, headSize: size / heads },
      ...{ qProj: third(0), kProj: third(1), vProj: third(2), oProj: outProj },
    },
    postAttentionLayernorm: normOf(norm2),
    mlp: {
      ...{ upProj: linear1, downProj: linear2 },
      forward(x) {
        const units = linear1.forward(x, activation);
        return { gate: undefined, up: undefined, units, output: linear2.forward(units) };
      },
    },
  };
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
  const { heads, size } = config;
  const isCausal = model instanceof DecoderModel;
  const { activation } = stack.layers[0] as nn.TransformerEncoderLayer;
  return {
    ...{ heed, isCausal, own: config, task: taskOf(config.task, config.taskOptions) },
    config: { activation, heads, headSize: size / heads, size },
    model: {
      layers: stack.layers.map((layer) => layerOf(heed, layer)),
      ...(stack.norm && { norm: normOf(stack.norm) }),
    },
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

export async function taskLayers(heed: Heed, folder: string): Promise<TaskLayers> {
  const known = models.get(heed) ?? new Map<string, Promise<TaskLayers>>();
  models.set(heed, known);
  const loading = known.get(folder) ?? load(heed, folder);
  known.set(folder, loading);
  try {
    return await loading;
  } catch (error) {
    known.delete(folder);
    throw error;
  }
}
