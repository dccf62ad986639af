/** Reads and writes the room's part of the link. */
import { colourReaders } from "../../shared/colourReaders";
import {
  cellIn,
  cellText,
  numberIn,
  oneOf,
  onOff,
  type Readers,
  readParams,
} from "../../shared/linkReaders";
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

const pair = cellIn({ min: 1, max: 999 });

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
  slow: (text) => ({ slow: onOff(text) }),
  text: (text) => ({ text: text.slice(0, maxCharacters) }),
  at: (text) => ({ at: numberIn(allowed.at)(text) }),
  head: (text) => {
    const { row: attention, col: head } = pair(text);
    return { head: { attention, head } };
  },
  cell: (text) => ({ cell: pair(text) }),
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
  const { head, cell } = state;
  const texts = {
    train: state.starts ? null : "off",
    text: state.text,
    head: cellText(head && { row: head.attention, col: head.head }),
    cell: cellText(cell),
    row: state.row === null ? null : String(state.row + 1),
  };
  for (const [key, text] of Object.entries(texts)) if (text !== null) params.set(key, text);
  return params;
}

const settings = [
  ...(["length", "heads", "layers", "size", "rate", "seed", "positions", "compare"] as const),
  ...(["slow", "at", "outlined", "range", "curve"] as const),
] as const;
