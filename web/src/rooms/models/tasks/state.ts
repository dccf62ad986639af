/** The state of the view, which is exactly the content of its link (see link.ts). */

import type { Cell } from "#parts";
import type { Ablated } from "../../../shared/ablation";
import type { AttentionName } from "../../../shared/attended";
import type { Look } from "../../../shared/lookLink";
import type { HeadKey } from "./answer";
import { type ExhibitId, exhibitOf } from "./catalogue";
import type { MeasureName } from "./measures";

export interface State extends Ablated, Look<MeasureName> {
  readonly exhibit: ExhibitId;
  /** The typed text; null for an example drawn from the seed. */
  readonly text: string | null;
  readonly seed: number;
  /** The selected head; null for the best one for the input. */
  readonly head: HeadKey | null;
  /** The head to compare with. */
  readonly other: HeadKey | null;
  /** The selected row; null for the row of the first answer. */
  readonly row: number | null;
  /** The locked cell. */
  readonly cell: Cell | null;
}

/** Settings that stay unlocked under a teacher's lock. */
export const lookKeys = [
  ...(["head", "other", "row", "cell", "measure", "order"] as const),
  ...(["range", "curve", "mass"] as const),
] satisfies (keyof State)[];

export const allowed = {
  seed: { min: 1, max: 9999 },
  index: { min: 1, max: 64 },
} as const;

/** The number of unseen examples over whose positions the mean output of a head is computed. */
export const referenceExamples = 32;

const firstSeed = 1;

/** The initial state of a model. It keeps nothing that was selected in another model. */
export function firstOf(
  exhibit: ExhibitId,
): Pick<State, "exhibit" | "text" | "seed" | "ablated" | "head" | "other" | "row" | "cell"> {
  const { first } = exhibitOf(exhibit);
  const input =
    "text" in first ? { text: first.text, seed: firstSeed } : { text: null, seed: first.seed };
  return { exhibit, ...input, ablated: [], head: null, other: null, row: null, cell: null };
}

export const initialState: State = {
  ...firstOf("pronouns"),
  ...{ ablation: "zero", measure: "places", order: "layer" },
  ...{ range: "absolute", curve: "linear", mass: 80 },
};

/** Another input for the same model. Selected and ablated heads stay; selected rows and cells are reset. */
export function withInput(input: { text: string } | { seed: number }): Partial<State> {
  return { text: null, ...input, row: null, cell: null };
}

export function headKey(name: AttentionName, layer: number, head: number): HeadKey {
  return `${name}.${layer + 1}.${head + 1}`;
}

export interface HeadPlace {
  readonly name: AttentionName;
  readonly layer: number;
  readonly head: number;
}

/** Counted from 0; null if the text is not a head. */
export function headPlaceOf(key: HeadKey): HeadPlace | null {
  const [, name, layer, head] = /^(encoder|decoder|cross)\.([1-9])\.([1-9])$/.exec(key) ?? [];
  if (!name) return null;
  return { name: name as AttentionName, layer: Number(layer) - 1, head: Number(head) - 1 };
}
