/** Reads and writes the room's part of the link. */
import { colourReaders } from "../../shared/colourReaders";
import { numberIn, oneOf, onOff, type Readers, readParams } from "../../shared/linkReaders";
import type { LinkReading } from "../../shared/room";
import {
  allowed,
  initialState,
  maxCharacters,
  planOf,
  type State,
  type TaskName,
  taskNames,
} from "./state";

const task = oneOf<TaskName>(...taskNames);

function amongst(choices: readonly number[]) {
  return (text: string): number => Number(oneOf(...choices.map(String))(text));
}

/** Two numbers counted from 1, such as an attention and its head, separated by a point. */
function pairFrom(text: string): [number, number] {
  const [, first, second] = /^([1-9]\d{0,2})\.([1-9]\d{0,2})$/.exec(text) ?? [];
  if (!first || !second) throw new RangeError("two numbers such as 3.1");
  return [Number(first) - 1, Number(second) - 1];
}

const readers: Readers<State> = {
  // `read` has applied the task's defaults before.
  task: (text) => ({ task: task(text) }),
  length: (text) => ({ length: numberIn(allowed.length)(text) }),
  heads: (text) => ({ heads: amongst(allowed.heads)(text) }),
  layers: (text) => ({ layers: amongst(allowed.layers)(text) }),
  size: (text) => ({ size: amongst(allowed.size)(text) }),
  rate: (text) => ({ rate: numberIn(allowed.rate, false)(text) }),
  seed: (text) => ({ seed: numberIn(allowed.seed)(text) }),
  positions: (text) => ({ positions: onOff(text) }),
  compare: (text) => ({ compare: onOff(text) }),
  train: (text) => ({ starts: onOff(text) }),
  text: (text) => ({ text: text.slice(0, maxCharacters) }),
  at: (text) => ({ at: numberIn(allowed.at)(text) }),
  head: (text) => {
    const [attention, head] = pairFrom(text);
    return { head: { attention, head } };
  },
  cell: (text) => {
    const [row, col] = pairFrom(text);
    return { cell: { row, col } };
  },
  row: (text) => ({ row: numberIn(allowed.row)(text) - 1 }),
  outlined: (text) => ({ outlined: onOff(text) }),
  ...colourReaders,
};

export function read(params: URLSearchParams): LinkReading<State> {
  const named = params.get("task") ?? "";
  const plan = taskNames.includes(named as TaskName) ? planOf(named as TaskName) : {};
  return readParams(params, { ...initialState, ...plan }, readers);
}

export function write(state: State): URLSearchParams {
  const params = new URLSearchParams();
  const usual: State = { ...initialState, ...planOf(state.task) };
  const textOf = (value: unknown) =>
    typeof value === "boolean" ? (value ? "on" : "off") : String(value);
  for (const key of ["task", ...settings] as const)
    if (state[key] !== usual[key]) params.set(key, textOf(state[key]));
  if (!state.starts) params.set("train", "off");
  if (state.text !== null) params.set("text", state.text);
  if (state.head) params.set("head", `${state.head.attention + 1}.${state.head.head + 1}`);
  if (state.cell) params.set("cell", `${state.cell.row + 1}.${state.cell.col + 1}`);
  if (state.row !== null) params.set("row", String(state.row + 1));
  return params;
}

const settings = [
  ...(["length", "heads", "layers", "size", "rate", "seed", "positions", "compare"] as const),
  ...(["at", "outlined", "range", "curve"] as const),
] as const;
