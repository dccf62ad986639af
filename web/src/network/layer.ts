/** The numbers of the parts of a layer for one token, a row of tensors [1, L, X]. */
import type { Heed, Tensor } from "heed";
import type { LayerParts } from "heed/models";
import type { nn } from "heed/nn";
import { numbersOf } from "../worker/numbersOf";
import type {
  AddedByHeads,
  AttentionNumbers,
  BlockNumbers,
  FeedForwardNumbers,
  HeadNumbers,
  LayerMatrices,
  NormNumbers,
} from "./messages";
import { copied, floatsOf, matrixOf, normNumbers, rowAt, unitLengths } from "./numbers";
import type { Norm, WalkedAttention, WalkedLayer, WalkedModel } from "./walkedModel";

export interface Attended extends Pick<AttentionNumbers, "most" | "mostWeights"> {
  readonly head: Pick<HeadNumbers, "head" | "group" | "shares" | "values" | "sum">;
}

/**
 * The numbers of an attention that its weights [1, H, L, S] determine, for one row and the selected head. They are
 * computed while the attention runs.
 *
 * @param compared its keys and values are [1, G, S, D], where heads may share a group
 */
export function attendedBy(
  heed: Heed,
  weights: Tensor,
  compared: nn.Compared,
  { row, head: wanted }: { readonly row: number; readonly head: number },
): Attended {
  const [, heads, rows, count] = weights.shape as [number, number, number, number];
  const [, groups, , size] = compared.key.shape as [number, number, number, number];
  const head = Math.min(wanted, heads - 1);
  const group = Math.floor((head * groups) / heads);
  const part = ({ data }: Tensor, at: number, length: number) =>
    data.slice(at * length, (at + 1) * length) as Float32Array;
  const most = new Int32Array(heads);
  const mostWeights = Float32Array.from(most, (_, each) => {
    const own = part(weights, each * rows + row, count);
    const weight = own.reduce((a, b) => Math.max(a, b));
    most[each] = own.indexOf(weight);
    return weight;
  });
  const own = part(weights, head * rows + row, count);
  const values = part(compared.value, group, count * size);
  const sum = heed.scope(() =>
    numbersOf(heed.matmul(heed.tensor(own, [1, count]), heed.tensor(values, [count, size]))),
  );
  const shares = {
    weights: own,
    scores: part(compared.scores(), head * rows + row, count),
    queries: part(compared.query, head * rows + row, size),
    keys: part(compared.key, group, count * size),
  };
  return { most, mostWeights, head: { head, group, shares, values, sum } };
}

/** A head whose query has neither a norm nor a rotary embedding. */
export const plainHead = (
  head: Attended["head"],
  scale: number,
  sources: Float32Array,
): HeadNumbers => ({
  ...{ ...head, scale, sources, projected: head.shares.queries },
  ...{ queryNorm: null, frequencies: null },
});

function partNumbers(
  norm: Norm | undefined,
  { before, input, added, after }: nn.SublayerParts,
  row: number,
) {
  return {
    norm: normNumbers(norm, rowAt(before, row), rowAt(input, row)),
    ...{ added: rowAt(added, row), output: rowAt(after, row) },
  };
}

/** The vector that each head adds, [H, E]: the output projection of that head's part alone, without the bias. */
function vectorsOfHeads(heed: Heed, joined: Float32Array, { sizes, oProj }: WalkedAttention) {
  const { heads } = sizes;
  const size = joined.length / heads;
  const rows = new Float32Array(heads * joined.length);
  for (let head = 0; head < heads; ++head)
    rows.set(joined.subarray(head * size, (head + 1) * size), head * (joined.length + size));
  return heed.scope(() => {
    const found = oProj.forward(heed.tensor(rows, [heads, joined.length]));
    const { bias } = oProj;
    return { heads: numbersOf(bias ? heed.subtract(found, bias) : found), bias: copied(bias) };
  });
}

/** The part of a layer that its heads add, self-attention or attention to an encoder. */
export function addedByHeads(
  heed: Heed,
  { inputLayernorm, selfAttn, cross }: WalkedLayer,
  name: AddedByHeads["name"],
  parts: nn.SublayerParts & { readonly headOutputs: Float32Array },
  row: number,
): AddedByHeads {
  const { headOutputs } = parts;
  const { norm, attention } =
    name === "cross" && cross ? cross : { norm: inputLayernorm, attention: selfAttn };
  return {
    ...{ name, ...partNumbers(norm, parts, row), headOutputs },
    ...vectorsOfHeads(heed, headOutputs, attention),
  };
}

export function feedForwardNumbers(
  { heed, config }: Pick<WalkedModel, "heed" | "config">,
  { postAttentionLayernorm, mlp }: WalkedLayer,
  parts: nn.SublayerParts & { units: Tensor; gate?: Tensor | undefined; up?: Tensor | undefined },
  row: number,
): FeedForwardNumbers {
  const read = rowAt(parts.input, row);
  const units = rowAt(parts.units, row);
  return heed.scope(() => {
    // Without a gate the model fuses the product and the activation, so the product is computed again.
    const gate = parts.gate
      ? rowAt(parts.gate, row)
      : numbersOf(mlp.upProj.forward(heed.tensor(read, [1, read.length])));
    const down = floatsOf(heed, mlp.downProj.weight);
    return {
      ...{ name: "feed-forward", ...partNumbers(postAttentionLayernorm, parts, row) },
      activation: parts.gate ? "silu" : config.activation,
      ...{ gate, up: parts.up ? rowAt(parts.up, row) : null, units },
      unitLengths: down && unitLengths(units, down),
    };
  });
}

/** The two parts of a layer of a language model. */
export const sublayersOf = ({ input, attentionInput, between, output, ...parts }: LayerParts) => ({
  attention: { before: input, input: attentionInput, added: parts.attention, after: between },
  feedForward: {
    ...{ before: between, input: parts.feedForwardInput, added: parts.feedForward, after: output },
    ...{ gate: parts.gate, up: parts.up, units: parts.units },
  },
});

/**
 * A layer from the output of its attention on, for the token of a row. `stream` is the stream after attention, and
 * after the layer. A layer with norms after its parts normalises both sums, and another one copies of them.
 *
 * @param before the tensors of the layer up to that output
 */
export function layerBlock(
  model: WalkedModel,
  index: number,
  before: Pick<LayerParts, "input" | "attentionInput" | "headOutputs" | "attention">,
  row: number,
): { stream: readonly [Tensor, Tensor]; units: Tensor; block: BlockNumbers } {
  const { heed } = model;
  const { layers, norm } = model.model;
  const layer = layers[index] as WalkedLayer;
  const isPost = layer.outputLayernorm !== undefined;
  const between = heed.add(before.input, before.attention);
  const feedForwardInput = layer.postAttentionLayernorm.forward(between);
  const { output: feedForward, ...inside } = layer.mlp.forward(feedForwardInput);
  const after = isPost ? feedForwardInput : between;
  const output = heed.add(after, feedForward);
  const parts = sublayersOf({
    ...{ ...before, between, feedForwardInput, ...inside, feedForward, output },
  });
  const next = layers[index + 1]?.inputLayernorm ?? norm;
  const reader = layer.outputLayernorm ?? (next as Norm);
  const normed = reader.forward(output);
  const marked = <P extends { readonly norm: NormNumbers }>(part: P): P => ({
    ...part,
    norm: { ...part.norm, isPost },
  });
  const heads = { ...parts.attention, headOutputs: rowAt(before.headOutputs, row) };
  return {
    stream: [after, isPost ? normed : output],
    units: inside.units,
    block: {
      attention: marked(addedByHeads(heed, layer, "attention", heads, row)),
      feedForward: marked(feedForwardNumbers(model, layer, parts.feedForward, row)),
      next: { ...normNumbers(reader, rowAt(output, row), rowAt(normed, row)), isPost },
      isLast: index === layers.length - 1,
    },
  };
}

/** The matrices of larger layers would take much time and memory to copy. Then formulas omit their terms. */
const mostWeights = 2 ** 23;

/**
 * The matrices of a layer; null if they are too large or quantised.
 *
 * @param hasSources whether the room shows the inputs of keys and values, and so needs their matrices
 */
export function layerMatrices(
  { heed, model }: WalkedModel,
  layer: number,
  hasSources = false,
): LayerMatrices | null {
  const found = model.layers[layer];
  if (!found) return null;
  const { selfAttn, cross, mlp } = found;
  const all = [selfAttn.qProj, selfAttn.oProj, mlp.gateProj, mlp.upProj, mlp.downProj];
  const sizes = all.map((each) => {
    const shape = (each?.weight as { shape?: readonly number[] } | undefined)?.shape ?? [];
    return shape.reduce((size, length) => size * length, shape.length > 0 ? 1 : 0);
  });
  if (sizes.reduce((sum, size) => sum + size, 0) > mostWeights) return null;
  const matricesOf = ({ qProj, kProj, vProj, oProj }: WalkedAttention) => {
    const [k, v] = hasSources ? [kProj, vProj].map((each) => matrixOf(heed, each)) : [];
    const [q, o] = [qProj, oProj].map((each) => matrixOf(heed, each));
    return q && o && { q, o, ...(k && v && { k, v }) };
  };
  const attention = matricesOf(selfAttn);
  const other = cross && matricesOf(cross.attention);
  const [gate, up, down] = all.slice(2).map((each) => each && matrixOf(heed, each));
  if (!attention || !up || !down) return null;
  return {
    ...{ attention, ...(other && { cross: other }) },
    "feed-forward": { ...(gate && { gate }), up, down },
  };
}
