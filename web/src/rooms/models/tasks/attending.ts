/** Prepares the weights of a model for the page: pooled pictures and measures of each head. */
import type { Heed } from "heed";
import type { Alignment, HeadAlignment, LabelledWeights } from "heed/models";
import { type Attention, attentionOf, plain, sharesOf } from "../../../shared/attended";
import { type HeadKey, headKey } from "../../../shared/layerHeads";
import type { Input } from "../../../shared/typed";
import { pooled } from "../../../worker/languageHeads";
import type { MeasuredAttention, TaskHead } from "./answer";
import { measuresOf, type WeightsToMeasure } from "./measures";

interface MeasuringBasis {
  /** The input with the model's own answer. */
  readonly input: Input;
  /** The answer positions: the columns that determine the answers. */
  readonly places: Alignment | null;
  readonly heldOut: readonly HeadAlignment[];
}

/** The answer positions as columns; null for an attention to which they do not apply. */
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

export function measuredAttention(
  heed: Heed,
  labelled: LabelledWeights,
  measuring: MeasuringBasis,
): MeasuredAttention {
  const attention = attentionOf(labelled);
  const { path, name, layer, heads } = attention;
  const { rows, columns, weights } = labelled;
  const places = columnsOf(path, measuring);
  const small = heed.scope(() => pooled(heed, heed.tensor(weights, [heads, rows, columns])));
  const measuredHead = (head: number): TaskHead => {
    const size = rows * columns;
    const own: WeightsToMeasure = {
      ...{ rows, columns },
      weights: weights.slice(head * size, (head + 1) * size),
    };
    const heldOut = measuring.heldOut.find((each) => each.path === path && each.head === head);
    return {
      key: headKey({ name, layer, head }),
      small: small[head] as TaskHead["small"],
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

/**
 * The head with the most attention on the answer positions: of this input if they are known, otherwise of held-out
 * examples.
 */
export function bestHeadOf(attentions: readonly MeasuredAttention[]): HeadKey {
  const heads = attentions.flatMap(({ measured }) => measured);
  const score = ({ measures }: TaskHead) => measures.places ?? measures.heldOut ?? -1;
  return heads.reduce((best, head) => (score(head) > score(best) ? head : best)).key;
}
