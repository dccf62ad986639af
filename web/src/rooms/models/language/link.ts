/** Reads and writes the room's part of the link. */
import { spotFrom, textOfSpot } from "../../../network/spots";
import { colourReaders } from "../../../shared/colourReaders";
import { continuedReaders, putContinued, readTextFirst } from "../../../shared/continuedLink";
import { numberIn, putIn, type Readers } from "../../../shared/linkReaders";
import type { LinkReading } from "../../../shared/room";
import { allowed, initialState, maxCharacters, type State, withText } from "./state";

const readers: Readers<State> = {
  text: (text) => withText(text.slice(0, maxCharacters)),
  ...continuedReaders(allowed),
  layer: (text) => ({ layer: numberIn(allowed.layer)(text) }),
  number: (text) => ({ number: spotFrom(text) }),
  ...colourReaders,
};

export const read = (params: URLSearchParams): LinkReading<State> =>
  readTextFirst(params, initialState, readers);

export function write(state: State): URLSearchParams {
  const params = new URLSearchParams();
  putContinued(params, state, initialState);
  const put = putIn(params);
  put("layer", state.layer, null);
  put("number", state.number && textOfSpot(state.number), null);
  for (const key of ["range", "curve"] as const) put(key, state[key], initialState[key]);
  return params;
}
