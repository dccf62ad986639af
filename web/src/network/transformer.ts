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
import {
  type Attended,
  addedByHeads,
  attendedBy,
  feedForwardNumbers,
  layerMatrices,
  plainHead,
} from "./layer";
import type { AttentionNumbers, LayerMatrices, PredictionNumbers, StackNumbers } from "./messages";
import { normNumbers, readOut, rowAt } from "./numbers";
import { type WalkedLayer, walkedStack } from "./walkedModel";

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

type AttendedByAll = Attended & Pick<AttentionNumbers, "headOutputs" | "maps">;

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
  const walked = walkedStack(heed, model[stack]);
  const attended = new Map<string, AttendedByAll>();
  const receive: nn.ReceiveWeights = (path, weights, compared) =>
    void heed.scope(() => {
      if (!path.startsWith(`${stack}.layers.${wanted}.`)) return;
      const name = path.endsWith("multihead_attn") ? "cross" : "attention";
      const found = (compared as () => nn.Compared)();
      const sums = heed.matmul(weights, found.value);
      const [, , rows, columns] = weights.shape as [number, number, number, number];
      attended.set(name, {
        ...attendedBy(heed, weights, found, { row, head }),
        headOutputs: numbersOf(heed.slice(sums, { axis: 2, start: row, length: 1 })),
        maps: { rows, columns, weights: numbersOf(weights) },
      });
    });
  const attentionIn = (
    layer: WalkedLayer,
    name: AttentionNumbers["name"],
    parts: nn.SublayerParts,
  ): AttentionNumbers => {
    const { head, headOutputs, ...found } = attended.get(name) as AttendedByAll;
    const sources = (name === "cross" && memory) || parts.input;
    const scale = 1 / Math.sqrt(head.shares.queries.length);
    return {
      ...{ ...addedByHeads(heed, layer, name, { ...parts, headOutputs }, row), ...found },
      head: plainHead(head, scale, numbersOf(sources)),
    };
  };
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
    const layer = walked.model.layers[i] as WalkedLayer;
    const own = [
      attentionIn(layer, "attention", selfAttn),
      ...(multiheadAttn ? [attentionIn(layer, "cross", multiheadAttn)] : []),
      feedForwardNumbers(walked, layer, feedForward, row),
    ];
    kept.open = { layer: i, parts: own };
    kept.matrices = layerMatrices(walked, i, true);
  };
  const output = nn.captureAttention(model, receive, () => run(receiveLayer));
  return { output, kept };
}

/** The numbers of a stack, for the token of an id in a row. */
function stackNumbers(
  model: TransformerModel,
  stack: StackName,
  { output, kept: { streams, lengths, open } }: { output: Tensor; kept: Recorded },
  [id, row]: readonly [id: number, row: number],
  prediction: PredictionNumbers | null = null,
): StackNumbers {
  const { heed, config } = model;
  const isEncoder = stack === "encoder";
  const [embedding, vocabulary] = isEncoder
    ? [model.sourceEmbedding, model.sourceVocabulary]
    : [model.targetEmbedding, model.targetVocabulary];
  const { norm } = walkedStack(heed, model[stack]).model;
  const last = streams.at(-1) as Float32Array;
  return {
    partNames: ["attention", ...(isEncoder ? [] : (["cross"] as const)), "feed-forward"],
    start: {
      token: numbersOf(embedding.forward(heed.tensor(Int32Array.of(id)))),
      ...(config.positions === "none"
        ? { position: null, positions: "none" }
        : {
            position: numbersOf(heed.sinusoidalEncoding(1, config.size, { offset: row })),
            positions: "sinusoidal",
          }),
      stream: streams[0] as Float32Array,
    },
    ...{ lengths, readings: null, open },
    end: { norm: normNumbers(norm, last, rowAt(output, row)), prediction },
    ablated: [],
    vocabulary: vocabulary.size,
  };
}

/** @throws HeedError for tokens that the model does not know */
export function transformerNetwork(
  model: TransformerModel,
  question: TransformerQuestion,
): TransformerNumbers {
  const { heed, encoder, decoder, positions, readOut: head, targetVocabulary } = model;
  const { source, written, place } = question;
  const from = model.sourceVocabulary.encode(source);
  const to = targetVocabulary.encode(["<start>", ...written]);
  const row = to.length - 1;
  const embedded = (embedding: nn.Embedding, ids: readonly number[]) =>
    positions.forward(embedding.forward(idsTensor(heed, ids)));
  model.eval();
  // The scope keeps the tensors that its function returns.
  return heed.scope(() =>
    noGrad(() => {
      const input = embedded(model.sourceEmbedding, from);
      const traced = { row: place, memory: null };
      const read = record(model, "encoder", question, traced, (receiveLayer) =>
        encoder.forward(input, { receiveLayer }),
      );
      const memory = read.output;
      const begun = embedded(model.targetEmbedding, to);
      const told = record(model, "decoder", question, { row, memory }, (receiveLayer) =>
        decoder.forward(begun, memory, { tgtIsCausal: true, receiveLayer }),
      );
      const end = {
        logitsOf: (rows: Tensor) => head.forward(decoder.norm?.forward(rows) ?? rows),
        wordOf: (id: number) => (targetVocabulary.tokens[id] ?? "").replace(/^<(\w+)>$/, "$1"),
        rowsOf: (ids: Int32Array) => numbersOf(heed.embedding(heed.tensor(ids), head.weight)),
        ...{ bias: head.bias, isTied: false },
      };
      const { readings, prediction } = readOut(heed, end, told.kept.streams);
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
