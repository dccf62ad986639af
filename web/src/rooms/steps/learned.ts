/** One layer of our language model as the input of the room's computation. Loaded when it is first needed. */
import type { Heed, Tensor } from "heed";
import { CausalLanguageModel, loadModel } from "heed/models";
import { floatsOf } from "../../network/numbers";
import { idsTensor } from "../../worker/languageHeads";
import { hubFilesIn } from "../../worker/modelFiles";
import { numbersOf } from "../../worker/numbersOf";
import type { LearnedSource, Numbers } from "./problem";

const models = new WeakMap<Heed, Promise<CausalLanguageModel>>();

async function loadFrom(heed: Heed, folder: string): Promise<CausalLanguageModel> {
  const model = await loadModel(heed, await hubFilesIn(folder));
  if (model instanceof CausalLanguageModel && model.config.rotations) return model;
  throw new Error("the model has no rotary positions");
}

/** The model, which is loaded once. After a failure the next call tries again. */
export function learnedModel(heed: Heed, folder: string): Promise<CausalLanguageModel> {
  const known = models.get(heed);
  if (known) return known;
  const model = loadFrom(heed, folder);
  models.set(heed, model);
  model.catch(() => models.delete(heed));
  return model;
}

/** The last stream that was read, because most changes by a person keep the text and the layer. */
let last: { readonly key: string; readonly model: object; readonly found: Numbers[] } | null = null;

/** What a layer reads from a text, [1, L, E] each: the stream, and its norm. */
function streamAt(model: CausalLanguageModel, ids: readonly number[], layer: number) {
  const { heed, config } = model;
  const key = `${layer} ${ids.join()}`;
  const found: Numbers[] = [];
  if (last?.key === key && last.model === model) found.push(...last.found);
  else
    heed.scope(() => {
      model.forward(idsTensor(heed, ids), {
        onlyLast: true,
        receiveLayer: (i, { input, attentionInput }) => {
          if (i === layer) found.push(numbersOf(input), numbersOf(attentionInput));
        },
      });
    });
  last = { key, model, found };
  const [embedding, input] = found.map((data) => heed.tensor(data, [1, ids.length, config.size]));
  return { embedding, input } as Record<"embedding" | "input", Tensor>;
}

/** The matrices of a layer, [out, in]. A matrix that heads share is repeated for each of them. */
function matricesAt({ heed, config, model }: CausalLanguageModel, layer: number) {
  const { qProj, kProj, vProj, oProj } = (model.layers[layer] as (typeof model.layers)[number])
    .selfAttn;
  const floats = ({ weight }: { weight: unknown }) => floatsOf(heed, weight) as Tensor;
  const { heads, kvHeads, headSize, size } = config;
  /** Repeats the rows of each group for its heads. */
  const repeated = (projection: { weight: unknown }) => {
    const shared = numbersOf(floats(projection));
    const all = new Float32Array(heads * headSize * size);
    for (let head = 0; head < heads; ++head) {
      const from = Math.floor((head * kvHeads) / heads) * headSize * size;
      all.set(shared.subarray(from, from + headSize * size), head * headSize * size);
    }
    return heed.tensor(all, [heads * headSize, size]);
  };
  return { wq: floats(qProj), wk: repeated(kProj), wv: repeated(vProj), wo: floats(oProj) };
}

/** The angle of each pair of a head's entries, per position, in radians. */
function frequenciesAt({ config }: CausalLanguageModel, layer: number): readonly number[] {
  return (config.rotations as NonNullable<typeof config.rotations>)[layer]?.frequencies ?? [];
}

/** Everything that a layer computes with, for a text. */
export async function learnedLayer(heed: Heed, { folder, layer, ids }: LearnedSource) {
  const model = await learnedModel(heed, folder);
  return {
    /** Must be called in a scope. */
    read: () => ({ ...streamAt(model, ids, layer), ...matricesAt(model, layer) }),
    frequencies: frequenciesAt(model, layer),
  };
}
