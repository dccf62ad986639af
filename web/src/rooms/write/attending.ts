/** What the heads of the model attend to: pooled for small pictures, one in detail, and measured. */
import type { Heed, Tensor } from "heed";
import { type CausalLanguageModel, withoutHeads } from "heed/models";
import { nn } from "heed/nn";
import type { SmallWeights } from "../../picture/HeadThumbnail";
import type { Shares } from "../../shared/attended";
import { measuresOf, repeated } from "./measures";
import type { HeadMeasures } from "./messages";
import { type HeadKey, type HeadPlace, headKey, headPlaceOf } from "./state";

/** The most cells along a side of a small picture. */
const mostCells = 32;

type Named<T> = readonly { readonly key: HeadKey; readonly weights: T }[];

export function idsTensor(heed: Heed, ids: readonly number[]): Tensor {
  return heed.tensor(Int32Array.from(ids), [1, ids.length]);
}

/** Runs the model without some heads. */
export function without<T>(
  model: CausalLanguageModel,
  dropped: readonly HeadKey[],
  run: () => T,
): Promise<T> {
  const places = dropped.map(headPlaceOf).filter((place) => place !== null);
  const named = places.map(({ layer, head }) => ({ path: pathOf(layer), head }));
  return withoutHeads(model, named, run);
}

/** The name of a layer's attention in the model. */
const pathOf = (layer: number): string => `model.layers.${layer}.self_attn`;

/** Runs the model, and keeps something of the weights [heads, L, L] of every layer, in order. */
function layerByLayer<T, R>(
  model: CausalLanguageModel,
  keep: (weights: Tensor) => T,
  run: () => R,
): { result: R; kept: T[] } {
  const { heed } = model;
  const kept: T[] = [];
  const receive: nn.ReceiveWeights = (_, weights) =>
    void heed.scope(() => {
      kept.push(keep(heed.reshape(weights, weights.shape.slice(1))));
    });
  return { result: nn.captureAttention(model, receive, run), kept };
}

/** The parts of `data` that belong to each head, named. */
function perHead(layers: readonly Float32Array[], heads: number): Named<Float32Array> {
  return layers.flatMap((data, layer) =>
    Array.from({ length: heads }, (_, head) => {
      const size = data.length / heads;
      return {
        key: headKey({ layer, head }),
        weights: data.slice(head * size, (head + 1) * size),
      };
    }),
  );
}

/** Runs the model, and max-pools the weights of every head. */
export function withSmallWeights<R>(
  model: CausalLanguageModel,
  run: () => R,
): { result: R; small: Named<SmallWeights> } {
  const { heed, config } = model;
  const pooled = (weights: Tensor) => {
    const side = Math.min(mostCells, weights.shape.at(-1) as number);
    return heed.adaptiveMaxPool(weights, side, side).data.slice() as Float32Array;
  };
  const { result, kept } = layerByLayer(model, pooled, run);
  const small = perHead(kept, config.heads).map(({ key, weights }) => {
    const side = Math.sqrt(weights.length);
    return { key, weights: { data: weights, rows: side, cols: side } };
  });
  return { result, small };
}

/** The queries, keys, scores and weights of one head, on a text. */
export function sharesOfHead(
  model: CausalLanguageModel,
  ids: readonly number[],
  { layer, head }: HeadPlace,
): Shares {
  const { heed, config } = model;
  const count = ids.length;
  // Groups of heads share keys.
  const group = Math.floor((head * config.kvHeads) / config.heads);
  let shares: Shares | null = null;
  const part = ({ data }: Tensor, from: number, size: number) =>
    data.slice(from * size, (from + 1) * size) as Float32Array;
  const receive: nn.ReceiveWeights = (_, weights, compared) =>
    void heed.scope(() => {
      const { query, key, scores } = (compared as () => nn.Compared)();
      const own = part(scores(), head, count * count);
      for (let row = 0; row < count; ++row)
        own.fill(Number.NEGATIVE_INFINITY, row * count + row + 1, (row + 1) * count);
      shares = {
        weights: part(weights, head, count * count),
        scores: own,
        queries: part(query, head, count * config.headSize),
        keys: part(key, group, count * config.headSize),
      };
    });
  const attention = model.model.layers[layer]?.selfAttn as nn.Module;
  heed.scope(() => {
    nn.captureAttention(attention, receive, () =>
      model.forward(idsTensor(heed, ids), { onlyLast: true }),
    );
  });
  return shares as unknown as Shares;
}

/** The start, then random tokens twice: whoever copies the former occurrence attends to what followed it. */
function repetition(model: CausalLanguageModel, start: number): number[] {
  const generator = new nn.Generator(1);
  // Not the start, nor single bytes.
  const first = 257;
  const choices = model.config.vocabularySize - first;
  const random = Array.from({ length: repeated }, () => first + (generator.next() % choices));
  return [start, ...random, ...random];
}

export function measureHeads(model: CausalLanguageModel, start: number): HeadMeasures[] {
  const { heed, config } = model;
  const ids = repetition(model, start);
  const rows = ids.length;
  return heed.scope(() => {
    const { kept } = layerByLayer(
      model,
      ({ data }) => data.slice() as Float32Array,
      () => model.forward(idsTensor(heed, ids), { onlyLast: true }),
    );
    return perHead(kept, config.heads).map(({ key, weights }) => ({
      key,
      ...measuresOf({ weights, rows }),
    }));
  });
}
