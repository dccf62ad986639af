/** Prepares the weights of a model for the page: pooled pictures and measures of each head. */
import type { Heed } from "heed";
import type { Alignment, HeadAlignment, LabelledWeights } from "heed/models";
import { type Attention, attentionOf, plain, sharesOf } from "../../../shared/attended";
import type { Input } from "../../../shared/typed";
import type { HeadKey, MeasuredAttention, MeasuredHead } from "./answer";
import { measuresOf, type WeightsToMeasure } from "./measures";
import type { ModelProbe } from "./probe";
import { headKey } from "./state";

/** The maximum number of cells along a side of a small picture. */
const mostCells = 32;

export interface MeasuringBasis {
  /** The input with the model's own answer. */
  readonly input: Input;
  /** The right places: the columns that determine the answers. */
  readonly places: Alignment | null;
  readonly heldOut: readonly HeadAlignment[];
}

/** The right places as columns; null for an attention to which they do not apply. */
function columnsOf(path: string, { input, places }: MeasuringBasis): Alignment | null {
  const isCross = path.endsWith("multihead_attn");
  if (places === null || (input.kind === "translation") !== isCross) return null;
  // A start token comes before a text to continue, and a class token before the patches of a picture.
  const before = input.kind === "continuation" || input.kind === "picture" ? 1 : 0;
  return places.map((row) => row.map((place) => place + before));
}

/** The name of a decoder's row consists of the token that it predicts and the previous token. */
function rowNames({ name, rows }: Attention, { input }: MeasuringBasis): readonly string[] {
  if (input.kind !== "translation" || name === "encoder") return rows;
  return rows.map((row, t) => `${plain(input.target[t] ?? "end")} after ${row}`);
}

/** The max-pooled weights of every head. */
function smallWeightsOf(heed: Heed, { heads, rows, columns, weights }: LabelledWeights) {
  const [r, c] = [Math.min(rows, mostCells), Math.min(columns, mostCells)];
  return heed.scope(() => {
    const data = heed.adaptiveMaxPool(heed.tensor(weights, [heads, rows, columns]), r, c).data;
    return Array.from({ length: heads }, (_, head) => ({
      data: data.slice(head * r * c, (head + 1) * r * c) as Float32Array,
      ...{ rows: r, cols: c },
    }));
  });
}

function measuredAttention(
  heed: Heed,
  labelled: LabelledWeights,
  measuring: MeasuringBasis,
): MeasuredAttention {
  const attention = attentionOf(labelled);
  const { path, name, layer, heads } = attention;
  const { rows, columns, weights } = labelled;
  const places = columnsOf(path, measuring);
  const small = smallWeightsOf(heed, labelled);
  const measuredHead = (head: number): MeasuredHead => {
    const size = rows * columns;
    const own: WeightsToMeasure = {
      ...{ rows, columns },
      weights: weights.slice(head * size, (head + 1) * size),
    };
    const heldOut = measuring.heldOut.find((each) => each.path === path && each.head === head);
    return {
      key: headKey(name, layer, head),
      small: small[head] as MeasuredHead["small"],
      measures: {
        ...measuresOf(own, { places, isSelf: name !== "cross" }),
        heldOut: heldOut?.mass ?? null,
      },
    };
  };
  return {
    ...{ ...attention, places },
    rows: rowNames(attention, measuring),
    shares: sharesOf(heed, labelled),
    measured: Array.from({ length: heads }, (_, head) => measuredHead(head)),
  };
}

export function attentionsOf(
  heed: Heed,
  { attentions }: ModelProbe,
  measuring: MeasuringBasis,
): MeasuredAttention[] {
  return attentions.map((attention) => measuredAttention(heed, attention, measuring));
}

/**
 * The head with the most attention on the right places: of this input if they are known, otherwise of held-out
 * examples.
 */
export function bestHeadOf(attentions: readonly MeasuredAttention[]): HeadKey {
  const heads = attentions.flatMap(({ measured }) => measured);
  const score = ({ measures }: MeasuredHead) => measures.places ?? measures.heldOut ?? -1;
  return heads.reduce((best, head) => (score(head) > score(best) ? head : best)).key;
}
