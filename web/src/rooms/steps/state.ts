/** The state of the room, which is exactly the content of its link (see link.ts), and the values derived from it. */
import { type Cell, isSame } from "#parts";
import { missingHeads } from "../../shared/layerHeads";
import { ourAddress, savesData } from "../../shared/ourModel";
import { exampleKeyText, exampleSize } from "./example";
import { type MatrixAxis, matrices } from "./matrices";
import type { Edit, MaskRequest, Problem, Source } from "./problem";
import { seededOrder } from "./seeded";
import { headNumbers, initialState, type MatrixCell, type State } from "./settings";
import { type ModelShape, ourShape } from "./shape";
import { isBlockStage, type StageName } from "./stageNames";
import { type TokenSplit, type Tokens, tokenize } from "./tokens";
import type { WalkAnswer, Walked } from "./walk";

/** Resets everything that refers to cells, because their numbers and positions have changed. */
export const otherCells = { cell: null, number: null, edits: new Map<string, Edit>() } as const;

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
  /** The trained model; null for other vectors. */
  readonly model: ModelShape | null;
  /** A model other than our language model, and its tokens. */
  readonly walked: Walked | null;
  /** How many keys up to its own a query sees in the layer of the model; null for all. */
  readonly window: number | null;
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
    unit: attention.model?.units ?? 0,
    selected: 1,
  };
}

/** The number of heads, and the sizes of their vectors and of the embedding. */
function headSizesOf({ vectors, heads, headSize }: State, model: ModelShape | null) {
  if (model) return { heads: model.heads, headSize: model.headSize, embeddingSize: model.size };
  if (vectors === "example") return { heads: 1, headSize: exampleSize, embeddingSize: 4 };
  return { heads, headSize, embeddingSize: heads * headSize };
}

export function splitOf({ vectors, model, split }: State): TokenSplit | "pieces" | "later" {
  if (vectors !== "learned") return split;
  return model === null ? "pieces" : "later";
}

/**
 * A trained model reads one sentence, in its order.
 *
 * @param walked a model other than ours, and its tokens; null for other vectors, and before they are known
 */
export function sentenceAttentionOf(state: State, walked: Walked | null = null): SentenceAttention {
  const isLearned = state.vectors === "learned";
  const model = isLearned ? (walked?.shape ?? ourShape) : null;
  const [shuffle, keyText] = isLearned ? [null, null] : [state.shuffle, state.keyText];
  const typed = walked?.tokens ?? tokenize(state.text, splitOf(state));
  const order = shuffle === null ? null : seededOrder(`order ${shuffle}`, typed.tokens.length);
  const queries = order ? { ...typed, tokens: order.map((i) => typed.tokens[i] as string) } : typed;
  const cross = keyText !== null;
  const keys = cross ? tokenize(keyText, state.split) : queries;
  const sizes = headSizesOf(state, model);
  return {
    ...{ queries, order, keys, cross, ...sizes, model, walked },
    window: model?.windows[state.layer] ?? null,
    row: Math.max(0, Math.min(state.row, queries.tokens.length - 1)),
    head: state.head < sizes.heads ? state.head : 0,
  };
}

/** The head whose output contains a cell of the joined heads. */
export function sourceHead({ col }: Cell, { headSize }: SentenceAttention): number {
  return Math.floor(col / headSize);
}

export function divisorsOf({ scaled, temperature }: State, { headSize }: SentenceAttention) {
  return [...(scaled ? [`√${headSize}`] : []), ...(temperature === 1 ? [] : [`${temperature}`])];
}

/** Whether query `row` may attend to key `col` under the selected mask. */
export function isVisible(
  state: State,
  { window }: Pick<SentenceAttention, "window">,
  row: number,
  col: number,
): boolean {
  switch (state.mask) {
    case "none":
      return true;
    case "causal":
      return col <= row && (window === null || row - col < window);
    case "padding":
      return col < state.padFrom;
    case "window":
      return Math.abs(row - col) <= state.window;
    case "painted":
      return !state.hidden.has(`${row},${col}`);
  }
}

/** Whether the mask hides any key from any query. */
export function hidesAny(state: State, attention: SentenceAttention): boolean {
  const { queries, keys } = attention;
  const [L, S] = [queries.tokens.length, keys.tokens.length];
  if (L === 0 || S === 0) return false;
  const sees = (row: number, col: number) => isVisible(state, attention, row, col);
  // Masks that are not painted hide the pairs farthest from the diagonal first.
  if (state.mask !== "painted") return !sees(0, S - 1) || !sees(L - 1, 0);
  // Only existing cells count, because cells may have been hidden in a longer sentence.
  return [...state.hidden].some((cell) => {
    const [row, col] = cell.split(",").map(Number) as [number, number];
    return row < L && col < S;
  });
}

/** The number of queries for which the mask hides all keys. */
export function countBlind(state: State, attention: SentenceAttention): number {
  const keys = attention.keys.tokens;
  return attention.queries.tokens.filter(
    (_, i) => !keys.some((_, j) => isVisible(state, attention, i, j)),
  ).length;
}

function maskOf(state: State, attention: SentenceAttention): MaskRequest {
  const { window } = attention;
  const [L, S] = [attention.queries.tokens.length, attention.keys.tokens.length];
  switch (state.mask) {
    case "none":
      return {};
    case "causal":
      return { isCausal: true, ...(window !== null && { window: [window - 1, 0] as const }) };
    case "padding":
      return { kvLengths: [Math.min(state.padFrom, S)] };
    default: {
      const sees = (i: number) => isVisible(state, attention, Math.floor(i / S), i % S);
      return { visible: Uint8Array.from({ length: L * S }, (_, i) => Number(sees(i))) };
    }
  }
}

/** Whether a vector for each position is added to the vectors of the tokens. */
export const addsPositions = ({ vectors, position }: State): boolean =>
  position && vectors !== "learned";

/** Whether queries and keys are rotated by their position, as in our language model. */
export const isRotated = (
  { position }: State,
  { model }: Pick<SentenceAttention, "model">,
): boolean => position && model?.rotates === true;

/** The layers of the language model whose result the chosen layer reads. */
export const layersBefore = ({ layer }: State): string =>
  layer === 1 ? "layer 1" : `layers 1 to ${layer}`;

function sourceOf(state: State, { queries, walked }: SentenceAttention): Source {
  const { vectors, seed, model, layer } = state;
  if (vectors === "random") return { kind: vectors, seed };
  if (vectors === "example") return { kind: vectors };
  const folder = model === null ? ourAddress() : (walked?.folder ?? null);
  const isTask = model !== null && folder !== null;
  return { kind: vectors, folder, isTask, layer, ids: queries.ids ?? [] };
}

/** The request to the solver, or null while there is no token. */
export function problemOf(state: State, attention: SentenceAttention): Problem | null {
  const { queries, keys, cross, order, heads, headSize, row, head } = attention;
  const [L, S] = [queries.tokens.length, keys.tokens.length];
  if (L === 0 || S === 0) return null;
  return {
    ...{ queryTokens: queries.tokens, keyTokens: cross ? keys.tokens : null, order },
    edits: [...state.edits.values()].filter(
      ({ matrix, head, row, col }) =>
        head < heads && row < (matrix === "q" ? L : S) && col < headSize,
    ),
    ablated: [...state.ablated].filter((head) => heads > 1 && head < heads),
    source: sourceOf(state, attention),
    ...{ heads, headSize, row, head, position: state.position },
    scale: (state.scaled ? 1 / Math.sqrt(headSize) : 1) / state.temperature,
    mask: maskOf(state, attention),
  };
}

export const unlocked = { cell: null, number: null } as const;

/** A new stage is shown as completed, without a locked number. */
export function toStage(stage: StageName): Partial<State> {
  return { stage, time: null, ...unlocked };
}

/**
 * A state with a stage and a layer that its vectors have.
 *
 * @param layers the number of layers of the model
 */
export function withOwnStage(state: State, layers = Number.POSITIVE_INFINITY): State {
  if (state.vectors !== "learned" && isBlockStage(state.stage))
    return { ...state, ...toStage("joined") };
  return state.layer < layers ? state : { ...state, layer: layers - 1 };
}

/** Locks a cell, or releases it. Also selects its row and head, so that its sources are visible. */
export function locked(now: State, cell: MatrixCell, attention: SentenceAttention): Partial<State> {
  if (isSame(now.cell, cell)) return { cell: null };
  const { matrix, row } = cell;
  if (matrix === "joined") return { cell, row, head: sourceHead(cell, attention) };
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

/** Settings that only one origin of vectors has. A link names only the settings of the origin that is shown. */
function withoutOthers(): Partial<State> {
  const { heads, headSize, seed, split, model, layer, head, ablated } = initialState;
  const sizes = { heads, headSize, seed, split, model, layer, head, ablated };
  return { ...otherCells, ...sizes, keyText: null, shuffle: null, time: null };
}

/** Other numbers of heads or sizes of random vectors, without the settings of heads that are no longer there. */
export function withSizes(now: State, size: Partial<Pick<State, "heads" | "headSize">>) {
  const { heads = 1, ...sizes } = { heads: now.heads, ...leaveExample(now), ...size };
  const ablated = new Set([...now.ablated].filter((head) => head < heads));
  const head = now.head < now.heads ? now.head : 0;
  return { ...otherCells, ...sizes, heads, ablated, head: Math.min(head, heads - 1) };
}

/** The notices about heads of the link that do not exist. */
export const noticesOfHeads = ({ head, ablated }: State, { heads }: SentenceAttention): string[] =>
  missingHeads(
    { head: `${head + 1}`, ablate: headNumbers(ablated).map(String) },
    (key) => Number(key) <= heads,
    "a head that is shown here",
  );

/**
 * Vectors and projections of a layer of a trained model.
 *
 * @param model see the setting; our language model by default
 * @param mask the mask of the model's own attention
 */
export function withLearned(
  model: string | null = null,
  mask: State["mask"] = "causal",
): Partial<State> {
  return { ...withoutOthers(), vectors: "learned", model, mask, position: true };
}

/** A layer of a model, on its first text if it does not read any text; our language model by default. */
export function withModel(other?: WalkAnswer["others"][number]): Partial<State> {
  if (!other) return withLearned();
  const { link, mask, text } = other;
  return { ...withLearned(link, mask), ...(text !== null && { text }) };
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
