/** The settings of the view, and its part of the link. */

import type { Cell } from "#parts";
import { ablationSettings } from "../../../shared/ablation";
import { type ExhibitId, exhibitIds, exhibitOf } from "../../../shared/catalogue";
import { type HeadKey, headPlaceOf } from "../../../shared/layerHeads";
import { numberIn, oneOf, type Readers, readParams, textIn } from "../../../shared/linkReaders";
import { lookSettings } from "../../../shared/lookSettings";
import type { LinkReading } from "../../../shared/room";
import {
  cell,
  index,
  initialStateOf,
  look,
  lookKeysOf,
  readersOf,
  type StateOf,
  setting,
  writeSettings,
} from "../../../shared/settings";
import { mostCharacters } from "../../../shared/typed";
import { measureNames } from "./measures";

function headFrom(text: string): HeadKey {
  if (!headPlaceOf(text)?.name) throw new RangeError("a head, such as encoder.2.3");
  return text;
}

const places = { min: 1, max: 64 };

export const settings = {
  ...ablationSettings(headFrom),
  /** The selected head; null for the best one for the input. */
  head: setting<HeadKey | null>(null, headFrom, look),
  /** The head to compare with. */
  other: setting<HeadKey | null>(null, headFrom, { ...look, link: "compare" }),
  /** The selected row; null for the row of the first answer. */
  row: index<number | null>(null, places, look),
  /** The locked cell. */
  cell: cell<Cell | null>(null, places, look),
  ...lookSettings("places", measureNames, "linear"),
};

export interface State extends StateOf<typeof settings> {
  readonly exhibit: ExhibitId;
  /** The typed text; null for an example drawn from the seed. */
  readonly text: string | null;
  readonly seed: number;
}

export const lookKeys = lookKeysOf(settings);

export const seeds = { min: 1, max: 9999 };

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

export const initialState: State = { ...initialStateOf(settings), ...firstOf("pronouns") };

/** Another input for the same model. Selected and ablated heads stay; selected rows and cells are reset. */
export function withInput(input: { text: string } | { seed: number }): Partial<State> {
  return { text: null, ...input, row: null, cell: null };
}

/** A model resets the input, and an input resets the row. */
const readers: Readers<State> = {
  model: (text) => firstOf(oneOf(...exhibitIds)(text)),
  text: (text) => withInput({ text: textIn(mostCharacters)(text) }),
  example: (text) => withInput({ seed: numberIn(seeds)(text) }),
  ...readersOf(settings),
};

export function read(params: URLSearchParams): LinkReading<State> {
  return readParams(params, initialState, readers);
}

export function write(state: State): URLSearchParams {
  const { exhibit, text, seed } = state;
  const first = firstOf(exhibit);
  const params = new URLSearchParams({ model: exhibit });
  if (text === null && (first.text !== null || seed !== first.seed))
    params.set("example", `${seed}`);
  if (text !== null && text !== first.text) params.set("text", text);
  return writeSettings(settings, state, initialState, params);
}
