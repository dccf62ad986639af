/** The attention of a language model's heads: pooled for small pictures, and one head in detail. */
import type { Heed, Tensor } from "heed";
import type { CausalLanguageModel, Head, MaskedLanguageModel } from "heed/models";
import { nn } from "heed/nn";
import type { SmallWeights } from "#parts";
import type { Shares } from "../shared/attended";
import { type HeadKey, type HeadPlace, headKey, headPlaceOf } from "../shared/layerHeads";

export type LanguageModel = CausalLanguageModel | MaskedLanguageModel;

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
  const { layer, head } = headPlaceOf(key) as HeadPlace;
  return { path: `model.layers.${layer}.self_attn`, head };
}

/** Runs the model on a text for the attention of its heads, and computes as few logits as possible. */
export function readIn(model: LanguageModel, ids: readonly number[]): void {
  const { heed } = model;
  heed.scope(() => {
    const tensor = idsTensor(heed, ids);
    if ("readOut" in model) model.forward(tensor, { onlyLast: true });
    else model.forward(tensor);
  });
}

/**
 * Has the model read a text.
 *
 * @param keep returns a value for each head, which is kept, from the weights [heads, L, L] of a layer
 */
export function headByHead<T extends object>(
  model: LanguageModel,
  ids: readonly number[],
  keep: (weights: Tensor) => readonly T[],
): (T & { readonly key: HeadKey })[] {
  const { heed } = model;
  const layers: (readonly T[])[] = [];
  const receive: nn.ReceiveWeights = (_, weights) =>
    void heed.scope(() => {
      layers.push(keep(heed.reshape(weights, weights.shape.slice(1))));
    });
  nn.captureAttention(model, receive, () => readIn(model, ids));
  return layers.flatMap((kept, layer) =>
    kept.map((each, head) => ({ ...each, key: headKey({ layer, head }) })),
  );
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
function sightIn({ config }: LanguageModel, layer: number): (row: number, col: number) => boolean {
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

/** The queries, keys, values, scores and weights of one head on a text, and the lengths of the values. */
export function sharesOfHead(
  model: LanguageModel,
  ids: readonly number[],
  { layer, head }: HeadPlace,
): HeadShares {
  const { heed, config } = model;
  const { headSize } = config;
  const count = ids.length;
  // Groups of heads share keys and values.
  const group =
    config.kind === "causal" ? Math.floor((head * config.kvHeads) / config.heads) : head;
  const sees = sightIn(model, layer);
  let shares: HeadShares | null = null;
  const part = ({ data }: Tensor, from: number, size: number) =>
    data.slice(from * size, (from + 1) * size) as Float32Array;
  const receive: nn.ReceiveWeights = (_, weights, compared) =>
    void heed.scope(() => {
      const { query, key, value, scores } = (compared as () => nn.Compared)();
      const own = part(scores(), head, count * count);
      const values = part(value, group, count * headSize);
      for (let row = 0; row < count; ++row)
        for (let col = 0; col < count; ++col)
          if (!sees(row, col)) own[row * count + col] = Number.NEGATIVE_INFINITY;
      shares = {
        weights: part(weights, head, count * count),
        scores: own,
        queries: part(query, head, count * headSize),
        keys: part(key, group, count * headSize),
        ...{ values, lengths: lengthsOf(values, count) },
      };
    });
  const attention = model.model.layers[layer]?.selfAttn as nn.Module;
  nn.captureAttention(attention, receive, () => readIn(model, ids));
  return shares as unknown as HeadShares;
}
