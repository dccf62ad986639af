/** The state of the view: exactly the contents of its link (see link.ts). It contains no data of a file. */

import type { PatternName } from "#parts";
import type { CausalState } from "../../../network/CausalPanel";
import type { Continued } from "../../../shared/continuedLink";
import type { Look } from "../../../shared/lookLink";

export const weightTypes = ["float32", "float16", "int8", "int4"] as const;

/** How the weights of the model are stored. */
export type WeightType = (typeof weightTypes)[number];

/** The page's own model, in links. */
export const ourModel = "language";
/** A model from files of the person, or none yet. */
export const yourModel = "yours";

export interface State extends Continued, CausalState, Look<PatternName> {
  /** `ourModel`, `yourModel`, or the address of the person's model. */
  readonly model: string;
  readonly dtype: WeightType;
  /** The selected token, counted from 0; null for the last one of the typed text, or the first mask. */
  readonly place: number | null;
  /** The text to compare with; null if none is. */
  readonly other: string | null;
}

/** Settings that a teacher's lock does not lock. */
export const lookKeys = [
  ...(["place", "head", "cell", "layer", "number", "measure", "order"] as const),
  ...(["range", "curve", "mass"] as const),
] satisfies (keyof State)[];

export const allowed = {
  length: { min: 0, max: 500 },
  place: { min: 1, max: 512 },
  layer: { min: 0, max: 999 },
} as const;

/** Longer texts are refused with a message. */
export const maxCharacters = 4000;

/** More tokens than this make pictures in which nothing can be seen. */
export const mostTokens = allowed.place.max;

/** The text over whose positions the mean output of a head is computed. */
export const referenceText = `The harbour was quiet when the first boats came home. A boy in a grey coat counted them from the wall: six, then seven, and after a while one more. "Is that all of them?" asked the woman beside him. He did not answer, because he was not sure. In 1912 a storm had kept nine men from coming back, and nobody in the town had forgotten it. The price of fish rose to two shillings that week; by Friday it was three. People who lived further inland knew little about such things. They wrote letters, paid taxes, read the newspaper and waited for the spring. Science, said the teacher, begins with a question: why does the sea rise and fall twice a day? Nobody knew, and so she drew the moon, the earth and a long curved line, and explained it slowly until even the smallest child understood.`;

/** How many tokens are written at a time. */
export const line = 40;

/** The first text that a model reads. */
export function firstText(isOurs: boolean, kind: "causal" | "masked", mask: string | null): string {
  if (isOurs) return "It is a truth universally acknowledged, that";
  return kind === "causal"
    ? "The ship left the harbour, and in the evening the ship"
    : `The ${mask ?? "cat"} left the harbour in the morning, and in the evening it came back.`;
}

/** The number of tokens that are written at first: our model writes a line, a model of the person none. */
const firstLength = (model: string) => (model === ourModel ? line : 0);

/** The state in which a model opens. */
export function initialOf(model: string): State {
  const sampling =
    model === ourModel ? { temperature: 0.8, topP: 0.95 } : { temperature: 0, topP: 1 };
  return {
    ...{ model, dtype: "float32", text: null, ...sampling, topK: 0, seed: 1 },
    ...{
      length: firstLength(model),
      kept: [],
      place: null,
      ablated: [],
      ablation: "zero",
      head: null,
      cell: null,
    },
    ...{ layer: null, number: null, other: null, measure: "entropy", order: "layer" },
    ...{ range: "absolute", curve: "sqrt", mass: 80 },
  };
}

/** Another text. The continuation of the former text is removed. */
export function withText(text: string) {
  return ({ model }: State): Partial<State> => ({
    ...{ text, length: firstLength(model), kept: [], place: null, cell: null },
  });
}

/** Another model of the person: nothing stays selected, and typed texts stay. */
export function withModel(model: string): Partial<State> {
  return {
    ...{ model, length: 0, kept: [], place: null, ablated: [], cell: null, head: null },
    ...{ layer: null, number: null },
  };
}
