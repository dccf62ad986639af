/**
 * Prepares an attention of the models in `heed/models` for the page: its tokens, its numbers, and the formula of a
 * weight.
 */
import type { Heed } from "heed";
import type { LabelledWeights } from "heed/models";
import {
  at,
  type Cell,
  type FormulaPiece,
  format,
  type MatrixView,
  operand,
  sum,
  times,
  viewOn,
} from "#parts";

export type AttentionName = "encoder" | "decoder" | "cross";

/** One attention of a model, and the tokens of its rows and columns. */
export interface Attention {
  readonly path: string;
  readonly name: AttentionName;
  /** Counted from 0. */
  readonly layer: number;
  readonly heads: number;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  /** Whether a row may attend only to itself and earlier columns. */
  readonly isCausal: boolean;
  /** The factor by which the scores are multiplied; 1 ÷ √D by default. */
  readonly scale?: number;
  /** The limit c of the scores, c tanh(score ÷ c); none by default. */
  readonly softcap?: number;
  /** Whether a learned number for each distance is added to the scores; no by default. */
  readonly hasDistances?: boolean;
}

/** The numbers of an attention, one head after another. */
export interface Shares {
  /** [heads, rows, columns], as are the scores, which are scaled and −∞ where a key is hidden. */
  readonly weights: Float32Array;
  readonly scores: Float32Array;
  /** [heads, rows, D] */
  readonly queries: Float32Array;
  /** [heads, columns, D] */
  readonly keys: Float32Array;
}

/** The cells that a causal mask hides; one function, so that pictures that have it can be compared. */
export const isLater = (row: number, col: number) => col > row;

/** The names of the kinds of attention: in a heading, before a head, and in a sorted list. */
export const attentionNames: Readonly<
  Record<AttentionName, Readonly<Record<"title" | "prefix" | "letters", string>>>
> = {
  encoder: { title: "Encoder self-attention", prefix: "encoder", letters: "enc" },
  decoder: { title: "Decoder self-attention", prefix: "decoder", letters: "dec" },
  cross: { title: "Encoder-decoder attention", prefix: "encoder-decoder", letters: "e-d" },
};

/** Describes which tokens attend to which. */
export const attendsWords: Readonly<Record<AttentionName, string>> = {
  encoder: "input to itself",
  decoder: "answer to itself",
  cross: "answer to input",
};

const namesOfPaths: readonly (readonly [AttentionName, RegExp])[] = [
  ["encoder", /^(?:model\.)?encoder\.layers\.(\d+)\.self_attn$/],
  ["decoder", /^(?:model\.)?decoder\.layers\.(\d+)\.self_attn$/],
  ["cross", /^(?:model\.)?decoder\.layers\.(\d+)\.(?:multihead|cross)_attn$/],
];

/** The layer that a module is in, counted from 0; 0 if it is in none. */
export const layerAt = (path: string): number => Number(/\.layers\.(\d+)\./.exec(path)?.[1] ?? 0);

/** The attention at the path of a module; null if the path is not an attention. */
export function attentionAt(path: string): { name: AttentionName; layer: number } | null {
  for (const [name, pattern] of namesOfPaths) {
    const found = pattern.exec(path);
    if (found) return { name, layer: Number(found[1]) };
  }
  return null;
}

/** A token as the page shows it: a special token as a word, a space as a visible mark. */
export function plain(token: string): string {
  return token === " " ? "␣" : token.replace(/^<(\w+)>$/, "$1");
}

/** @throws if the attention is not in a layer of a Transformer */
export function attentionOf({ path, heads, labels }: LabelledWeights): Attention {
  const place = attentionAt(path);
  if (!place) throw new RangeError(`no attention of a layer is at ${path}`);
  return {
    ...{ path, ...place, heads, isCausal: place.name === "decoder" },
    rows: labels.rows.map(plain),
    columns: labels.columns.map(plain),
  };
}

/** Has the engine compute the scores from the queries and keys of the model. */
export function sharesOf(heed: Heed, attention: LabelledWeights): Shares {
  const { path, heads, rows, columns, weights, compared } = attention;
  if (!compared) throw new RangeError(`${path} tells no queries and keys`);
  const { query, key } = compared;
  const size = query.length / (heads * rows);
  // One buffer for all arrays, so that the page receives them in a single transfer.
  const all = new Float32Array(2 * weights.length + query.length + key.length);
  let end = 0;
  const kept = (part: Float32Array) => {
    all.set(part, end);
    end += part.length;
    return all.subarray(end - part.length, end);
  };
  return heed.scope(() => {
    const q = heed.tensor(query, [1, heads, rows, size]);
    const k = heed.tensor(key, [1, heads, columns, size]);
    const isCausal = attentionAt(path)?.name === "decoder";
    const { capture } = heed.attention(q, k, k, { isCausal, capture: "masked" });
    return {
      weights: kept(weights),
      scores: kept(capture.data as Float32Array),
      ...{ queries: kept(query), keys: kept(key) },
    };
  });
}

type AttentionTokens = Partial<Attention> &
  Pick<Attention, "heads" | "rows" | "columns" | "scale" | "softcap" | "hasDistances">;

/** The weights of one head, rows × columns; a causal mask hides later keys. */
export function weightsOf(
  between: AttentionTokens,
  { weights }: Pick<Shares, "weights">,
  head: number,
): MatrixView {
  const [rows, cols] = [between.rows.length, between.columns.length];
  const view = viewOn(weights, rows, cols, head * rows * cols);
  return { ...view, hides: between.isCausal ? isLater : undefined };
}

/** The scores of one head, rows × columns. */
export function scoresOf(between: AttentionTokens, { scores }: Shares, head: number): MatrixView {
  return weightsOf(between, { weights: scores }, head);
}

/** One head's vectors: D entries for each of `count` tokens. */
function vectorsOf(data: Float32Array, heads: number, count: number, head: number): MatrixView {
  const size = data.length / (heads * count);
  return viewOn(data, count, size, head * count * size);
}

/** The queries of one head, rows × D. */
export function queriesOf({ heads, rows }: AttentionTokens, { queries }: Shares, head: number) {
  return vectorsOf(queries, heads, rows.length, head);
}

/** The keys of one head, columns × D. */
export function keysOf({ heads, columns }: AttentionTokens, { keys }: Shares, head: number) {
  return vectorsOf(keys, heads, columns.length, head);
}

/** Exponentials may be very large, and need enough digits to recompute a weight from them. */
function large(value: number): string {
  if (value < 1e5) return format(value);
  return value < 1e9 ? Math.round(value).toLocaleString("en") : value.toExponential(3);
}

/** The formula of a weight: the dot product of two vectors, the scale, and the softmax over the visible keys. */
export function formulaOf(
  between: AttentionTokens,
  shares: Shares,
  head: number,
  { row, col }: Cell,
): FormulaPiece[] {
  const q = queriesOf(between, shares, head);
  const k = keysOf(between, shares, head);
  const scores = scoresOf(between, shares, head);
  const score = at(scores, row, col);
  const usual = 1 / Math.sqrt(q.cols);
  const { scale = usual, softcap: cap, hasDistances } = between;
  // Neither a score at its limit nor the sum with another number determines the product.
  const isScaled = cap === undefined && !hasDistances;
  const product = (sum: number, _: unknown, d: number) => sum + at(q, row, d) * at(k, col, d);
  const dot = isScaled ? score / scale : Array.from({ length: q.cols }).reduce(product, 0);
  const raw = isScaled ? score : dot * scale;
  const added = hasDistances
    ? `\nwith the number of this distance: ${operand(raw).text} + ${operand(score - raw).text} = ${format(score)}`
    : "";
  const capped =
    cap === undefined
      ? added
      : `\nlimited: ${cap} × tanh(${operand(raw).text} ÷ ${cap}) = ${format(score)}`;
  const scaled = Math.abs(scale - usual) < 1e-6 * usual ? `÷ √${q.cols}` : `× ${format(scale, 4)}`;
  const products = Array.from({ length: q.cols }, (_, d): FormulaPiece[] => [
    operand(at(q, row, d), "q"),
    { text: times },
    operand(at(k, col, d), "k"),
  ]);
  const seen = Array.from({ length: scores.cols }, (_, j) => at(scores, row, j)).filter(
    (each) => each !== Number.NEGATIVE_INFINITY,
  );
  const power = (each: number): FormulaPiece => ({ text: `e^${operand(each).text}` });
  const total = seen.reduce((all, each) => all + Math.exp(each), 0);
  // The exponentials of very large scores overflow, for example in a model that learns too fast.
  const ratio = Number.isFinite(total) ? ` = ${large(Math.exp(score))} ÷ ${large(total)}` : "";
  return [
    ...[{ text: "q", role: "q" as const }, { text: " · " }, { text: "k", role: "k" as const }],
    ...[{ text: " = " }, ...sum(products), { text: ` = ${format(dot)}` }],
    { text: `\nscore = ${operand(dot).text} ${scaled} = ${format(raw)}${capped}` },
    ...[{ text: "\nweight = " }, power(score), { text: " ÷ (" }],
    ...sum(seen.map((each) => [power(each)])),
    { text: `)${ratio} = ${format(at(weightsOf(between, shares, head), row, col))}` },
  ];
}
