/** What a person can set in this room. */
import type { Curve, Range } from "../../picture/colour";
import {
  type Between,
  longest,
  type Question,
  type Run,
  type Slip,
  type Solution,
} from "./problem";

/** How the decoders write: from the right words or from their own. */
export type Way = "alone" | "taught";

export interface State {
  readonly text: string;
  readonly between: Between;
  /** What the maps show. */
  readonly way: Way;
  /** Of the transformer, from 0. */
  readonly layer: number;
  /** 0 is the mean of all heads, then the heads from 1. */
  readonly head: number;
  readonly slip: Slip | null;
  /** The last step that is shown, from 0; at first all of them. */
  readonly step: number;
  /** The chosen character of the answer, and of the date. */
  readonly row: number;
  readonly col: number;
  readonly range: Range;
  readonly curve: Curve;
}

/** Ten characters of an answer, and its end. */
export const lastStep = 10;
/** The last step that there can be: an answer that does not end is cut off. */
export const mostSteps = longest + 1;

/** The head of the first view is the one that looks most at the right places, by the model’s report. */
export const initialState: State = {
  ...{ text: "the 3rd of March, 2021", between: "bahdanau", way: "alone" },
  ...{ layer: 1, head: 2, slip: null, step: mostSteps - 1, row: 9, col: 4 },
  ...{ range: "absolute", curve: "linear" },
};

export const lookKeys: readonly (keyof State)[] = [
  ...(["way", "layer", "head", "step", "row", "col", "range", "curve"] as const),
];

/** Only what changes the numbers. */
export function questionOf({ text, between, slip }: State): Question {
  // The worker has another address than the page.
  const base = new URL("models/", document.baseURI).href;
  return { base, text, between, slip };
}

/** The run of a model that is shown; where there is no right answer, no model can be taught. */
export function runShown(found: Solution["models"][number], way: Way): Run {
  return (way === "taught" && found.taught) || found.alone;
}

/** A character as it can be seen. */
export function visible(token: string): string {
  const names: Record<string, string> = { " ": "␣", "<end>": "end", "<start>": "start" };
  return names[token] ?? token;
}

/** Forms that the models know, a date in each, by how they have the month. */
export const forms = {
  "in figures, or short": [
    "03/03/2021",
    "3.3.2021",
    "20210303",
    "3-Mar-2021",
    "Mar. 3, 2021",
    "Wed 3 Mar 2021",
  ],
  "in words": [
    "March 3, 2021",
    "MARCH 3 2021",
    "the 3rd of March, 2021",
    "Wednesday, March 3, 2021",
    "the third of March 2021",
    "the twenty-first of September 2044",
  ],
} as const;
