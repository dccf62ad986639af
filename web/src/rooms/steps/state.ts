/** The state of the room, which is exactly the content of its link (see link.ts), and the values derived from it. */
import type { Cell, ColourCurve, ColourRange } from "#parts";
import { ourAddress, savesData } from "../../shared/ourModel";
import { exampleKeyText, exampleRow, exampleSize, exampleText } from "./example";
import { type MatrixAxis, type MatrixName, matrices } from "./matrices";
import type { Edit, MaskRequest, Problem, Source } from "./problem";
import { seededOrder } from "./seeded";
import type { StageName } from "./stageNames";
import { type TokenSplit, type Tokens, tokenize } from "./tokens";

export type MaskKind = "none" | "causal" | "padding" | "window" | "painted";

export interface MatrixCell extends Cell {
  readonly matrix: MatrixName;
}

/** The settings that the engine's answer depends on. */
export interface Settings {
  /** The worked example has its own vectors. Another sentence has random vectors, or our language model's vectors. */
  readonly vectors: Source["kind"];
  /** The layer of the language model, counted from 0. */
  readonly layer: number;
  readonly text: string;
  /** The sentence that is attended to; null if the first one attends to itself. */
  readonly keyText: string | null;
  readonly split: TokenSplit;
  readonly heads: number;
  readonly headSize: number;
  readonly seed: string;
  readonly position: boolean;
  readonly scaled: boolean;
  readonly temperature: number;
  readonly mask: MaskKind;
  /** For the padding mask: the first key that is padding. */
  readonly padFrom: number;
  /** For the sliding window: the number of visible tokens to either side. */
  readonly window: number;
  /** For the painted mask: the hidden cells, as "query,key". */
  readonly hidden: ReadonlySet<string>;
  /** The seed for shuffling the words of the first sentence; null if they are in order. */
  readonly shuffle: number | null;
  /** Edited entries of Q and K, by `editKey`. */
  readonly edits: ReadonlyMap<string, Edit>;
  /** The ablated heads, which are zero in the joined output. */
  readonly ablated: ReadonlySet<number>;
}

/** Larger entries only saturate the softmax. */
export const editLimit = 1000;

export function editKey({
  matrix,
  head,
  row,
  col,
}: Omit<Edit, "value" | "matrix"> & { matrix: string }): string {
  return `${matrix}.${head}.${row}.${col}`;
}

/** Resets everything that refers to cells, because their numbers and positions have changed. */
export const otherCells = { cell: null, edits: new Map<string, Edit>() } as const;

/** The part of the answer that is shown, and the way to draw it. */
export interface Look {
  readonly stage: StageName;
  readonly head: number;
  readonly row: number;
  readonly cell: MatrixCell | null;
  /** How far the stage's computation is shown, from 0; null if it is complete. */
  readonly time: number | null;
  readonly range: ColourRange;
  readonly curve: ColourCurve;
  /** The strongest lines of each query are drawn until they sum to this share of its attention, in percent. */
  readonly mass: number;
  /** The length of the vectors in the trial of the division by √d; a power of two. */
  readonly trialSize: number;
}

export type State = Settings & Look;

/** Settings that stay unlocked under a teacher's lock. */
export const lookKeys = [
  ...(["stage", "head", "row", "cell", "time", "range", "curve", "mass", "trialSize"] as const),
] satisfies (keyof Look)[];

export function lookOf(state: State): Look {
  return Object.fromEntries(lookKeys.map((key) => [key, state[key]])) as unknown as Look;
}

export const initialState: State = {
  vectors: "example",
  layer: 0,
  text: exampleText,
  keyText: null,
  split: "words",
  heads: 2,
  headSize: 4,
  seed: "1",
  position: false,
  scaled: true,
  temperature: 1,
  mask: "none",
  padFrom: 3,
  window: 1,
  hidden: new Set(),
  shuffle: null,
  edits: otherCells.edits,
  ablated: new Set(),
  stage: "tokens",
  head: 0,
  row: exampleRow,
  cell: null,
  time: null,
  range: "absolute",
  curve: "linear",
  mass: 100,
  trialSize: 64,
};

/** The sizes of our language model. */
export const learnedSizes = { layers: 6, heads: 6, headSize: 32, size: 192 } as const;

export const allowed = {
  layer: { min: 1, max: learnedSizes.layers },
  heads: { min: 1, max: 8 },
  headSize: { min: 1, max: 16 },
  temperature: { min: 0.1, max: 10 },
  window: { min: 0, max: 511 },
  padFrom: { min: 0, max: 512 },
  mass: { min: 10, max: 100 },
} as const;

/** Values derived from the state after the sentence is split into tokens, with consistent sizes. */
export interface SentenceAttention {
  readonly queries: Tokens;
  /** The original position of each query if the words are shuffled, otherwise null. */
  readonly order: readonly number[] | null;
  readonly keys: Tokens;
  readonly cross: boolean;
  readonly heads: number;
  readonly headSize: number;
  readonly embeddingSize: number;
  readonly row: number;
  readonly head: number;
}

/** The number of rows or columns of each axis. */
export function sizesOf(attention: SentenceAttention): Record<MatrixAxis, number> {
  return {
    query: attention.queries.tokens.length,
    key: attention.keys.tokens.length,
    embedding: attention.embeddingSize,
    head: attention.headSize,
    joined: attention.heads * attention.headSize,
    selected: 1,
  };
}

/** The number of heads, and the sizes of their vectors and of the embedding. */
function headSizesOf({ vectors, heads, headSize }: State) {
  if (vectors === "example") return { heads: 1, headSize: exampleSize, embeddingSize: 4 };
  if (vectors === "random") return { heads, headSize, embeddingSize: heads * headSize };
  const { size, ...learned } = learnedSizes;
  return { heads: learned.heads, headSize: learned.headSize, embeddingSize: size };
}

/** How the sentence is cut. */
export const splitOf = ({ vectors, split }: State): TokenSplit | "pieces" =>
  vectors === "learned" ? "pieces" : split;

/** The language model reads one sentence, in its order. */
export function sentenceAttentionOf(state: State): SentenceAttention {
  const isLearned = state.vectors === "learned";
  const [shuffle, keyText] = isLearned ? [null, null] : [state.shuffle, state.keyText];
  const typed = tokenize(state.text, splitOf(state));
  const order = shuffle === null ? null : seededOrder(`order ${shuffle}`, typed.tokens.length);
  const queries = order ? { ...typed, tokens: order.map((i) => typed.tokens[i] as string) } : typed;
  const cross = keyText !== null;
  const keys = cross ? tokenize(keyText, state.split) : queries;
  const { heads, headSize, embeddingSize } = headSizesOf(state);
  return {
    ...{ queries, order, keys, cross, heads, headSize, embeddingSize },
    row: Math.max(0, Math.min(state.row, queries.tokens.length - 1)),
    head: Math.min(state.head, heads - 1),
  };
}

/** The head whose output contains a cell of the joined heads. */
export function sourceHead({ col }: Cell, { headSize }: SentenceAttention): number {
  return Math.floor(col / headSize);
}

/** The divisors of the scores. */
export function divisorsOf({ scaled, temperature }: State, { headSize }: SentenceAttention) {
  return [...(scaled ? [`√${headSize}`] : []), ...(temperature === 1 ? [] : [`${temperature}`])];
}

/** Whether query `row` may attend to key `col` under the selected mask. */
export function isVisible(state: State, row: number, col: number): boolean {
  switch (state.mask) {
    case "none":
      return true;
    case "causal":
      return col <= row;
    case "padding":
      return col < state.padFrom;
    case "window":
      return Math.abs(row - col) <= state.window;
    case "painted":
      return !state.hidden.has(`${row},${col}`);
  }
}

/** Whether the mask hides any key from any query. */
export function hidesAny(state: State, { queries, keys }: SentenceAttention): boolean {
  const [L, S] = [queries.tokens.length, keys.tokens.length];
  if (L === 0 || S === 0) return false;
  // Masks that are not painted hide the pairs farthest from the diagonal first.
  if (state.mask !== "painted") return !isVisible(state, 0, S - 1) || !isVisible(state, L - 1, 0);
  // Only existing cells count, because cells may have been hidden in a longer sentence.
  return [...state.hidden].some((cell) => {
    const [row, col] = cell.split(",").map(Number) as [number, number];
    return row < L && col < S;
  });
}

/** The number of queries for which the mask hides all keys. */
export function countBlind(state: State, attention: SentenceAttention): number {
  const keys = attention.keys.tokens;
  return attention.queries.tokens.filter((_, i) => !keys.some((_, j) => isVisible(state, i, j)))
    .length;
}

function maskOf(state: State, L: number, S: number): MaskRequest {
  switch (state.mask) {
    case "none":
    case "causal":
      return { kind: state.mask };
    case "padding":
      return { kind: "padding", from: Math.min(state.padFrom, S) };
    default: {
      const visible = Uint8Array.from({ length: L * S }, (_, i) =>
        Number(isVisible(state, Math.floor(i / S), i % S)),
      );
      return { kind: "table", visible };
    }
  }
}

/** Whether a vector for each position is added to the vectors of the tokens. */
export const addsPositions = ({ vectors, position }: State): boolean =>
  position && vectors !== "learned";

/** Whether queries and keys are rotated by their position, as in our language model. */
export const isRotated = ({ vectors, position }: State): boolean =>
  position && vectors === "learned";

/** The layers of the language model whose result the chosen layer reads. */
export const layersBefore = ({ layer }: State): string =>
  layer === 1 ? "layer 1" : `layers 1 to ${layer}`;

function sourceOf({ vectors, seed, layer }: State, { ids = [] }: Tokens): Source {
  if (vectors === "random") return { kind: vectors, seed };
  if (vectors === "learned") return { kind: vectors, folder: ourAddress(), layer, ids };
  return { kind: vectors };
}

/** The request to the solver, or null while there is no token. */
export function problemOf(state: State, attention: SentenceAttention): Problem | null {
  const L = attention.queries.tokens.length;
  const S = attention.keys.tokens.length;
  if (L === 0 || S === 0) return null;
  return {
    queryTokens: attention.queries.tokens,
    keyTokens: attention.cross ? attention.keys.tokens : null,
    order: attention.order,
    edits: [...state.edits.values()].filter(
      ({ matrix, head, row, col }) =>
        head < attention.heads && row < (matrix === "q" ? L : S) && col < attention.headSize,
    ),
    ablated: [...state.ablated].filter((head) => attention.heads > 1 && head < attention.heads),
    source: sourceOf(state, attention.queries),
    heads: attention.heads,
    headSize: attention.headSize,
    position: state.position,
    scale: (state.scaled ? 1 / Math.sqrt(attention.headSize) : 1) / state.temperature,
    mask: maskOf(state, L, S),
    row: attention.row,
    head: attention.head,
  };
}

/** Every pair of a query and a key, as "query,key". */
export function allPairs({ queries, keys }: SentenceAttention): ReadonlySet<string> {
  return new Set(queries.tokens.flatMap((_, i) => keys.tokens.map((_, j) => `${i},${j}`)));
}

/** A painted mask starts as a copy of the previous mask. The person changes it cell by cell. */
export function startPainting(state: State, attention: SentenceAttention): Partial<State> {
  const hidden = [...allPairs(attention)].filter((pair) => {
    const [row, col] = pair.split(",").map(Number) as [number, number];
    return !isVisible(state, row, col);
  });
  return { mask: "painted", hidden: new Set(hidden), ...toStage("masked") };
}

/** A new stage is shown as completed, without a locked cell. */
export function toStage(stage: StageName): Partial<State> {
  return { stage, time: null, cell: null };
}

export function isSameCell(a: MatrixCell | null, b: MatrixCell | null): boolean {
  return a?.matrix === b?.matrix && a?.row === b?.row && a?.col === b?.col;
}

/** Locks a cell, or releases it. Also selects its row and head, so that its sources are visible. */
export function locked(now: State, cell: MatrixCell): Partial<State> {
  if (isSameCell(now.cell, cell)) return { cell: null };
  const { matrix, row } = cell;
  if (matrix === "joined") return { cell, row, head: sourceHead(cell, sentenceAttentionOf(now)) };
  return matrices[matrix].rows === "query" ? { cell, row } : { cell };
}

/** The common names of attention, by the tokens that attend and the tokens that are attended to. */
export type AttentionKind = "encoder" | "decoder" | "cross";

export function attentionKindOf({ keyText, vectors, mask }: State): AttentionKind {
  if (keyText !== null && vectors !== "learned") return "cross";
  return mask === "causal" ? "decoder" : "encoder";
}

/** The kind determines the second sentence and the causal mask. Other masks work with every kind. */
export function withKind(now: State, kind: AttentionKind): Partial<State> {
  const mask = kind === "decoder" ? "causal" : now.mask === "causal" ? "none" : now.mask;
  if (kind !== "cross") return { ...otherCells, keyText: null, mask };
  // The language model reads one sentence.
  const change = now.vectors === "learned" ? withRandom() : {};
  return { ...otherCells, mask, ...change, keyText: now.keyText ?? exampleKeyText };
}

/** Leaves the worked example, whose vectors belong to its words, for random ones of the sizes that are shown. */
export function leaveExample({ vectors }: State): Partial<State> {
  return vectors === "example" ? { vectors: "random", heads: 1, headSize: exampleSize } : {};
}

/** Settings that only one origin of vectors has. A link has those of the present origin. */
function withoutOthers(): Partial<State> {
  const { heads, headSize, seed, split, layer } = initialState;
  const sizes = { heads, headSize, seed, split, layer };
  return { ...otherCells, ...sizes, keyText: null, shuffle: null, time: null, head: 0 };
}

/** Vectors and projections of our language model, which hides later tokens and rotates by position. */
export function withLearned(): Partial<State> {
  return {
    ...{ ...withoutOthers(), vectors: "learned", mask: "causal", position: true },
    ablated: new Set<number>(),
  };
}

/** Random vectors, without what only the language model has. */
export function withRandom(): Partial<State> {
  return { ...withoutOthers(), vectors: "random", mask: "none", position: false };
}

export const withVectors = (vectors: "learned" | "random"): Partial<State> =>
  vectors === "learned" ? withLearned() : withRandom();

/**
 * Another text in place of the worked example is read by our language model, unless the person saves data. Resets the
 * playing computation, because it belongs to the earlier text.
 */
export function withText(now: State, text: string): Partial<State> {
  const isFirst = now.vectors === "example" && now.keyText === null;
  const change = isFirst && !savesData() ? withLearned() : leaveExample(now);
  return { ...otherCells, ...change, text, shuffle: null, time: null };
}

export function withKeyText(now: State, keyText: string): Partial<State> {
  return { ...otherCells, ...leaveExample(now), keyText, time: null };
}
