/** Reads and writes the view's part of the link. */

import { patternNames } from "#parts";
import { spotFrom, textOfSpot } from "../../../network/spots";
import { continuedReaders, putContinued } from "../../../shared/continuedLink";
import {
  numberIn,
  oneOf,
  putIn,
  type Readers,
  readParams,
  textIn,
} from "../../../shared/linkReaders";
import { lookReaders, putLook } from "../../../shared/lookLink";
import type { LinkReading } from "../../../shared/room";
import { addressOf } from "./source";
import {
  allowed,
  initialOf,
  maxCharacters,
  ourModel,
  type State,
  weightTypes,
  yourModel,
} from "./state";

const textFrom = textIn(maxCharacters);

const isModel = (text: string) => [ourModel, yourModel].includes(text) || addressOf(text) !== null;

const modelFrom = (text: string): string => {
  if (isModel(text)) return text;
  throw new RangeError("the name of a model of this room, an address, or owner/name of the hub");
};

const readers: Readers<State> = {
  model: (text) => ({ model: modelFrom(text) }),
  dtype: (text) => ({ dtype: oneOf(...weightTypes)(text) }),
  text: (text) => ({ text: textFrom(text) }),
  ...continuedReaders(allowed),
  layer: (text) => ({ layer: numberIn(allowed.layer)(text) }),
  number: (text) => ({ number: spotFrom(text) }),
  other: (text) => ({ other: textFrom(text) }),
  ...lookReaders(patternNames),
};

export function read(params: URLSearchParams): LinkReading<State> {
  const named = params.get("model") ?? ourModel;
  return readParams(params, initialOf(isModel(named) ? named : yourModel), readers);
}

export function write(state: State): URLSearchParams {
  const params = new URLSearchParams();
  const put = putIn(params);
  const initial = initialOf(state.model);
  put("model", state.model, ourModel);
  put("dtype", state.dtype, initial.dtype);
  putContinued(params, state, initial);
  put("layer", state.layer, null);
  put("number", state.number && textOfSpot(state.number), null);
  put("other", state.other, null);
  putLook(params, state, initial);
  return params;
}
