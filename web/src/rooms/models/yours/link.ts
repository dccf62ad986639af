/** Reads and writes the room's part of the link. */

import { patternNames } from "heed/view/parts";
import { spotFrom, textOfSpot } from "../../../network/spots";
import { colourReaders } from "../../../shared/colourReaders";
import { continuedReaders, putContinued, readTextFirst } from "../../../shared/continuedLink";
import { numberIn, oneOf, putIn, type Readers } from "../../../shared/linkReaders";
import type { LinkReading } from "../../../shared/room";
import { addressOf } from "./source";
import {
  allowed,
  initialState,
  maxCharacters,
  ownModel,
  type State,
  weightTypes,
  withText,
} from "./state";

function modelFrom(text: string): string {
  if (text !== ownModel && addressOf(text) === null)
    throw new RangeError("an address, or owner/name of the hub");
  return text;
}

const readers: Readers<State> = {
  model: (text) => ({ model: modelFrom(text) }),
  dtype: (text) => ({ dtype: oneOf(...weightTypes)(text) }),
  text: (text) => withText(text.slice(0, maxCharacters)),
  ...continuedReaders(allowed),
  layer: (text) => ({ layer: numberIn(allowed.layer)(text) }),
  number: (text) => ({ number: spotFrom(text) }),
  other: (text) => ({ other: text.slice(0, maxCharacters) }),
  measure: (text) => ({ measure: oneOf(...patternNames)(text) }),
  order: (text) => ({ order: oneOf("layer", "measure")(text) }),
  ...colourReaders,
  mass: (text) => ({ mass: numberIn(allowed.mass)(text) }),
};

export const read = (params: URLSearchParams): LinkReading<State> =>
  readTextFirst(params, initialState, readers);

export function write(state: State): URLSearchParams {
  const params = new URLSearchParams();
  const put = putIn(params);
  for (const key of ["model", "dtype"] as const) put(key, state[key], initialState[key]);
  putContinued(params, state, initialState);
  put("layer", state.layer, null);
  put("number", state.number && textOfSpot(state.number), null);
  put("other", state.other, null);
  for (const key of ["measure", "order", "range", "curve", "mass"] as const)
    put(key, state[key], initialState[key]);
  return params;
}
