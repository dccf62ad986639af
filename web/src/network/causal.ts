/** Traces one token through a model that predicts the next token, number by number. */
import type { Tensor } from "heed";
import type { CausalLanguageModel } from "heed/models";
import { nn } from "heed/nn";
import { idsTensor } from "../worker/languageHeads";
import { numbersOf } from "../worker/numbersOf";
import { lengthOf } from "./formulas";
import {
  type Attended,
  addedByHeads,
  attendedBy,
  feedForwardNumbers,
  layerMatrices,
  sublayersOf,
} from "./layer";
import type {
  HeadNumbers,
  MatricesAnswer,
  MatricesRequest,
  NetworkAnswer,
  NetworkRequest,
  StackNumbers,
} from "./messages";
import { normNumbers, readOut, rowAt } from "./numbers";

type Layer = CausalLanguageModel["model"]["layers"][number];

/** The query of a head before the rotary embedding. Its keys and values come from a cache. */
function queryOf(
  { heed, config }: CausalLanguageModel,
  { qProj, qNorm, sizes }: Layer["selfAttn"],
  { layer, head }: { readonly layer: number; readonly head: number },
  input: Float32Array,
): Pick<HeadNumbers, "projected" | "queryNorm" | "frequencies" | "scale" | "sources"> {
  return heed.scope(() => {
    const all = qProj.forward(heed.tensor(input, [1, 1, input.length]));
    const projected = heed.slice(all, {
      ...{ axis: 2, start: head * sizes.headSize, length: sizes.headSize },
    });
    const own = numbersOf(projected);
    const normed = qNorm && numbersOf(qNorm.forward(projected));
    return {
      projected: own,
      queryNorm: qNorm && normed ? normNumbers(qNorm, own, normed) : null,
      frequencies: config.rotations?.[layer]?.frequencies ?? null,
      ...{ scale: sizes.scale, sources: null },
    };
  });
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
  const row = ids.length - 1;
  let attended: Attended | null = null;
  let shown: StackNumbers["open"] = null;
  const run = () =>
    model.forward(idsTensor(heed, ids), {
      onlyLast: true,
      receiveLayer: (i, parts) => {
        const of = (tensor: Tensor) => rowAt(tensor, row);
        const output = of(parts.output);
        if (i === 0) streams.push(of(parts.input));
        streams.push(of(parts.between), output);
        lengths.push({
          added: [parts.attention, parts.feedForward].map((part) => lengthOf(of(part))),
          stream: lengthOf(output),
        });
        if (i !== open || !layer || !attended) return;
        const own = sublayersOf(parts);
        const heads = { ...own.attention, headOutputs: of(parts.headOutputs) };
        const { head: found, ...most } = attended;
        const added = addedByHeads(heed, layer, "attention", heads, row);
        const place = { layer: i, head: found.head };
        const query = queryOf(model, layer.selfAttn, place, added.norm.result);
        const attention = { ...added, ...most, maps: null, head: { ...found, ...query } };
        const feedForward = feedForwardNumbers(model, layer, own.feedForward, row);
        shown = { layer: i, parts: [attention, feedForward] };
      },
    });
  const receive: nn.ReceiveWeights = (_, weights, compared) =>
    void heed.scope(() => {
      attended = attendedBy(heed, weights, (compared as () => nn.Compared)(), { row, head });
      const window = config.windows[open as number] ?? ids.length;
      const { scores } = attended.head.shares;
      scores.fill(Number.NEGATIVE_INFINITY, 0, Math.max(0, ids.length - window));
    });
  // The scope disposes of the logits: they are not returned.
  heed.scope(() => {
    if (layer) nn.captureAttention(layer.selfAttn, receive, run);
    else run();
  });
  const output = {
    ...{ wordOf, logitsOf: (rows: Tensor) => model.readOut(rows) },
    rowsOf: (ids: Int32Array) => rowsOf(model, ids),
    ...{ bias: model.lmHead?.bias, isTied: config.isTied },
  };
  const { readings, prediction } = readOut(heed, output, streams);
  const end = streams.at(-1) as Float32Array;
  const { norm } = model.model;
  const normed = heed.scope(() => numbersOf(norm.forward(heed.tensor(end, [1, end.length]))));
  return {
    partNames: ["attention", "feed-forward"],
    start: startNumbers(model, ids, streams[0] as Float32Array),
    ...{ lengths, readings, open: shown },
    end: { norm: normNumbers(norm, end, normed), prediction },
    ablated,
    vocabulary: config.vocabularySize,
  };
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
