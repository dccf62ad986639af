/** Traces one token through an encoder with norms after the parts of its layers, number by number. */
import type { Tensor } from "heed";
import type { MaskedLanguageModel } from "heed/models";
import { nn } from "heed/nn";
import { idsTensor } from "../worker/languageHeads";
import { numbersOf } from "../worker/numbersOf";
import { lengthOf } from "./formulas";
import { attendedBy, layerBlock, layerMatrices, plainHead } from "./layer";
import type {
  AttentionNumbers,
  LayerNumbers,
  MatricesAnswer,
  MatricesRequest,
  NetworkAnswer,
  NetworkRequest,
  StackNumbers,
  StartNumbers,
} from "./messages";
import { normNumbers, rowAt } from "./numbers";
import type { WalkedModel } from "./walkedModel";

/** Computes the stream before the first layer, [1, L, E], and the numbers that make it for one token. */
function embedding(
  { heed, model }: MaskedLanguageModel,
  ids: readonly number[],
  place: number,
): { stream: Tensor; start: StartNumbers } {
  return heed.scope(() => {
    const { tokens, types, positions, sum, output } = model.embed(idsTensor(heed, ids));
    const at = (tensor: Tensor | undefined) => (tensor ? rowAt(tensor, place) : null);
    const stream = rowAt(output, place);
    const norm = { ...normNumbers(model.embedNorm, rowAt(sum, place), stream), isPost: true };
    const tables = { token: rowAt(tokens, place), position: at(positions), segment: at(types) };
    return { stream: output, start: { ...tables, positions: "learned", stream, norm } };
  });
}

/**
 * The layer `index`, from the stream that enters it.
 *
 * @param head the head to show; null if the layer is not open
 */
function layerAt(
  model: MaskedLanguageModel,
  index: number,
  input: Tensor,
  [place, head]: readonly [place: number, head: number | null],
) {
  const { heed } = model;
  const layer = model.model.layers[index] as (typeof model.model.layers)[number];
  type Shown = Pick<AttentionNumbers, "most" | "mostWeights" | "head">;
  let shown: Shown | null = null;
  const receive: nn.ReceiveWeights = (_, weights, compared) => {
    if (head === null) return;
    heed.scope(() => {
      const found = (compared as () => nn.Compared)();
      const attended = attendedBy(heed, weights, found, { row: place, head });
      const { scale } = layer.selfAttn.sizes;
      shown = { ...attended, head: plainHead(attended.head, scale, numbersOf(input)) };
    });
  };
  const { output: attention, headOutputs } = nn.captureAttention(layer.selfAttn, receive, () =>
    layer.selfAttn.forward(input, {}),
  );
  const before = { input, attentionInput: input, headOutputs, attention };
  const { block, stream } = layerBlock(model as WalkedModel, index, before, place);
  return { block, output: stream[1], shown: shown as Shown | null };
}

/** The trace of the token at `place`, by default of the last one. */
export function encoderNetwork(
  model: MaskedLanguageModel,
  request: Omit<NetworkRequest, "kind" | "ablation">,
): StackNumbers {
  const { ids, place = ids.length - 1, layer: open, head, ablated } = request;
  const { heed, config } = model;
  return heed.scope(() => {
    const { stream, start } = embedding(model, ids, place);
    const lengths: StackNumbers["lengths"][number][] = [];
    let [input, openLayer]: [Tensor, LayerNumbers | null] = [stream, null];
    for (const i of model.model.layers.keys()) {
      input = heed.scope(() => {
        const traced = [place, i === open ? head : null] as const;
        const { block, output, shown } = layerAt(model, i, input, traced);
        const { attention, feedForward, next } = block;
        const added = [attention, feedForward].map((part) => lengthOf(part.added));
        lengths.push({ added, stream: lengthOf(next.result) });
        if (shown) {
          const parts = [{ ...attention, ...shown, maps: null }, feedForward];
          openLayer = { layer: i, next, parts };
        }
        return output;
      });
    }
    return {
      partNames: ["attention", "feed-forward"],
      ...{ start, lengths, readings: null, open: openLayer, end: null, ablated },
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
  return { kind: "matrices", matrices: layerMatrices(model as WalkedModel, request.layer, true) };
}
