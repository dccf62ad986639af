import type { ColourCurve, ColourRange } from "#parts";
import type { Spot } from "../../network/messages";
import type { NetworkState } from "./network/open";
import {
  type DateQuestion,
  type DateSolution,
  type DecoderRun,
  longestAnswer,
  type MiddleModel,
  type Slip,
} from "./problem";

/** The input tokens of the decoders: their own (autoregressive) or the right ones (teacher forcing). */
export type DecodingMode = "alone" | "taught";

export interface State {
  readonly text: string;
  readonly between: MiddleModel;
  /** The decoding that the maps show. */
  readonly way: DecodingMode;
  readonly layer: number;
  /** 0 for the mean of all heads, otherwise the number of the head, counted from 1. */
  readonly head: number;
  readonly slip: Slip | null;
  /** The last step that is shown, counted from 0; initially the last one of all. */
  readonly step: number;
  /** The selected character of the answer, and of the date. */
  readonly row: number;
  readonly col: number;
  readonly weights: "initial" | "trained";
  readonly network: NetworkState;
  readonly number: Spot | null;
  readonly range: ColourRange;
  readonly curve: ColourCurve;
}

/** The last step of a right answer, which has ten characters and the end token. */
export const lastStep = 10;
/** The greatest number of steps: an answer without an end is cut off. */
export const mostSteps = longestAnswer + 1;

/** The initial head is the one with the most attention on the right places, according to the model’s report. */
export const initialState: State = {
  ...{ text: "the 3rd of March, 2021", between: "bahdanau", way: "alone" },
  ...{ layer: 1, head: 2, slip: null, step: mostSteps - 1, row: 9, col: 4 },
  ...{ weights: "initial", network: null, number: null },
  ...{ range: "absolute", curve: "linear" },
};

export const lookKeys: readonly (keyof State)[] = [
  ...(["way", "layer", "head", "step", "row", "col", "weights"] as const),
  ...(["network", "number", "range", "curve"] as const),
];

/** The request to the solver, which depends only on settings that affect the numbers. */
export function questionOf({ text, between, slip }: State): DateQuestion {
  // Absolute, because the worker's base address differs from the page's.
  const base = new URL("models/", document.baseURI).href;
  return { base, text, between, slip };
}

/** The run of a model that is shown. Without a right answer there is no teacher forcing. */
export function runShown(found: DateSolution["models"][number], way: DecodingMode): DecoderRun {
  return (way === "taught" && found.taught) || found.alone;
}

/** The step that is explained: the selected row, if it is revealed. */
export const rowShown = ({ row, step }: State): number => Math.min(row, step);

/** Selects a row, and shows it if it was hidden. */
export const choosing =
  (row: number) =>
  ({ step }: State): Partial<State> => ({ row, step: Math.max(step, row) });

export function visible(token: string): string {
  const names: Record<string, string> = { " ": "␣", "<end>": "end", "<start>": "start" };
  return names[token] ?? token;
}

/** Example dates in some of the forms of the training data. The form of the last one is not in the training data. */
export const examples = [
  "03/03/2021",
  "3.3.2021",
  "Wed 3 Mar 2021",
  "MARCH 3 2021",
  "the twenty-first of September 2044",
  "31/12/1999",
] as const;
