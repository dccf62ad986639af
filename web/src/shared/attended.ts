/** Attention of the models of `heed/models`, laid out for the page: what it is between, its numbers, and how one came about. */
import type { Heed } from "heed";
import type { LabelledWeights } from "heed/models";
import { at, type View, viewOn } from "../picture/view";
import type { Piece } from "./explanation";
import { format } from "./format";
import { operand, sum, times } from "./terms";

export type AttentionName = "encoder" | "decoder" | "cross";

/** What an attention of a model is between. */
export interface Attention {
  readonly path: string;
  readonly name: AttentionName;
  /** From 0. */
  readonly layer: number;
  readonly heads: number;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  /** No row sees what comes after it. */
  readonly isCausal: boolean;
}

/** The numbers of an attention; those of its heads lie one after another. */
export interface Shares {
  /** [heads, rows, columns], as are the scores: scaled, −∞ where nothing may be seen. */
  readonly weights: Float32Array;
  readonly scores: Float32Array;
  /** [heads, rows, D] */
  readonly queries: Float32Array;
  /** [heads, columns, D] */
  readonly keys: Float32Array;
}

const namesOfPaths: readonly (readonly [AttentionName, RegExp])[] = [
  ["encoder", /^encoder\.layers\.(\d+)\.self_attn$/],
  ["decoder", /^decoder\.layers\.(\d+)\.self_attn$/],
  ["cross", /^decoder\.layers\.(\d+)\.multihead_attn$/],
];

/** Which attention a module's path names. */
export function attentionAt(path: string): { name: AttentionName; layer: number } | null {
  for (const [name, pattern] of namesOfPaths) {
    const found = pattern.exec(path);
    if (found) return { name, layer: Number(found[1]) };
  }
  return null;
}

/** The other way. */
export function pathOf({ name, layer }: { name: AttentionName; layer: number }): string {
  const stack = name === "encoder" ? "encoder" : "decoder";
  return `${stack}.layers.${layer}.${name === "cross" ? "multihead_attn" : "self_attn"}`;
}

/** A token as it is shown: special ones as words, a space as a mark. */
export function plain(token: string): string {
  return token === " " ? "␣" : token.replace(/^<(\w+)>$/, "$1");
}

/** An attention that is not part of a transformer has no layer here. */
export function attentionOf({ path, heads, labels }: LabelledWeights): Attention {
  const place = attentionAt(path);
  if (!place) throw new RangeError(`no attention of a layer is at ${path}`);
  return {
    ...{ path, ...place, heads, isCausal: place.name === "decoder" },
    rows: labels.rows.map(plain),
    columns: labels.columns.map(plain),
  };
}

/** The scores are those of the engine, from the queries and keys that the model compared. */
export function sharesOf(heed: Heed, attention: LabelledWeights): Shares {
  const { path, heads, rows, columns, weights, compared } = attention;
  if (!compared) throw new RangeError(`${path} tells no queries and keys`);
  const { query, key } = compared;
  const size = query.length / (heads * rows);
  // One buffer for all: it goes to the page in one piece.
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

type Between = Pick<Attention, "heads" | "rows" | "columns">;

/** The weights of one head, rows × columns. */
export function weightsOf(
  between: Between,
  { weights }: Pick<Shares, "weights">,
  head: number,
): View {
  const [rows, cols] = [between.rows.length, between.columns.length];
  return viewOn(weights, rows, cols, head * rows * cols);
}

/** Its scores. */
export function scoresOf(between: Between, { scores }: Shares, head: number): View {
  return weightsOf(between, { weights: scores }, head);
}

/** One head's vectors: D entries for each of `count` tokens. */
function vectorsOf(data: Float32Array, heads: number, count: number, head: number): View {
  const size = data.length / (heads * count);
  return viewOn(data, count, size, head * count * size);
}

/** Exponentials grow beyond what other numbers do: with too few digits a share of them says nothing. */
function large(value: number): string {
  if (value < 1e5) return format(value);
  return value < 1e9 ? Math.round(value).toLocaleString("en") : value.toExponential(3);
}

/** How a weight came about: the product of two vectors, its scale, and the softmax over all that its row sees. */
export function formulaOf(
  between: Between,
  shares: Shares,
  head: number,
  { row, col }: { readonly row: number; readonly col: number },
): Piece[] {
  const { heads, rows, columns } = between;
  const q = vectorsOf(shares.queries, heads, rows.length, head);
  const k = vectorsOf(shares.keys, heads, columns.length, head);
  const scores = scoresOf(between, shares, head);
  const score = at(scores, row, col);
  const dot = score * Math.sqrt(q.cols);
  const products = Array.from({ length: q.cols }, (_, d): Piece[] => [
    operand(at(q, row, d), "q"),
    { text: times },
    operand(at(k, col, d), "k"),
  ]);
  const seen = Array.from({ length: scores.cols }, (_, j) => at(scores, row, j)).filter(
    (each) => each !== Number.NEGATIVE_INFINITY,
  );
  const power = (each: number): Piece => ({ text: `e^${operand(each).text}` });
  const total = seen.reduce((all, each) => all + Math.exp(each), 0);
  // The greatest scores of a model that learns too fast have no exponential.
  const ratio = Number.isFinite(total) ? ` = ${large(Math.exp(score))} ÷ ${large(total)}` : "";
  return [
    ...[{ text: "q", role: "q" as const }, { text: " · " }, { text: "k", role: "k" as const }],
    ...[{ text: " = " }, ...sum(products), { text: ` = ${format(dot)}` }],
    { text: `\nscore = ${operand(dot).text} ÷ √${q.cols} = ${format(score)}` },
    ...[{ text: "\nweight = " }, power(score), { text: " ÷ (" }],
    ...sum(seen.map((each) => [power(each)])),
    { text: `)${ratio} = ${format(at(weightsOf(between, shares, head), row, col))}` },
  ];
}
