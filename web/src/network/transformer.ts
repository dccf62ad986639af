/**
 * Traces two tokens, one through the encoder and one through the decoder (Vaswani et al., 2017, figure 1), number by
 * number.
 */
import type { Tensor } from "heed";
import type { TransformerModel } from "heed/models";
import { nn, noGrad } from "heed/nn";
import { idsTensor } from "../worker/languageHeads";
import { numbersOf } from "../worker/numbersOf";
import { lengthOf } from "./formulas";
import type {
  AttentionNumbers,
  FeedForwardNumbers,
  HeadNumbers,
  LayerMatrices,
  Matrix,
  PartNumbers,
  PredictionNumbers,
  Reading,
  StackNumbers,
  StartNumbers,
} from "./messages";
import {
  addedByHeads,
  headShares,
  mapNumbers,
  matrixOf,
  mostAttended,
  normNumbers,
  readOut,
  rowAt,
  unitLengths,
} from "./numbers";

export type StackName = "encoder" | "decoder";

/** The input of a model, and the row and head to show. */
export interface TransformerQuestion {
  /** The tokens of the input. */
  readonly source: readonly string[];
  /** The tokens of the answer before the traced step. */
  readonly written: readonly string[];
  /** The traced token of the input, counted from 0. */
  readonly place: number;
  /** The open layer, counted from 0; null for none. */
  readonly open: { readonly stack: StackName; readonly layer: number } | null;
  /** The selected head of the open layer. */
  readonly head: number;
}

export interface TransformerNumbers {
  readonly encoder: StackNumbers;
  readonly decoder: StackNumbers;
  /** The matrices of the open layer. */
  readonly matrices: LayerMatrices | null;
}

type Attended = Pick<AttentionNumbers, "most" | "mostWeights" | "headOutputs" | "maps"> & {
  readonly head: Pick<HeadNumbers, "head" | "group" | "shares" | "values" | "sum">;
};

/** The numbers of an attention that its weights determine, computed while it runs. */
function attendedBy(
  { heed }: TransformerModel,
  weights: Tensor,
  compared: nn.Compared,
  { row, head }: { readonly row: number; readonly head: number },
): Attended {
  const [, heads, rows] = weights.shape as [number, number, number];
  const own = Math.min(head, heads - 1);
  const sums = heed.matmul(weights, compared.value);
  const parts = Array.from({ length: heads }, (_, each) => rowAt(sums, each * rows + row));
  const size = parts[0]?.length ?? 0;
  const headOutputs = new Float32Array(heads * size);
  for (const [each, part] of parts.entries()) headOutputs.set(part, each * size);
  return {
    ...mostAttended(weights, row),
    ...{ headOutputs, maps: mapNumbers(weights) },
    head: headShares(heed, weights, compared, { row, head: own, group: own }),
  };
}

/** A layer of either stack. */
type Layer = nn.TransformerEncoderLayer | nn.TransformerDecoderLayer;

interface LayerContext {
  readonly model: TransformerModel;
  readonly layer: Layer;
  readonly row: number;
  readonly attended: ReadonlyMap<string, Attended>;
  /** The output of the encoder, [1, S, E]. */
  readonly memory: Tensor | null;
}

function attentionNumbers(
  { model, layer, row, attended, memory }: LayerContext,
  name: AttentionNumbers["name"],
  parts: nn.SublayerParts,
): AttentionNumbers {
  const isCross = name === "cross";
  const { head, ...found } = attended.get(name) as Attended;
  const cross = "multiheadAttn" in layer ? layer.multiheadAttn : undefined;
  const attention = (isCross && cross) || layer.selfAttn;
  const norm = isCross ? layer.norm2 : layer.norm1;
  const sources = isCross && memory ? memory : parts.input;
  return {
    name,
    norm: normNumbers(norm, "layer", rowAt(parts.before, row), rowAt(parts.input, row)),
    ...found,
    ...addedByHeads(model.heed, found.headOutputs, attention.heads, attention.outProj),
    added: rowAt(parts.added, row),
    output: rowAt(parts.after, row),
    head: {
      ...head,
      scale: 1 / Math.sqrt(head.shares.queries.length),
      ...{ projected: head.shares.queries, queryNorm: null, frequencies: null },
      sources: numbersOf(sources),
    },
  };
}

function feedForwardNumbers(
  { model, layer, row }: LayerContext,
  parts: nn.TransformerLayerParts["feedForward"],
): FeedForwardNumbers {
  const { heed } = model;
  const norm = "norm3" in layer ? layer.norm3 : layer.norm2;
  const read = rowAt(parts.input, row);
  const units = rowAt(parts.units, row);
  const before = heed.scope(() =>
    numbersOf(layer.linear1.forward(heed.tensor(read, [1, read.length]))),
  );
  return {
    name: "feed-forward",
    norm: normNumbers(norm, "layer", rowAt(parts.before, row), read),
    activation: layer.activation,
    ...{ gate: before, up: null, units },
    unitLengths: unitLengths(units, layer.linear2.weight),
    added: rowAt(parts.added, row),
    output: rowAt(parts.after, row),
  };
}

/** The rows of a joint matrix [3E, E] that project to queries, keys or values. */
function thirdOf({ inProjWeight, inProjBias }: nn.MultiHeadAttention, third: number): Matrix {
  const part = (tensor: Tensor | undefined) => {
    const size = (tensor?.size ?? 0) / 3;
    return tensor ? (tensor.data.slice(third * size, (third + 1) * size) as Float32Array) : null;
  };
  return { weight: part(inProjWeight) ?? new Float32Array(), bias: part(inProjBias) };
}

function matricesOf({ heed }: TransformerModel, layer: Layer): LayerMatrices {
  const attention = (own: nn.MultiHeadAttention) => {
    const [q, k, v] = [0, 1, 2].map((third) => thirdOf(own, third)) as [Matrix, Matrix, Matrix];
    const o = matrixOf(heed, own.outProj);
    return { q, k, v, ...(o && { o }) };
  };
  const [up, down] = [layer.linear1, layer.linear2].map((each) => matrixOf(heed, each));
  return {
    attention: attention(layer.selfAttn),
    ...("multiheadAttn" in layer && { cross: attention(layer.multiheadAttn) }),
    "feed-forward": { ...(up && { up }), ...(down && { down }) },
  };
}

/** The recorded numbers of either stack. */
interface Recorded {
  readonly lengths: StackNumbers["lengths"][number][];
  /** The stream at the start, then after each part of each layer, [E] each. */
  readonly streams: Float32Array[];
  open: StackNumbers["open"];
  matrices: LayerMatrices | null;
}

/** Records one row of every part of a stack while `run` runs the stack. */
function record(
  model: TransformerModel,
  stack: StackName,
  { open, head }: TransformerQuestion,
  { row, memory }: { readonly row: number; readonly memory: Tensor | null },
  run: (receiveLayer: nn.ReceiveTransformerLayer) => Tensor,
): { output: Tensor; kept: Recorded } {
  const { heed } = model;
  const kept: Recorded = { lengths: [], streams: [], open: null, matrices: null };
  const wanted = open?.stack === stack ? open.layer : null;
  const attended = new Map<string, Attended>();
  const receive: nn.ReceiveWeights = (path, weights, compared) =>
    void heed.scope(() => {
      if (!path.startsWith(`${stack}.layers.${wanted}.`)) return;
      const name = path.endsWith("multihead_attn") ? "cross" : "attention";
      const found = (compared as () => nn.Compared)();
      attended.set(name, attendedBy(model, weights, found, { row, head }));
    });
  const receiveLayer: nn.ReceiveTransformerLayer = (i, parts) => {
    const { selfAttn, multiheadAttn, feedForward } = parts;
    const all = [selfAttn, ...(multiheadAttn ? [multiheadAttn] : []), feedForward];
    if (i === 0) kept.streams.push(rowAt(selfAttn.before, row));
    for (const { after } of all) kept.streams.push(rowAt(after, row));
    kept.lengths.push({
      added: all.map(({ added }) => lengthOf(rowAt(added, row))),
      stream: lengthOf(kept.streams.at(-1) as Float32Array),
    });
    if (i !== wanted) return;
    const layer = model[stack].layers[i] as Layer;
    const context = { model, layer, row, attended, memory };
    const own: PartNumbers[] = [attentionNumbers(context, "attention", selfAttn)];
    if (multiheadAttn) own.push(attentionNumbers(context, "cross", multiheadAttn));
    own.push(feedForwardNumbers(context, feedForward));
    kept.open = { layer: i, parts: own };
    kept.matrices = matricesOf(model, layer);
  };
  const output = nn.captureAttention(model, receive, () => run(receiveLayer));
  return { output, kept };
}

function startNumbers(
  { heed, config }: TransformerModel,
  embedding: nn.Embedding,
  [id, row]: readonly [number, number],
  stream: Float32Array,
): StartNumbers {
  return heed.scope(() => ({
    token: numbersOf(embedding.forward(heed.tensor(Int32Array.of(id)))),
    position:
      config.positions === "none"
        ? null
        : numbersOf(heed.sinusoidalEncoding(1, config.size, { offset: row })),
    positions: config.positions === "none" ? "none" : "sinusoidal",
    stream,
  }));
}

/** The readings of the decoder after each part, as if the decoder ended there. */
function readingsOf(
  { heed, decoder, readOut: head, targetVocabulary }: TransformerModel,
  streams: readonly Float32Array[],
): { readings: Reading[]; prediction: PredictionNumbers } {
  return readOut(
    heed,
    {
      logitsOf: (rows) => head.forward(decoder.norm?.forward(rows) ?? rows),
      wordOf: (id) => (targetVocabulary.tokens[id] ?? "").replace(/^<(\w+)>$/, "$1"),
      rowsOf: (ids) => heed.scope(() => numbersOf(heed.embedding(heed.tensor(ids), head.weight))),
      bias: head.bias,
      isTied: false,
    },
    streams,
  );
}

/** The numbers of a stack. `token` is the traced token: its id and its row. */
function stackNumbers(
  model: TransformerModel,
  stack: StackName,
  { output, kept: { streams, lengths, open } }: { output: Tensor; kept: Recorded },
  token: readonly [id: number, row: number],
  prediction: PredictionNumbers | null = null,
): StackNumbers {
  const isEncoder = stack === "encoder";
  const [embedding, vocabulary] = isEncoder
    ? [model.sourceEmbedding, model.sourceVocabulary]
    : [model.targetEmbedding, model.targetVocabulary];
  const { norm } = model[stack];
  const last = streams.at(-1) as Float32Array;
  return {
    partNames: ["attention", ...(isEncoder ? [] : (["cross"] as const)), "feed-forward"],
    start: startNumbers(model, embedding, token, streams[0] as Float32Array),
    ...{ lengths, readings: null, open },
    end: { norm: normNumbers(norm, "layer", last, rowAt(output, token[1])), prediction },
    ablated: [],
    vocabulary: vocabulary.size,
  };
}

/** @throws HeedError for tokens that the model does not know */
export function transformerNetwork(
  model: TransformerModel,
  question: TransformerQuestion,
): TransformerNumbers {
  const { heed, encoder, decoder, positions } = model;
  const { source, written, place } = question;
  const from = model.sourceVocabulary.encode(source);
  const to = model.targetVocabulary.encode(["<start>", ...written]);
  const row = to.length - 1;
  const embedded = (embedding: nn.Embedding, ids: readonly number[]) =>
    positions.forward(embedding.forward(idsTensor(heed, ids)));
  model.eval();
  // The scope keeps the tensors that its function returns.
  return heed.scope(() =>
    noGrad(() => {
      const input = embedded(model.sourceEmbedding, from);
      const read = record(
        model,
        "encoder",
        question,
        { row: place, memory: null },
        (receiveLayer) => encoder.forward(input, { receiveLayer }),
      );
      const memory = read.output;
      const begun = embedded(model.targetEmbedding, to);
      const told = record(model, "decoder", question, { row, memory }, (receiveLayer) =>
        decoder.forward(begun, memory, { tgtIsCausal: true, receiveLayer }),
      );
      const { readings, prediction } = readingsOf(model, told.kept.streams);
      return {
        encoder: stackNumbers(model, "encoder", read, [from[place] as number, place]),
        decoder: {
          ...stackNumbers(model, "decoder", told, [to[row] as number, row], prediction),
          readings,
        },
        matrices: read.kept.matrices ?? told.kept.matrices,
      };
    }),
  );
}
