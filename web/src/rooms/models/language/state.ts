/** The settings of the view, and its part of the link. They contain no data of a file. */

import { type Cell, patternNames } from "#parts";
import { spotSetting } from "../../../network/spots";
import { ablationSettings } from "../../../shared/ablation";
import { type HeadKey, headFrom } from "../../../shared/layerHeads";
import { numberIn, readParams, textIn } from "../../../shared/linkReaders";
import { lookSettings } from "../../../shared/lookSettings";
import type { LinkReading } from "../../../shared/room";
import {
  cell,
  choice,
  decimal,
  index,
  initialStateOf,
  look,
  lookKeysOf,
  readersOf,
  type StateOf,
  setting,
  whole,
  writeSettings,
} from "../../../shared/settings";
import type { ShownModel } from "../../../worker/languageHeads";
import { addressOf } from "./source";

export const weightTypes = ["float32", "float16", "int8", "int4"] as const;

/** How the weights of the model are stored. */
export type WeightType = (typeof weightTypes)[number];

/** The page's own model, in links. */
export const ourModel = "language";
/** A model from files of the person, or none yet. */
export const yourModel = "yours";

/** Longer texts are refused with a message. */
export const maxCharacters = 4000;

/** More tokens than this make pictures in which nothing can be seen. */
export const mostTokens = 512;

/** The text over whose positions the mean output of a head is computed. */
export const referenceText = `The harbour was quiet when the first boats came home. A boy in a grey coat counted them from the wall: six, then seven, and after a while one more. "Is that all of them?" asked the woman beside him. He did not answer, because he was not sure. In 1912 a storm had kept nine men from coming back, and nobody in the town had forgotten it. The price of fish rose to two shillings that week; by Friday it was three. People who lived further inland knew little about such things. They wrote letters, paid taxes, read the newspaper and waited for the spring. Science, said the teacher, begins with a question: why does the sea rise and fall twice a day? Nobody knew, and so she drew the moon, the earth and a long curved line, and explained it slowly until even the smallest child understood.`;

/** How many tokens are written at a time. */
export const line = 40;

/** The first text that our model reads. */
export const ourFirstText = "It is a truth universally acknowledged, that";

/** The first text that a model of the person reads. */
export function firstText(
  kind: ShownModel["config"]["kind"],
  mask: string | null,
  architecture: string,
): string {
  if (kind === "causal") return "The ship left the harbour, and in the evening the ship";
  // T5 learned its tasks by such words (Raffel et al., 2020).
  const task = kind === "seq2seq" && architecture === "t5" ? "translate English to German: " : "";
  return `${task}The ${mask ?? "ship"} left the harbour in the morning, and in the evening it came back.`;
}

const isModel = (text: string) => [ourModel, yourModel].includes(text) || addressOf(text) !== null;

function modelFrom(text: string): string {
  if (isModel(text)) return text;
  throw new RangeError("the name of a model of this room, an address, or owner/name of the hub");
}

const textFrom: (text: string) => string | null = textIn(maxCharacters);
const places = { min: 1, max: mostTokens };
const lengths = { min: 0, max: 500 };

function keptFrom(text: string): number[] {
  if (!/^\d{1,6}(\.\d{1,6})*$/.test(text) || text.split(".").length > lengths.max)
    throw new RangeError(`at most ${lengths.max} numbers of tokens with dots between them`);
  return text.split(".").map(Number);
}

function languageFrom(text: string): string {
  if (/^\w{2,12}$/.test(text)) return text;
  throw new RangeError("the token of a language, such as deu_Latn");
}

export const settings = {
  /** `ourModel`, `yourModel`, or the address of the person's model. */
  model: setting<string>(ourModel, modelFrom),
  dtype: choice("float32", weightTypes),
  /** The typed text; null for the first text of the model. */
  text: setting(null, textFrom),
  /** The languages to translate from and to, as tokens; null for the ones that the model's files choose. */
  from: setting<string | null>(null, languageFrom),
  to: setting<string | null>(null, languageFrom),
  temperature: decimal(0.8, { min: 0, max: 2 }),
  topK: whole(0, { min: 0, max: 1000 }, { link: "topk" }),
  topP: decimal(0.95, { min: 0.05, max: 1 }, { link: "topp" }),
  seed: whole(1, { min: 0, max: 9999 }),
  /** The number of tokens to generate after the text: our model writes a line, a model of the person none. */
  length: whole(line, lengths),
  /** Generated tokens that are fixed: the tokens before the position of a change, and the chosen candidate. */
  kept: setting<readonly number[]>([], keptFrom, { write: (ids) => ids.join(".") }),
  /** The selected token, counted from 0; null for the last one of the typed text, or the first mask. */
  place: index<number | null>(null, places, look),
  ...ablationSettings(headFrom),
  /** The selected head; null for the head that attends most to the previous token. */
  head: setting<HeadKey | null>(null, headFrom, look),
  /** The locked cell of the head's weights. */
  cell: cell<Cell | null>(null, places, look),
  /** The open row of the network, 0 for the embedding, then the layers, then the end; and its locked number. */
  layer: setting<number | null>(null, numberIn({ min: 0, max: 999 }), look),
  number: spotSetting,
  /** The text to compare with; null if none is. */
  other: setting(null, textFrom),
  ...lookSettings("entropy", patternNames, "sqrt"),
};

export type State = StateOf<typeof settings>;

export const lookKeys = lookKeysOf(settings);

const ours = initialStateOf(settings);

/** The state in which a model opens. */
export const initialOf = (model: string): State =>
  model === ourModel ? ours : { ...ours, model, temperature: 0, topP: 1, length: 0 };

export function read(params: URLSearchParams): LinkReading<State> {
  const named = params.get("model") ?? ourModel;
  return readParams(params, initialOf(isModel(named) ? named : yourModel), readersOf(settings));
}

export const write = (state: State): URLSearchParams =>
  writeSettings(settings, state, { ...initialOf(state.model), model: ourModel });

/** Another text. The continuation of the former text is removed. */
export function withText(text: string) {
  return ({ model }: State): Partial<State> => ({
    ...{ text, length: initialOf(model).length, kept: [], place: null, cell: null },
  });
}

/** Another model of the person: nothing stays selected, and typed texts stay. */
export function withModel(model: string): Partial<State> {
  return {
    ...{ model, length: 0, kept: [], place: null, ablated: [], cell: null, head: null },
    ...{ layer: null, number: null, from: null, to: null },
  };
}
