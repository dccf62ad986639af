/** The state of the room: exactly the contents of its link (see link.ts). */

import type { ColourCurve, ColourRange } from "heed/view/parts";
import type { CausalState } from "../../../network/CausalPanel";
import { samplingLimits } from "../../../shared/candidates";
import type { Continued } from "../../../shared/continuedLink";

export interface State extends Continued, CausalState {
  readonly text: string;
  /** The token that the model has read last, counted from 0; null for the last one of the typed text. */
  readonly place: number | null;
  readonly range: ColourRange;
  readonly curve: ColourCurve;
}

/** Settings that a teacher's lock does not lock. */
export const lookKeys = [
  ...(["place", "head", "cell", "layer", "number", "range", "curve"] as const),
] satisfies (keyof State)[];

export const allowed = {
  ...samplingLimits,
  length: { min: 1, max: 500 },
  place: { min: 1, max: 2000 },
  layer: { min: 0, max: 99 },
} as const;

export const maxCharacters = 1000;

/** How many tokens are written at a time. */
export const line = 40;

export const initialState: State = {
  text: "It is a truth universally acknowledged, that",
  ...{ temperature: 0.8, topK: 0, topP: 0.95, seed: 1, length: line },
  ...{ kept: [], place: null, dropped: [], head: null, cell: null, layer: null, number: null },
  ...{ range: "absolute", curve: "sqrt" },
};

/** Another text. The continuation of the former text is removed. */
export function withText(text: string): Partial<State> {
  return { text, kept: [], place: null, cell: null, length: line };
}
