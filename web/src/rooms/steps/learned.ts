/** One layer of a trained model as the input of the room's computation. Loaded when it is first needed. */
import type { Heed, Tensor } from "heed";
import { CausalLanguageModel } from "heed/models";
import { layerBlock, layerMatrices } from "../../network/layer";
import { floatsOf } from "../../network/numbers";
import type { Projection, WalkedAttention, WalkedModel } from "../../network/walkedModel";
import { idsTensor, type LanguageModel } from "../../worker/languageHeads";
import { numbersOf } from "../../worker/numbersOf";
import { isWalked, openModel } from "../../worker/openModel";
import { holdOurs, type LoadContext } from "../../worker/ourModel";
import type { LearnedSource, Numbers } from "./problem";
import { type TaskLayers, taskLayers } from "./taskLayers";

const models = new WeakMap<Heed, CausalLanguageModel>();

/** Our language model, which the room keeps once it is loaded. */
export async function learnedModel(
  heed: Heed,
  folder: string,
  context: LoadContext,
): Promise<CausalLanguageModel> {
  const known = models.get(heed);
  if (known) return known;
  const { model, free } = await holdOurs(heed, folder, "float32", context);
  const isOurs = model instanceof CausalLanguageModel && model.config.rotations;
  // Another call may have ended first, with the same model.
  if (!isOurs || models.has(heed)) free();
  if (!isOurs) throw new Error("the model has no rotary positions");
  models.set(heed, model);
  return model;
}

/** The last stream that was read, because most changes by a person keep the text and the layer. */
let last: { readonly key: string; readonly model: object; readonly found: Numbers[] } | null = null;

/** The inputs of a layer for a text, [1, L, E] each: the stream, and its norm. An encoder reads the stream itself. */
function streamAt(model: LanguageModel | TaskLayers, ids: readonly number[], layer: number) {
  const { heed, config } = model;
  const key = `${layer} ${ids.join()}`;
  const found: Numbers[] = [];
  if (last?.key === key && last.model === model) found.push(...last.found);
  else
    heed.scope(() => {
      const tensor = idsTensor(heed, ids);
      if ("inputsOf" in model) found.push(...model.inputsOf(tensor, layer));
      else if ("readOut" in model)
        model.forward(tensor, {
          onlyLast: true,
          receiveLayer: (i, { input, attentionInput }) => {
            if (i === layer) found.push(numbersOf(input), numbersOf(attentionInput));
          },
        });
      else {
        const { hiddenStates } = model.forward(tensor, { needHiddenStates: true });
        found.push(numbersOf(hiddenStates[layer] as Tensor));
      }
    });
  last = { key, model, found };
  const tensors = found.map((data) => heed.tensor(data, [1, ids.length, config.size]));
  const [embedding, input = embedding] = tensors;
  return { embedding, input } as Record<"embedding" | "input", Tensor>;
}

/** The matrices of a layer, [out, in], and biases. If heads share one, it is repeated for each of them. */
function matricesAt({ heed, config: { size } }: WalkedModel, own: WalkedAttention) {
  const { heads, kvHeads, headSize } = own.sizes;
  /** Repeats each group's rows of `width` numbers for the heads of the group. */
  const repeated = (shared: Numbers, width: number) => {
    const part = headSize * width;
    const all = new Float32Array(heads * part);
    for (let head = 0; head < heads; ++head) {
      const from = Math.floor((head * kvHeads) / heads) * part;
      all.set(shared.subarray(from, from + part), head * part);
    }
    return all;
  };
  const weightOf = ({ weight }: Projection) => floatsOf(heed, weight) as Tensor;
  const weightOfAll = (projection: Projection) =>
    heed.tensor(repeated(numbersOf(weightOf(projection)), size), [heads * headSize, size]);
  const biasOfAll = ({ bias }: Projection) => bias && heed.tensor(repeated(numbersOf(bias), 1));
  const { qProj, kProj, vProj, oProj } = own;
  return {
    ...{ wq: weightOf(qProj), wk: weightOfAll(kProj), wv: weightOfAll(vProj), wo: weightOf(oProj) },
    biases: { q: qProj.bias, k: biasOfAll(kProj), v: biasOfAll(vProj), result: oProj.bias },
  };
}

/** Returns a function that normalises each head of [1, L, H * D]. */
function normOfHeads({ heed, config }: WalkedModel, norm: WalkedAttention["qNorm"]) {
  const { heads, headSize } = config;
  if (!norm) return undefined;
  return (x: Tensor) => {
    const split = heed.reshape(x, [1, x.shape[1] as number, heads, headSize]);
    return heed.reshape(norm.forward(split), x.shape);
  };
}

/** Everything that a layer computes with, for a text. */
function layerOf(model: LanguageModel | TaskLayers, { layer, ids }: LearnedSource) {
  const { layers } = (model as WalkedModel).model;
  const { selfAttn } = layers[layer] as { selfAttn: WalkedAttention };
  const norms = { q: normOfHeads(model, selfAttn.qNorm), k: normOfHeads(model, selfAttn.kNorm) };
  return {
    /** Must be called in a scope. */
    read: () => ({ ...streamAt(model, ids, layer), ...matricesAt(model, selfAttn), norms }),
    /** The angle of each pair of a head's entries, per position, in radians; null without a rotation. */
    frequencies: model.config.rotations?.[layer]?.frequencies ?? null,
    /** The rest of the layer for the token of a row. Must be called in a scope. */
    blockOf(before: Parameters<typeof layerBlock>[2], row: number) {
      const { stream, units, block } = layerBlock(model, layer, before, row);
      const tensors = { between: stream[0], units, after: stream[1] };
      return { tensors, block: { ...block, matrices: layerMatrices(model, layer) } };
    },
  };
}

export type Layer = ReturnType<typeof layerOf>;

/** Computes with a layer of a model of the page or of the open one, which is not freed before that ends. */
export async function withLayer<T>(
  heed: Heed,
  source: LearnedSource,
  context: LoadContext,
  compute: (layer: Layer) => T,
): Promise<T> {
  const { folder } = source;
  if (folder !== null) {
    const model = source.isTask ? taskLayers(heed, folder) : learnedModel(heed, folder, context);
    return compute(layerOf(await model, source));
  }
  const open = openModel();
  if (!open || !isWalked(open)) throw new Error("the model is no longer open");
  return open.use(() => compute(layerOf(open.model, source)));
}
