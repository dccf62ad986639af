/** Traces one token through a model that predicts the next token, or through a layer of an encoder, number by number. */
import type { Tensor } from "heed";
import type { CausalLanguageModel, LayerParts } from "heed/models";
import { nn } from "heed/nn";
import { idsTensor } from "../worker/languageHeads";
import { numbersOf } from "../worker/numbersOf";
import { lengthOf } from "./formulas";
import type {
  AddedByHeads,
  AttentionNumbers,
  BlockNumbers,
  FeedForwardNumbers,
  HeadNumbers,
  LayerMatrices,
  MatricesAnswer,
  MatricesRequest,
  NetworkAnswer,
  NetworkRequest,
  NormNumbers,
  StackNumbers,
} from "./messages";
import {
  addedByHeads,
  floatsOf,
  headShares,
  matrixOf,
  mostAttended,
  normNumbers,
  readOut,
  rowAt,
  unitLengths,
} from "./numbers";
import type { Norm, WalkedLayer, WalkedModel } from "./walkedModel";

type Layer = CausalLanguageModel["model"]["layers"][number];
type Attended = Pick<AttentionNumbers, "most" | "mostWeights"> &
  Pick<HeadNumbers, "head" | "group" | "shares" | "values" | "sum">;

/** The numbers of an attention that its weights determine, computed while it runs. */
function attendedBy(
  { heed, config }: CausalLanguageModel,
  { layer, head: wanted }: { readonly layer: number; readonly head: number },
  weights: Tensor,
  compared: nn.Compared,
): Attended {
  const head = Math.min(wanted, config.heads - 1);
  // Groups of heads share keys and values.
  const group = Math.floor((head * config.kvHeads) / config.heads);
  const row = (weights.shape[2] as number) - 1;
  const found = headShares(heed, weights, compared, { row, head, group });
  const hidden = row + 1 - (config.windows[layer] ?? row + 1);
  found.shares.scores.fill(Number.NEGATIVE_INFINITY, 0, Math.max(0, hidden));
  return { ...mostAttended(weights, row), ...found };
}

/** The query of a head before the rotary embedding. */
function queryOf(
  { heed, config }: CausalLanguageModel,
  { qProj, qNorm, sizes }: Layer["selfAttn"],
  { layer, head }: { readonly layer: number; readonly head: number },
  input: Float32Array,
): Pick<HeadNumbers, "projected" | "queryNorm" | "frequencies" | "scale"> {
  return heed.scope(() => {
    const all = qProj.forward(heed.tensor(input, [1, 1, input.length]));
    const projected = heed.slice(all, {
      ...{ axis: 2, start: head * sizes.headSize, length: sizes.headSize },
    });
    const own = numbersOf(projected);
    const normed = qNorm && numbersOf(qNorm.forward(projected));
    return {
      projected: own,
      queryNorm: qNorm && normed ? normNumbers(qNorm, "rms", own, normed) : null,
      frequencies: config.rotations?.[layer]?.frequencies ?? null,
      scale: sizes.scale,
    };
  });
}

/** The part of a layer that its heads add for the token of a row. */
function addedAt(
  { heed, config }: WalkedModel,
  { inputLayernorm, selfAttn, postAttentionLayernorm: { norm: kind } }: WalkedLayer,
  parts: LayerParts,
  row: number,
): AddedByHeads {
  const [input, read] = [rowAt(parts.input, row), rowAt(parts.attentionInput, row)];
  const headOutputs = rowAt(parts.headOutputs, row);
  return {
    name: "attention",
    norm: normNumbers(inputLayernorm, kind, input, read),
    headOutputs,
    ...addedByHeads(heed, headOutputs, config.heads, selfAttn.oProj),
    added: rowAt(parts.attention, row),
    output: rowAt(parts.between, row),
  };
}

function attentionNumbers(
  model: CausalLanguageModel,
  layer: number,
  parts: LayerParts,
  { most, mostWeights, ...shown }: Attended,
): AttentionNumbers {
  const own = model.model.layers[layer] as Layer;
  const added = addedAt(model, own, parts, (parts.input.shape[1] as number) - 1);
  return {
    ...{ ...added, most, mostWeights, maps: null },
    head: {
      ...shown,
      ...queryOf(model, own.selfAttn, { layer, head: shown.head }, added.norm.result),
      sources: null,
    },
  };
}

function feedForwardNumbers(
  { heed, config }: WalkedModel,
  { postAttentionLayernorm, mlp }: WalkedLayer,
  parts: LayerParts,
  row: number,
): FeedForwardNumbers {
  const read = rowAt(parts.feedForwardInput, row);
  const units = rowAt(parts.units, row);
  return heed.scope(() => {
    // Without a gate the model fuses the product and the activation, so the product is computed again.
    const gate = parts.gate
      ? rowAt(parts.gate, row)
      : numbersOf(mlp.upProj.forward(heed.tensor(read, [1, read.length])));
    const down = floatsOf(heed, mlp.downProj.weight);
    return {
      name: "feed-forward",
      norm: normNumbers(
        postAttentionLayernorm,
        postAttentionLayernorm.norm,
        rowAt(parts.between, row),
        read,
      ),
      activation: parts.gate ? "silu" : config.activation,
      ...{ gate, up: parts.up ? rowAt(parts.up, row) : null, units },
      unitLengths: down && unitLengths(units, down),
      added: rowAt(parts.feedForward, row),
      output: rowAt(parts.output, row),
    };
  });
}

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
  const parts = { ...before, between, feedForwardInput, ...inside, feedForward, output };
  const next = layers[index + 1]?.inputLayernorm ?? norm;
  const reader = layer.outputLayernorm ?? (next as Norm);
  const normed = reader.forward(output);
  const read = normNumbers(reader, reader.norm, rowAt(output, row), rowAt(normed, row));
  const marked = <P extends { readonly norm: NormNumbers }>(part: P): P => ({
    ...part,
    norm: { ...part.norm, isPost },
  });
  return {
    stream: [after, isPost ? normed : output],
    units: inside.units,
    block: {
      attention: marked(addedAt(model, layer, parts, row)),
      feedForward: marked(feedForwardNumbers(model, layer, parts, row)),
      next: { ...read, isPost },
      isLast: index === layers.length - 1,
    },
  };
}

function startNumbers(
  { heed, config, model }: CausalLanguageModel,
  ids: readonly number[],
  stream: Float32Array,
): StackNumbers["start"] {
  return heed.scope(() => {
    const place = ids.length - 1;
    const position = model.embedPositions?.forward(heed.tensor(Int32Array.of(place)));
    return {
      token: numbersOf(model.embedTokens.forward(heed.tensor(Int32Array.of(ids[place] as number)))),
      position: position ? numbersOf(position) : null,
      positions: config.rotations ? "rotary" : "learned",
      stream,
    };
  });
}

/** The rows of the output projection, which may be the embedding table. */
function rowsOf({ heed, model, lmHead }: CausalLanguageModel, ids: Int32Array) {
  return heed.scope(() => {
    if (!lmHead) return numbersOf(model.embedTokens.forward(heed.tensor(ids)));
    const { dtype } = lmHead.weight as { dtype?: string };
    if (dtype !== "float32" && dtype !== "float16") return null;
    return numbersOf(heed.embedding(heed.tensor(ids), lmHead.weight as Tensor));
  });
}

/** The readings after each part, as if the model ended there. */
function readingsOf(
  model: CausalLanguageModel,
  wordOf: (id: number) => string,
  streams: readonly Float32Array[],
) {
  const output = {
    logitsOf: (rows: Tensor) => model.readOut(rows),
    wordOf,
    rowsOf: (ids: Int32Array) => rowsOf(model, ids),
    bias: model.lmHead?.bias,
    isTied: model.config.isTied,
  };
  return readOut(model.heed, output, streams);
}

/** @param wordOf returns the text of a token */
export function causalNetwork(
  model: CausalLanguageModel,
  { ids, layer: open, head, ablated }: Omit<NetworkRequest, "kind" | "ablation">,
  wordOf: (id: number) => string,
): StackNumbers {
  const { heed, config } = model;
  const lengths: StackNumbers["lengths"][number][] = [];
  const streams: Float32Array[] = [];
  const layer = open === null ? undefined : model.model.layers[open];
  let attended: Attended | null = null;
  let shown: StackNumbers["open"] = null;
  const run = () =>
    model.forward(idsTensor(heed, ids), {
      onlyLast: true,
      receiveLayer: (i, parts) => {
        const of = (tensor: Tensor) => rowAt(tensor, ids.length - 1);
        const output = of(parts.output);
        if (i === 0) streams.push(of(parts.input));
        streams.push(of(parts.between), output);
        lengths.push({
          added: [parts.attention, parts.feedForward].map((part) => lengthOf(of(part))),
          stream: lengthOf(output),
        });
        if (i !== open || !layer || !attended) return;
        const attention = attentionNumbers(model, i, parts, attended);
        const feedForward = feedForwardNumbers(model, layer, parts, ids.length - 1);
        shown = { layer: i, parts: [attention, feedForward] };
      },
    });
  const receive: nn.ReceiveWeights = (_, weights, compared) =>
    void heed.scope(() => {
      const found = (compared as () => nn.Compared)();
      attended = attendedBy(model, { layer: open as number, head }, weights, found);
    });
  // The scope disposes of the logits: they are not returned.
  heed.scope(() => {
    if (layer) nn.captureAttention(layer.selfAttn, receive, run);
    else run();
  });
  const { readings, prediction } = readingsOf(model, wordOf, streams);
  const end = streams.at(-1) as Float32Array;
  const { norm } = model.model;
  const normed = heed.scope(() => numbersOf(norm.forward(heed.tensor(end, [1, end.length]))));
  return {
    partNames: ["attention", "feed-forward"],
    start: startNumbers(model, ids, streams[0] as Float32Array),
    ...{ lengths, readings, open: shown },
    end: { norm: normNumbers(norm, config.norm, end, normed), prediction },
    ablated,
    vocabulary: config.vocabularySize,
  };
}

/** The matrices of larger layers would take much time and memory to copy. Then formulas omit their terms. */
const mostWeights = 2 ** 23;

/** The matrices of a layer; null if they are too large or quantised. */
export function layerMatrices({ heed, model }: WalkedModel, layer: number): LayerMatrices | null {
  const found = model.layers[layer];
  if (!found) return null;
  const { selfAttn, mlp } = found;
  const all = [selfAttn.qProj, selfAttn.oProj, mlp.gateProj, mlp.upProj, mlp.downProj];
  const sizes = all.map((each) => {
    const shape = (each?.weight as { shape?: readonly number[] } | undefined)?.shape ?? [];
    return shape.reduce((size, length) => size * length, shape.length > 0 ? 1 : 0);
  });
  if (sizes.reduce((sum, size) => sum + size, 0) > mostWeights) return null;
  const [q, o, gate, up, down] = all.map((each) => each && matrixOf(heed, each));
  if (!q || !o || !up || !down) return null;
  return { attention: { q, o }, "feed-forward": { ...(gate && { gate }), up, down } };
}

/** Must run without the heads that the request ablates. */
export function causalAnswer(
  model: CausalLanguageModel,
  request: NetworkRequest | MatricesRequest,
  wordOf: (id: number) => string,
): NetworkAnswer | MatricesAnswer {
  if (request.kind === "matrices")
    return { kind: "matrices", matrices: layerMatrices(model, request.layer) };
  return { kind: "network", numbers: causalNetwork(model, request, wordOf) };
}
