/** The state of the room: exactly the contents of its link (see link.ts). It contains no data of a file. */

import type { ColourCurve, ColourRange, PatternName } from "heed/view/parts";
import type { CausalState } from "../../../network/CausalPanel";
import { samplingLimits } from "../../../shared/candidates";
import type { Continued } from "../../../shared/continuedLink";

export const weightTypes = ["float32", "float16", "int8", "int4"] as const;

/** How the weights of the model are stored. */
export type WeightType = (typeof weightTypes)[number];

/** The address of the model of the room "Write", in links. */
export const ownModel = "write";

export interface State extends Continued, CausalState {
  /** The address of the model; null before one is chosen, and for files. */
  readonly model: string | null;
  readonly dtype: WeightType;
  /** The selected token, counted from 0; null for the last one, or the first mask. */
  readonly place: number | null;
  /** The text to compare with; null if none is. */
  readonly other: string | null;
  readonly measure: PatternName;
  /** Whether heads are ordered by layer or by the measure. */
  readonly order: "layer" | "measure";
  readonly range: ColourRange;
  readonly curve: ColourCurve;
  /** The lines of each query are drawn until they represent this share of its attention, in percent. */
  readonly mass: number;
}

/** Settings that a teacher's lock does not lock. */
export const lookKeys = [
  ...([
    "place",
    "head",
    "cell",
    "layer",
    "number",
    "measure",
    "order",
    "range",
    "curve",
    "mass",
  ] as const),
] satisfies (keyof State)[];

export const allowed = {
  ...samplingLimits,
  length: { min: 0, max: 500 },
  place: { min: 1, max: 512 },
  layer: { min: 0, max: 999 },
  mass: { min: 50, max: 100 },
} as const;

export const maxCharacters = 4000;

/** More tokens than this make pictures in which nothing can be seen. */
export const mostTokens = allowed.place.max;

/** How many tokens are written at a time. */
export const line = 20;

/** The first text that a model reads. */
export function firstText(kind: "causal" | "masked", mask: string | null): string {
  return kind === "causal"
    ? "The ship left the harbour, and in the evening the ship"
    : `The ${mask ?? "cat"} left the harbour in the morning, and in the evening it came back.`;
}

export const initialState: State = {
  ...{ model: null, dtype: "float32", text: null },
  ...{ temperature: 0, topK: 0, topP: 1, seed: 1, length: 0, kept: [] },
  ...{ place: null, dropped: [], head: null, cell: null, layer: null, number: null, other: null },
  ...{ measure: "entropy", order: "layer", range: "absolute", curve: "sqrt", mass: 80 },
};

/** Another text. The continuation of the former text is removed. */
export function withText(text: string): Partial<State> {
  return { text, length: 0, kept: [], place: null, cell: null };
}

/** Another model: nothing stays selected, and typed texts stay. */
export function withModel(model: string | null): Partial<State> {
  return {
    model,
    length: 0,
    kept: [],
    place: null,
    dropped: [],
    cell: null,
    head: null,
    layer: null,
    number: null,
  };
}
