/** Reads and writes the room's part of the link. */
import type { Cell } from "../../picture/layout";
import { colourReaders } from "../../shared/colourReaders";
import { headFrom } from "../../shared/layerHeads";
import { numberIn, type Readers, readParams } from "../../shared/linkReaders";
import type { LinkReading } from "../../shared/room";
import { allowed, initialState, maxCharacters, type State, withText } from "./state";

const placeFrom = (text: string | undefined): number => numberIn(allowed.place)(text ?? "") - 1;

function cellFrom(text: string): Cell {
  const [row, col, ...more] = text.split(".");
  if (more.length > 0) throw new RangeError("a row and a column, such as 7.4");
  return { row: placeFrom(row), col: placeFrom(col) };
}

function keptFrom(text: string): number[] {
  const most = allowed.length.max;
  if (!/^\d{1,6}(\.\d{1,6})*$/.test(text) || text.split(".").length > most)
    throw new RangeError(`at most ${most} numbers of tokens with dots between them`);
  return text.split(".").map(Number);
}

const readers: Readers<State> = {
  text: (text) => withText(text.slice(0, maxCharacters)),
  temperature: (text) => ({ temperature: numberIn(allowed.temperature, false)(text) }),
  topk: (text) => ({ topK: numberIn(allowed.topK)(text) }),
  topp: (text) => ({ topP: numberIn(allowed.topP, false)(text) }),
  seed: (text) => ({ seed: numberIn(allowed.seed)(text) }),
  length: (text) => ({ length: numberIn(allowed.length)(text) }),
  kept: (text) => ({ kept: keptFrom(text) }),
  place: (text) => ({ place: placeFrom(text) }),
  drop: (text) => ({ dropped: [...new Set(text.split(",").filter(Boolean).map(headFrom))] }),
  head: (text) => ({ head: headFrom(text) }),
  cell: (text) => ({ cell: cellFrom(text) }),
  layer: (text) => ({ layer: numberIn(allowed.layer)(text) }),
  ...colourReaders,
};

export function read(params: URLSearchParams): LinkReading<State> {
  // A text removes what was written after another one, so it is read first, whatever the order of the link.
  const ordered = new URLSearchParams(params.getAll("text").map((text) => ["text", text]));
  for (const [key, text] of params) if (key !== "text") ordered.append(key, text);
  return readParams(ordered, initialState, readers);
}

export function write(state: State): URLSearchParams {
  const params = new URLSearchParams();
  const put = (key: string, value: string | number | null, unless: string | number | null) => {
    if (value !== null && value !== unless) params.set(key, String(value));
  };
  for (const key of ["text", "temperature"] as const) put(key, state[key], initialState[key]);
  put("topk", state.topK, initialState.topK);
  put("topp", state.topP, initialState.topP);
  for (const key of ["seed", "length"] as const) put(key, state[key], initialState[key]);
  put("kept", state.kept.join("."), "");
  put("place", state.place === null ? null : state.place + 1, null);
  put("drop", state.dropped.join(","), "");
  put("head", state.head, null);
  put("cell", state.cell && `${state.cell.row + 1}.${state.cell.col + 1}`, null);
  put("layer", state.layer, null);
  for (const key of ["range", "curve"] as const) put(key, state[key], initialState[key]);
  return params;
}
