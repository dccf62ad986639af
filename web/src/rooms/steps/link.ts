/** Reads and writes the room's part of the link. */
import { colourReaders } from "../../shared/colourReaders";
import {
  cellIn,
  cellText,
  numberIn,
  oneOf,
  onOff,
  putIn,
  type Readers,
  readParams,
  textIn,
} from "../../shared/linkReaders";
import type { LinkReading } from "../../shared/room";
import { exampleKeyText } from "./example";
import { isMatrixName } from "./matrices";
import type { Edit } from "./problem";
import { isStageName } from "./stageNames";
import { allowed, editKey, editLimit, initialState, type MatrixCell, type State } from "./state";
import { maxCharacters, maxTokens } from "./tokens";
import { trialSizes } from "./trial";

const indexRange = { min: 1, max: maxTokens };

function cellFrom(text: string): MatrixCell {
  const [, matrix = "", place = ""] = /^(\w+)\.(\d+\.\d+)$/.exec(text) ?? [];
  if (!isMatrixName(matrix))
    throw new RangeError("a matrix, a row and a column, such as scores.2.4");
  return { matrix, ...cellIn(indexRange)(place) };
}

/** Rows of hidden keys, such as `1:2-5,7;3:1`, counted from 1. */
function hiddenFrom(text: string): ReadonlySet<string> {
  const hidden = new Set<string>();
  for (const part of text.split(";").filter(Boolean)) {
    const [, row, runs = ""] = /^(\d+):([\d,-]+)$/.exec(part) ?? [];
    const i = placeFrom(row) - 1;
    for (const run of runs.split(",")) {
      const [first, last = first] = run.split("-");
      const end = placeFrom(last);
      for (let col = placeFrom(first); col <= end; ++col) hidden.add(`${i},${col - 1}`);
    }
  }
  return hidden;
}

function placeFrom(text: string | undefined): number {
  const value = Number(text);
  if (!(Number.isInteger(value) && value >= indexRange.min && value <= indexRange.max))
    throw new RangeError("cells such as 1:2-5,7;3:1");
  return value;
}

function hiddenToText(hidden: ReadonlySet<string>): string {
  const rows = new Map<number, number[]>();
  for (const cell of hidden) {
    const [row, col] = cell.split(",").map(Number) as [number, number];
    rows.set(row, [...(rows.get(row) ?? []), col]);
  }
  const runs = (cols: number[]) => {
    const out: [number, number][] = [];
    for (const col of cols.sort((a, b) => a - b)) {
      const last = out.at(-1);
      if (last && last[1] === col - 1) last[1] = col;
      else out.push([col, col]);
    }
    return out
      .map(([from, to]) => (from === to ? `${from + 1}` : `${from + 1}-${to + 1}`))
      .join(",");
  };
  return [...rows]
    .sort(([a], [b]) => a - b)
    .map(([row, cols]) => `${row + 1}:${runs(cols)}`)
    .join(";");
}

/** Entries of Q and K such as `q.1.2.1:0.5;k.1.3.2:-1`: head, row and column, counted from 1. */
function editsFrom(text: string): ReadonlyMap<string, Edit> {
  const edits = text.split(";").map((part): Edit => {
    const [, matrix, head, row, col, number] =
      /^([qk])\.(\d+)\.(\d+)\.(\d+):(-?\d*\.?\d+)$/.exec(part) ?? [];
    const value = Number(number);
    if (!matrix || Math.abs(value) > editLimit)
      throw new RangeError("entries such as q.1.2.1:0.5;k.1.3.2:-1");
    const [h, i, j] = [head, row, col].map(placeFrom) as [number, number, number];
    return { matrix: matrix as "q" | "k", head: h - 1, row: i - 1, col: j - 1, value };
  });
  return new Map(edits.map((edit) => [editKey(edit), edit]));
}

function editsToText(edits: ReadonlyMap<string, Edit>): string {
  return [...edits.values()]
    .map(
      ({ matrix, head, row, col, value }) => `${matrix}.${head + 1}.${row + 1}.${col + 1}:${value}`,
    )
    .join(";");
}

/** Every sentence except the example has random vectors, unless the link names others. */
const readers: Readers<State> = {
  text: (text) => ({ text: textIn(maxCharacters)(text), vectors: "random" }),
  keys: (text) => ({
    keyText: textIn(maxCharacters)(text),
    ...(text !== exampleKeyText && { vectors: "random" }),
  }),
  split: (text) => ({ split: oneOf("words", "characters")(text), vectors: "random" }),
  heads: (text) => ({ heads: numberIn(allowed.heads)(text), vectors: "random" }),
  size: (text) => ({ headSize: numberIn(allowed.headSize)(text), vectors: "random" }),
  seed: (text) => ({ seed: textIn(40)(text), vectors: "random" }),
  vectors: (text) => ({ vectors: oneOf("random", "learned")(text) }),
  layer: (text) => ({ layer: numberIn(allowed.layer)(text) - 1 }),
  position: (text) => ({ position: onOff(text) }),
  scale: (text) => ({ scaled: onOff(text) }),
  temperature: (text) => ({ temperature: numberIn(allowed.temperature, false)(text) }),
  mask: (text) => ({ mask: oneOf("none", "causal", "padding", "window", "painted")(text) }),
  pad: (text) => ({ padFrom: numberIn({ min: 1, max: maxTokens + 1 })(text) - 1 }),
  window: (text) => ({ window: numberIn(allowed.window)(text) }),
  hidden: (text) => ({ hidden: hiddenFrom(text) }),
  shuffle: (text) => ({ shuffle: numberIn({ min: 1, max: 999 })(text) }),
  edits: (text) => ({ edits: editsFrom(text) }),
  ablate: (text) => ({
    ablated: new Set(text.split(",").map((head) => numberIn(allowed.heads)(head) - 1)),
  }),
  step: (text) => {
    if (!isStageName(text)) throw new RangeError("the name of a step");
    return { stage: text };
  },
  head: (text) => ({ head: numberIn(allowed.heads)(text) - 1 }),
  query: (text) => ({ row: numberIn(indexRange)(text) - 1 }),
  cell: (text) => ({ cell: cellFrom(text) }),
  time: (text) => ({ time: numberIn({ min: 1, max: 9999 })(text) - 1 }),
  ...colourReaders,
  mass: (text) => ({ mass: numberIn(allowed.mass)(text) }),
  trial: (text) => ({ trialSize: Number(oneOf(...trialSizes.map(String))(text)) }),
};

export function read(params: URLSearchParams): LinkReading<State> {
  return readParams(params, initialState, readers);
}

export function write(state: State): URLSearchParams {
  const params = new URLSearchParams();
  const initial = initialState;
  const put = putIn(params);
  if (state.vectors !== "example") put("text", state.text, null);
  if (state.vectors === "learned") {
    put("vectors", state.vectors, null);
    put("layer", state.layer + 1, initial.layer + 1);
  } else if (state.vectors === "random") {
    put("heads", state.heads, initial.heads);
    put("size", state.headSize, initial.headSize);
    put("seed", state.seed, initial.seed);
    put("split", state.split, initial.split);
  }
  put("keys", state.keyText, null);
  const onOrOff = (on: boolean) => (on ? "on" : "off");
  put("position", onOrOff(state.position), onOrOff(initial.position));
  put("scale", onOrOff(state.scaled), onOrOff(initial.scaled));
  put("temperature", state.temperature, initial.temperature);
  put("mask", state.mask, initial.mask);
  if (state.mask === "padding") put("pad", state.padFrom + 1, initial.padFrom + 1);
  if (state.mask === "window") put("window", state.window, initial.window);
  if (state.mask === "painted") put("hidden", hiddenToText(state.hidden), "");
  put("shuffle", state.shuffle, null);
  put("edits", editsToText(state.edits), "");
  put(
    "ablate",
    [...state.ablated]
      .map((head) => head + 1)
      .sort()
      .join(","),
    "",
  );
  put("step", state.stage, initial.stage);
  put("head", state.head + 1, initial.head + 1);
  put("query", state.row + 1, initial.row + 1);
  put("cell", state.cell && `${state.cell.matrix}.${cellText(state.cell)}`, null);
  put("time", state.time === null ? null : state.time + 1, null);
  put("range", state.range, initial.range);
  put("curve", state.curve, initial.curve);
  put("mass", state.mass, initial.mass);
  put("trial", state.trialSize, initial.trialSize);
  return params;
}
