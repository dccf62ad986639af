/** Reads and writes the view's part of the link. */
import { ablatedReaders } from "../../../shared/ablation";
import {
  cellIn,
  cellText,
  indexIn,
  numberIn,
  oneOf,
  putIn,
  type Readers,
  readParams,
  textIn,
} from "../../../shared/linkReaders";
import { lookReaders, putLook } from "../../../shared/lookLink";
import type { LinkReading } from "../../../shared/room";
import { mostCharacters } from "../../../shared/typed";
import type { HeadKey } from "./answer";
import { exhibitIds } from "./catalogue";
import { measureNames } from "./measures";
import { allowed, firstOf, headPlaceOf, initialState, type State, withInput } from "./state";

function headFrom(text: string): HeadKey {
  if (!headPlaceOf(text)) throw new RangeError("a head, such as encoder.2.3");
  return text;
}

/** A model resets the input, and an input resets the row. */
const readers: Readers<State> = {
  model: (text) => firstOf(oneOf(...exhibitIds)(text)),
  text: (text) => withInput({ text: textIn(mostCharacters)(text) }),
  example: (text) => withInput({ seed: numberIn(allowed.seed)(text) }),
  ...ablatedReaders(headFrom),
  head: (text) => ({ head: headFrom(text) }),
  compare: (text) => ({ other: headFrom(text) }),
  row: (text) => ({ row: indexIn(allowed.index)(text) }),
  cell: (text) => ({ cell: cellIn(allowed.index)(text) }),
  ...lookReaders(measureNames),
};

export function read(params: URLSearchParams): LinkReading<State> {
  return readParams(params, initialState, readers);
}

export function write(state: State): URLSearchParams {
  const params = new URLSearchParams();
  const first = firstOf(state.exhibit);
  const put = putIn(params);
  params.set("model", state.exhibit);
  if (state.text !== null) put("text", state.text, first.text);
  else if (first.text !== null || state.seed !== first.seed) params.set("example", `${state.seed}`);
  put("ablate", state.ablated.join(","), "");
  put("ablation", state.ablation, initialState.ablation);
  put("head", state.head, null);
  put("compare", state.other, null);
  put("row", state.row === null ? null : state.row + 1, null);
  put("cell", cellText(state.cell), null);
  putLook(params, state, initialState);
  return params;
}
