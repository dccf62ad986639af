/** Traces one token through an encoder with norms after the parts of its layers, number by number. */
import type { Tensor } from "heed";
import type { MaskedLanguageModel } from "heed/models";
import { nn } from "heed/nn";
import { idsTensor } from "../worker/languageHeads";
import { numbersOf } from "../worker/numbersOf";
import { layerBlock, layerMatrices } from "./causal";
import { lengthOf } from "./formulas";
import type {
  AttentionNumbers,
  HeadNumbers,
  LayerNumbers,
  MatricesAnswer,
  MatricesRequest,
  NetworkAnswer,
  NetworkRequest,
  StackNumbers,
  StartNumbers,
} from "./messages";
import { headShares, matrixOf, mostAttended, normNumbers, rowAt } from "./numbers";
import type { WalkedModel } from "./walkedModel";

/** The embedding of a token: rows of tables, their sum, and its norm. */
function startOf(
  { heed, config, model }: MaskedLanguageModel,
  ids: readonly number[],
  place: number,
  stream: Float32Array,
): StartNumbers {
  return heed.scope(() => {
    const row = (table: typeof model.embedTokens, id: number) =>
      numbersOf(table.forward(heed.tensor(Int32Array.of(id))));
    const { embedTokens, embedPositions, embedTypes, embedNorm } = model;
    const { paddingToken } = config;
    const isPadding = (id: number) => id === paddingToken;
    const tokens = ids.slice(0, place + 1).filter((id) => !isPadding(id)).length;
    // RoBERTa counts positions from the number of its padding token.
    const counted = isPadding(ids[place] as number) ? 0 : tokens;
    const position = paddingToken === undefined ? place : paddingToken + counted;
    const parts = {
      token: row(embedTokens, ids[place] as number),
      position: embedPositions ? row(embedPositions, position) : null,
      segment: embedTypes ? row(embedTypes, 0) : null,
    };
    const sum = parts.token.map(
      (each, i) => each + (parts.segment?.[i] ?? 0) + (parts.position?.[i] ?? 0),
    );
    const norm = { ...normNumbers(embedNorm, "layer", sum, stream), isPost: true };
    return { ...parts, positions: "learned", stream, norm };
  });
}

/** The layer `index`, from the stream that enters it. */
function layerAt(
  model: MaskedLanguageModel,
  index: number,
  input: Tensor,
  { place, head, isOpen }: { place: number; head: number; isOpen: boolean },
) {
  const { heed } = model;
  const layer = model.model.layers[index] as (typeof model.model.layers)[number];
  type Shown = Pick<AttentionNumbers, "most" | "mostWeights"> & { readonly head: HeadNumbers };
  let shown: Shown | null = null;
  const receive: nn.ReceiveWeights = (_, weights, compared) => {
    if (!isOpen) return;
    heed.scope(() => {
      const found = (compared as () => nn.Compared)();
      const own = headShares(heed, weights, found, { row: place, head, group: head });
      const { queries: projected } = own.shares;
      const more = { queryNorm: null, frequencies: null, sources: numbersOf(input) };
      const { scale } = layer.selfAttn.sizes;
      shown = { ...mostAttended(weights, place), head: { ...own, ...more, projected, scale } };
    });
  };
  const { output: attention, headOutputs } = nn.captureAttention(layer.selfAttn, receive, () =>
    layer.selfAttn.forward(input, {}),
  );
  const before = { input, attentionInput: input, headOutputs, attention };
  const { block } = layerBlock(model as WalkedModel, index, before, place);
  return { block, shown: shown as Shown | null };
}

/** The trace of the token at `place`, by default of the last one. */
export function encoderNetwork(
  model: MaskedLanguageModel,
  {
    ids,
    place = ids.length - 1,
    layer: open,
    head: wanted,
    ablated,
  }: Omit<NetworkRequest, "kind" | "ablation">,
): StackNumbers {
  const { heed, config } = model;
  const head = Math.min(wanted, config.heads - 1);
  return heed.scope(() => {
    const { hiddenStates } = model.forward(idsTensor(heed, ids), { needHiddenStates: true });
    const streams = hiddenStates.map((state) => rowAt(state, place));
    let openLayer: LayerNumbers | null = null;
    const lengths = model.model.layers.map((_, i) =>
      heed.scope(() => {
        const input = hiddenStates[i] as Tensor;
        const { block, shown } = layerAt(model, i, input, { place, head, isOpen: i === open });
        const { attention, feedForward, next } = block;
        if (shown)
          openLayer = {
            ...{ layer: i, next },
            parts: [{ ...attention, ...shown, maps: null }, feedForward],
          };
        return {
          added: [attention, feedForward].map(({ added }) => lengthOf(added)),
          stream: lengthOf(streams[i + 1] as Float32Array),
        };
      }),
    );
    return {
      partNames: ["attention", "feed-forward"],
      start: startOf(model, ids, place, streams[0] as Float32Array),
      ...{ lengths, readings: null, open: openLayer, end: null, ablated },
      vocabulary: config.vocabularySize,
    };
  });
}

/** Must run without the heads that the request ablates. */
export function encoderAnswer(
  model: MaskedLanguageModel,
  request: NetworkRequest | MatricesRequest,
): NetworkAnswer | MatricesAnswer {
  if (request.kind === "network")
    return { kind: "network", numbers: encoderNetwork(model, request) };
  const { heed } = model;
  const matrices = layerMatrices(model as WalkedModel, request.layer);
  const { selfAttn } = model.model.layers[request.layer] ?? {};
  const [k, v] = [selfAttn?.kProj, selfAttn?.vProj].map((each) => each && matrixOf(heed, each));
  const attention = { ...matrices?.attention, ...(k && v && { k, v }) };
  return { kind: "matrices", matrices: matrices && { ...matrices, attention } };
}
