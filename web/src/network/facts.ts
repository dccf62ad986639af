/** What the pictures and the formulas of a stack are made of. */
import { headKey } from "../shared/layerHeads";
import type {
  AttentionNumbers,
  LayerMatrices,
  PartName,
  PartNumbers,
  StackNumbers,
} from "./messages";

/** What the formulas of a stack are made of. */
export interface Facts {
  readonly numbers: StackNumbers;
  /** Null until they have come, or if they are too large: formulas have no terms then. */
  readonly matrices: LayerMatrices | null;
  /** The tokens of the stack that the token may attend to, as labels. */
  readonly tokens: readonly string[];
  /** The index of the token whose way is shown. */
  readonly place: number;
  /** Those of the other stack. */
  readonly sources: readonly string[];
}

/** The part of the open layer; undefined for the ends, or if another layer is open. */
export function partOf({ numbers }: Facts, name: PartName): PartNumbers | undefined {
  return numbers.open?.parts.find((part) => part.name === name);
}

/** Whether a head of the open layer, counted from 0, is dropped. */
export function isDropped({ numbers: { open, dropped } }: Facts, head: number): boolean {
  return open !== null && dropped.includes(headKey({ layer: open.layer, head }));
}

/** The tokens that an attention compares with. */
export function columnsOf({ tokens, sources }: Facts, { name }: AttentionNumbers) {
  return name === "cross" ? sources : tokens;
}

/** What reads the normed stream. */
export const readers: Readonly<Record<PartName, string>> = {
  ...{ start: "the first layer", attention: "attention", cross: "cross-attention" },
  ...{ "feed-forward": "the feed-forward network", end: "the end" },
};

export const entry = (words: string, i: number) => `${words}, entry ${i + 1}`;
