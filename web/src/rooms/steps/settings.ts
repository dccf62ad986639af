/** The settings of the room, each declared once: its initial value, and its text in links. */
import type { Cell } from "#parts";
import { spotSetting } from "../../network/spots";
import { cellIn, cellText, numberIn, oneOf, textIn } from "../../shared/linkReaders";
import { colourSettings } from "../../shared/lookSettings";
import {
  choice,
  decimal,
  flag,
  index,
  initialStateOf,
  look,
  lookKeysOf,
  oneNumber,
  type StateOf,
  setting,
  whole,
} from "../../shared/settings";
import { exampleRow, exampleText } from "./example";
import { isMatrixName, kindOf, type MatrixName } from "./matrices";
import type { Edit, Source } from "./problem";
import { type StageName, stageNames } from "./stageNames";
import { maxCharacters, maxTokens, type TokenSplit } from "./tokens";
import { trialSizes } from "./trial";

export const maskKinds = ["none", "causal", "padding", "window", "painted"] as const;
export type MaskKind = (typeof maskKinds)[number];

export interface MatrixCell extends Cell {
  readonly matrix: MatrixName;
}

/** Larger entries only saturate the softmax. */
export const editLimit = 1000;

type EntryPlace = Omit<Edit, "value" | "matrix"> & { readonly matrix: string };

export function editKey({ matrix, head, row, col }: EntryPlace): string {
  return `${matrix}.${head}.${row}.${col}`;
}

const indexRange = { min: 1, max: maxTokens };
/** The largest row or column of a matrix. */
const cellRange = { min: 1, max: 2 ** 16 };

function cellFrom(text: string): MatrixCell {
  const [, matrix = "", place = ""] = /^(\w+)\.(\d+\.\d+)$/.exec(text) ?? [];
  if (!isMatrixName(matrix))
    throw new RangeError("a matrix, a row and a column, such as scores.2.4");
  const cell = cellIn(cellRange)(place);
  const { rows, cols } = kindOf(matrix);
  for (const [axis, at] of [[rows, cell.row] as const, [cols, cell.col] as const])
    if ((axis === "query" || axis === "key") && at >= maxTokens)
      throw new RangeError(`places of at most ${maxTokens} tokens`);
  return { matrix, ...cell };
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

/** A model of the person may have more layers and heads than ours. */
const learnedRange = { min: 1, max: 99 };
const headIn = numberIn(learnedRange);

/** The numbers of heads, counted from 1 and in order. */
export const headNumbers = (heads: ReadonlySet<number>): number[] =>
  Array.from(heads, (head) => head + 1).sort((a, b) => a - b);

/** In the order of links. */
export const settings = {
  text: setting<string>(exampleText, textIn(maxCharacters)),
  /**
   * The worked example has its own vectors. Another sentence has random vectors, or a trained model's vectors. A link
   * names only the latter (see link.ts).
   */
  vectors: setting<Source["kind"]>("example", oneOf("random", "learned"), {
    write: (vectors) => (vectors === "learned" ? vectors : null),
  }),
  /** A model of a task, or the person's model that is open in the room Models, as links name it; null for our language model. */
  model: setting<string | null>(null, (text) => textIn(400)(text) || null),
  /** The layer of the language model. */
  layer: index(0, learnedRange),
  heads: whole(2, { min: 1, max: 8 }),
  headSize: whole(4, { min: 1, max: 16 }, { link: "size" }),
  seed: setting("1", textIn(40)),
  split: choice<TokenSplit>("words", ["words", "characters"]),
  /** The sentence that is attended to; null if the first one attends to itself. */
  keyText: setting<string | null>(null, textIn(maxCharacters), { link: "keys" }),
  position: flag(false),
  scaled: flag(true, { link: "scale" }),
  temperature: decimal(1, { min: 0.1, max: 10 }),
  mask: choice<MaskKind>("none", maskKinds),
  /** For the padding mask: the first key that is padding. */
  padFrom: index(3, { min: 1, max: maxTokens + 1 }, { link: "pad" }),
  /** For the sliding window: the number of visible tokens to either side. */
  window: whole(1, { min: 0, max: 511 }),
  /** For the painted mask: the hidden cells, as "query,key". */
  hidden: setting<ReadonlySet<string>>(new Set(), hiddenFrom, { write: hiddenToText }),
  /** The seed for shuffling the words of the first sentence; null if they are in order. */
  shuffle: setting<number | null>(null, numberIn({ min: 1, max: 999 })),
  /** Edited entries of Q and K, by `editKey`. */
  edits: setting<ReadonlyMap<string, Edit>>(new Map(), editsFrom, { write: editsToText }),
  /** The ablated heads, which are zero in the joined output. */
  ablated: setting<ReadonlySet<number>>(
    new Set(),
    (text) => new Set(text.split(",").map((head) => headIn(head) - 1)),
    { link: "ablate", write: (heads) => headNumbers(heads).join() },
  ),
  stage: choice<StageName>("tokens", stageNames, { link: "step", ...look }),
  head: index(0, learnedRange, look),
  row: index(exampleRow, indexRange, { link: "query", ...look }),
  cell: setting<MatrixCell | null>(null, cellFrom, {
    write: (cell) => cell && `${cell.matrix}.${cellText(cell)}`,
    ...look,
  }),
  /** The locked number of a stage after attention. */
  number: spotSetting,
  /** How far the stage's computation is shown, from 0; null if it is complete. */
  time: index<number | null>(null, { min: 1, max: 9999 }, look),
  ...colourSettings("linear"),
  /** The strongest lines of each query are drawn until they sum to this share of its attention, in percent. */
  mass: whole(100, { min: 10, max: 100 }, look),
  /** The length of the vectors in the trial of the division by √d; a power of two. */
  trialSize: oneNumber(64, trialSizes, { link: "trial", ...look }),
};

export type State = StateOf<typeof settings>;

export const initialState: State = initialStateOf(settings);

/** Settings that stay unlocked under a teacher's lock: the part of the answer that is shown, and how it is drawn. */
export const lookKeys = lookKeysOf(settings);

export function lookOf(state: State): Partial<State> {
  return Object.fromEntries(lookKeys.map((key) => [key, state[key]]));
}
