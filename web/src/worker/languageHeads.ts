/** The attention of a language model's heads: pooled for small pictures, and one head in detail. */
import type { Heed, Tensor } from "heed";
import type {
  CausalLanguageModel,
  Head,
  MaskedLanguageModel,
  Seq2SeqLanguageModel,
} from "heed/models";
import { nn } from "heed/nn";
import type { SmallWeights } from "#parts";
import { attentionAt, layerAt, type Shares } from "../shared/attended";
import { type HeadKey, type HeadPlace, headKey, headPlaceOf } from "../shared/layerHeads";

/** A model that has an encoder or a decoder, and not both. */
export type LanguageModel = CausalLanguageModel | MaskedLanguageModel;

/** A model that the room Models shows. */
export type ShownModel = LanguageModel | Seq2SeqLanguageModel;

/** The tokens that a model reads. */
export interface Ids {
  /** Of a model with an encoder and a decoder: the source, then the target. */
  readonly ids: readonly number[];
  /** The number of tokens of the source; 0, the default, in other models. */
  readonly sources?: number;
}

/** The attention of one layer, at its path in the model. */
function pathOf({ name, layer }: Omit<HeadPlace, "head">): string {
  const side = name === undefined ? "" : name === "encoder" ? "encoder." : "decoder.";
  return `model.${side}layers.${layer}.${name === "cross" ? "cross" : "self"}_attn`;
}

/** The numbers of one head. */
export interface HeadShares extends Shares {
  /** [columns, D] */
  readonly values: Float32Array;
  /** The length of each token's value vector. */
  readonly lengths: Float32Array;
}

/** The most cells along a side of a small picture. */
const mostCells = 32;

export function idsTensor(heed: Heed, ids: readonly number[]): Tensor {
  return heed.tensor(Int32Array.from(ids), [1, ids.length]);
}

/** A head as the engine names it. */
export function headAt(key: HeadKey): Head {
  const place = headPlaceOf(key) as HeadPlace;
  return { path: pathOf(place), head: place.head };
}

/** Runs the model on a text for the attention of its heads, and computes as few logits as possible. */
export function readIn(model: ShownModel, read: Ids): void {
  const { heed } = model;
  heed.scope(() => {
    if ("decode" in model) lastLogits(model, read);
    else if ("readOut" in model) model.forward(idsTensor(heed, read.ids), { onlyLast: true });
    else model.forward(idsTensor(heed, read.ids));
  });
}

/** The logits [1, 1, V] of the token after the target. */
export function lastLogits(model: Seq2SeqLanguageModel, { ids, sources = 0 }: Ids): Tensor {
  const [source, target] = [ids.slice(0, sources), ids.slice(sources)];
  const { output } = model.encode(idsTensor(model.heed, source));
  const { logits } = model.decode(idsTensor(model.heed, target), output, { onlyLast: true });
  return withoutBadWords(model, logits, target);
}

/** The logits of the token after a target, without the words that the model never writes. */
export function withoutBadWords(
  { config }: Seq2SeqLanguageModel,
  logits: Tensor,
  target: readonly number[],
): Tensor {
  for (const word of config.badWords) {
    const begun = word.slice(0, -1);
    if (begun.every((id, i) => id === target.at(i - begun.length)))
      logits.data[word.at(-1) as number] = Number.NEGATIVE_INFINITY;
  }
  return logits;
}

/**
 * Has the model read a text.
 *
 * @param keep returns a value for each head, which is kept, from the weights [heads, L, S] of a layer
 */
export function headByHead<T extends object>(
  model: ShownModel,
  read: Ids,
  keep: (weights: Tensor, name: HeadPlace["name"]) => readonly T[],
): (T & { readonly key: HeadKey })[] {
  const { heed } = model;
  const found: (T & { readonly key: HeadKey })[] = [];
  const receive: nn.ReceiveWeights = (path, weights) =>
    void heed.scope(() => {
      const place: Omit<HeadPlace, "head"> = attentionAt(path) ?? { layer: layerAt(path) };
      const kept = keep(heed.reshape(weights, weights.shape.slice(1)), place.name);
      found.push(...kept.map((each, head) => ({ ...each, key: headKey({ ...place, head }) })));
    });
  nn.captureAttention(model, receive, () => readIn(model, read));
  return found;
}

/** Max-pools the weights [heads, L, S] of an attention, for the small picture of each head. */
export function pooled(heed: Heed, weights: Tensor): SmallWeights[] {
  const [heads = 0, ...sides] = weights.shape;
  const [rows = 0, cols = 0] = sides.map((side) => Math.min(mostCells, side));
  const data = heed.adaptiveMaxPool(weights, rows, cols).data as Float32Array;
  const size = rows * cols;
  return Array.from({ length: heads }, (_, head) => ({
    data: data.slice(head * size, (head + 1) * size),
    ...{ rows, cols },
  }));
}

/** Whether a query may see a key. */
function sightIn(
  { config }: ShownModel,
  { name, layer }: HeadPlace,
): (row: number, col: number) => boolean {
  if (config.kind === "seq2seq") return (row, col) => name !== "decoder" || col <= row;
  const window = config.windows[layer] ?? Number.POSITIVE_INFINITY;
  if (config.kind === "masked") return (row, col) => Math.abs(row - col) <= window;
  return (row, col) => col <= row && row - col < window;
}

/** The length of each of `count` vectors. */
export function lengthsOf(vectors: Float32Array, count: number): Float32Array {
  const size = vectors.length / count;
  return Float32Array.from({ length: count }, (_, i) =>
    Math.hypot(...vectors.subarray(i * size, (i + 1) * size)),
  );
}

/** The attention that a head is in. */
function attentionIn({ model }: ShownModel, { name, layer }: HeadPlace): nn.Module {
  if (!("encoder" in model)) return model.layers[layer]?.selfAttn as nn.Module;
  const own = (name === "encoder" ? model.encoder : model.decoder).layers[layer];
  return (name === "cross" ? own?.crossAttn : own?.selfAttn) as nn.Module;
}

/** The queries, keys, values, scores and weights of one head on a text, and the lengths of the values. */
export function sharesOfHead(model: ShownModel, read: Ids, place: HeadPlace): HeadShares {
  const { heed } = model;
  const { head } = place;
  const sees = sightIn(model, place);
  let shares: HeadShares | null = null;
  /** The part [rows, columns] of one head, or of one group of heads. */
  const part = ({ data, shape }: Tensor, from: number) => {
    const [rows = 0, columns = 0] = shape.slice(-2);
    return data.slice(from * rows * columns, (from + 1) * rows * columns) as Float32Array;
  };
  const receive: nn.ReceiveWeights = (_, weights, compared) =>
    void heed.scope(() => {
      const { query, key, value, scores } = (compared as () => nn.Compared)();
      const [, heads = 1, rows = 0, columns = 0] = weights.shape;
      // Groups of heads share keys and values.
      const group = Math.floor((head * (key.shape[1] as number)) / heads);
      const own = part(scores(), head);
      const values = part(value, group);
      for (let row = 0; row < rows; ++row)
        for (let col = 0; col < columns; ++col)
          if (!sees(row, col)) own[row * columns + col] = Number.NEGATIVE_INFINITY;
      shares = {
        weights: part(weights, head),
        scores: own,
        queries: part(query, head),
        keys: part(key, group),
        ...{ values, lengths: lengthsOf(values, columns) },
      };
    });
  nn.captureAttention(attentionIn(model, place), receive, () => readIn(model, read));
  return shares as unknown as HeadShares;
}
