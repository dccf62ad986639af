import { spotSetting } from "../../network/spots";
import type { StackName } from "../../network/transformer";
import { numberIn, oneOf, textIn } from "../../shared/linkReaders";
import { colourSettings } from "../../shared/lookSettings";
import { choice, index, linkOf, look, type StateOf, setting } from "../../shared/settings";
import {
  type DateQuestion,
  longestAnswer,
  type MiddleModel,
  maxCharacters,
  type Slip,
} from "./problem";
import type { DecoderRun, ModelAnswers } from "./solve";

/** The input tokens of the decoders: their own (autoregressive) or the right ones (teacher forcing). */
export type DecodingMode = "alone" | "taught";

/** The last step of a right answer, which has ten characters and the end token. */
export const lastStep = 10;
/** The greatest number of steps: an answer without an end is cut off. */
export const mostSteps = longestAnswer + 1;

function slipFrom(text: string): Slip {
  const [, at = "", token = ""] = /^(\d{1,2}):([-0-9])$/.exec(text) ?? [];
  const number = Number(at);
  if (token === "" || number < 1 || number > lastStep)
    throw new RangeError("a place from 1 to 10 and what is put there, such as 7:4");
  return { place: number - 1, token };
}

/** A row of a stack of the whole Transformer: 0 for the start, then the layers, then the end. */
export interface OpenRow {
  readonly stack: StackName;
  readonly row: number;
}

/** Null while the panel is folded; "open" if no row is open. */
type NetworkState = OpenRow | "open" | null;

function networkFrom(text: string): NetworkState {
  if (text === "open") return text;
  const [stack = "", row = "", ...more] = text.split(".");
  if (more.length > 0) throw new RangeError("open, or a stack and a row, such as decoder.2");
  return { stack: oneOf("encoder", "decoder")(stack), row: numberIn({ min: 0, max: 3 })(row) };
}

const steps = { min: 1, max: mostSteps };

/** The initial head is the one with the most attention on the right places, according to the model’s report. */
export const settings = {
  text: setting("the 3rd of March, 2021", textIn(maxCharacters), { link: "date" }),
  between: choice<MiddleModel>("bahdanau", ["bahdanau", "dot"]),
  /** The decoding that the maps show. */
  way: choice<DecodingMode>("alone", ["alone", "taught"], look),
  layer: index(1, { min: 1, max: 2 }, look),
  /** 0 for the mean of all heads, otherwise the number of the head, counted from 1. */
  head: setting(2, (text) => (text === "mean" ? 0 : numberIn({ min: 1, max: 4 })(text)), {
    ...look,
    write: (head) => (head === 0 ? "mean" : String(head)),
  }),
  slip: setting<Slip | null>(null, slipFrom, {
    write: (slip) => slip && `${slip.place + 1}:${slip.token}`,
  }),
  /** The last step that is shown, counted from 0; initially the last one of all. */
  step: index(mostSteps - 1, steps, look),
  /** The selected character of the answer, and of the date. */
  row: index(9, steps, { ...look, link: "says" }),
  col: index(4, { min: 1, max: maxCharacters }, { ...look, link: "from" }),
  weights: choice<"initial" | "trained">("initial", ["initial", "trained"], look),
  network: setting<NetworkState>(null, networkFrom, {
    ...look,
    write: (open) => (open && open !== "open" ? `${open.stack}.${open.row}` : open),
  }),
  number: spotSetting,
  ...colourSettings("linear"),
};

export type State = StateOf<typeof settings>;

export const { initialState, lookKeys, read, write } = linkOf(settings);

/** The request to the solver, which depends only on settings that affect the numbers. */
export function questionOf({ text, between, slip }: State): DateQuestion {
  // Absolute, because the worker's base address differs from the page's.
  const base = new URL("models/", document.baseURI).href;
  return { base, text, between, slip };
}

/** The run of a model that is shown. Without a right answer there is no teacher forcing. */
export function runShown(found: ModelAnswers, way: DecodingMode): DecoderRun {
  return (way === "taught" && found.taught) || found.alone;
}

/** The step that is explained: the selected row, if it is revealed. */
export const rowShown = ({ row, step }: State): number => Math.min(row, step);

/** Selects a row, and shows it if it was hidden. */
export const choosing =
  (row: number) =>
  ({ step }: State): Partial<State> => ({ row, step: Math.max(step, row) });

export { plain as visible } from "../../shared/attended";

/** Example dates in some of the forms of the training data. The form of the last one is not in the training data. */
export const examples = [
  "03/03/2021",
  "3.3.2021",
  "Wed 3 Mar 2021",
  "MARCH 3 2021",
  "the twenty-first of September 2044",
  "31/12/1999",
] as const;
