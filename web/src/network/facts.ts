/** The numbers that the pictures and formulas of a stack show. */
import { headKey } from "../shared/layerHeads";
import type { AddedByHeads, LayerMatrices, PartName, StackNumbers } from "./messages";

/** The facts that the formulas of a layer need after its attention weights. */
export interface LayerFacts {
  readonly numbers: Pick<StackNumbers, "ablated"> & {
    readonly open: { readonly layer: number } | null;
  };
  /** Null until they have arrived, or if they are too large. Then formulas omit their terms. */
  readonly matrices: LayerMatrices | null;
}

export interface Facts extends LayerFacts {
  readonly numbers: StackNumbers;
  /** The labels of the tokens of this stack that the traced token may attend to. */
  readonly tokens: readonly string[];
  readonly place: number;
  /** The labels of the other stack's tokens. */
  readonly sources: readonly string[];
}

/** Whether a head of the open layer, counted from 0, is ablated. */
export function isAblated({ numbers: { open, ablated } }: LayerFacts, head: number): boolean {
  return open !== null && ablated.includes(headKey({ layer: open.layer, head }));
}

/** The labels of the tokens that an attention attends to. */
export function columnsOf({ tokens, sources }: Facts, { name }: AddedByHeads) {
  return name === "cross" ? sources : tokens;
}

/** The name of the module that reads the normalised stream. */
export const readers: Readonly<Record<PartName, string>> = {
  ...{ start: "the first layer", attention: "attention", cross: "cross-attention" },
  ...{ "feed-forward": "the feed-forward network", next: "the next layer", end: "the end" },
};
