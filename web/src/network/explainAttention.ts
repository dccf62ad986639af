/** How the numbers of an attention are computed. */

import { type Explanation, type FormulaPiece, format, operand } from "#parts";
import { formulaOf } from "../shared/attended";
import { columnsOf, type Facts, isAblated, type LayerFacts, readers } from "./facts";
import { added, at, dot, entry, equals, learned, normed, projected, rowOf, text } from "./formulas";
import type { AddedByHeads, AttentionNumbers, Spot } from "./messages";

function explainQuery(part: AttentionNumbers, i: number, facts: Facts): Explanation {
  const { head } = part;
  const { projected: own, queryNorm, frequencies, shares } = head;
  const size = own.length;
  const matrix = facts.matrices?.[part.name]?.q;
  const start = projected("W_Q", matrix, part.norm.result, head.head * size + i, at(own, i));
  const before = queryNorm?.result ?? own;
  const half = size / 2;
  const isFirst = i < half;
  const frequency = frequencies?.[i % half] ?? 0;
  const rotation = frequencies
    ? [
        text(`\nrotated by position ${facts.place} × ${format(frequency, 4)} = `),
        text(`${format(facts.place * frequency)} radians: `),
        ...[operand(at(before, i)), text(" × cos "), text(isFirst ? "− " : "+ ")],
        ...[operand(at(before, isFirst ? i + half : i - half)), text(" × sin")],
        ...equals(at(shares.queries, i), "q"),
      ]
    : [];
  return entry(`Query of head ${head.head + 1}: what it looks for`, i, [
    ...start,
    ...(queryNorm ? [text("\nnormed: "), ...normed(queryNorm, i, "query")] : []),
    ...rotation,
  ]);
}

/** The weight and the score of a token, as the other rooms explain them. */
function explainWeight(part: AttentionNumbers, token: number, isScore: boolean, facts: Facts) {
  const { shares, scale } = part.head;
  const columns = columnsOf(facts, part);
  const between = { heads: 1, rows: [facts.tokens[facts.place] as string], columns, scale };
  const formula = formulaOf(between, shares, 0, { row: 0, col: token });
  const end = formula.findIndex((piece) => piece.text.startsWith("\nweight"));
  return {
    name: `${isScore ? "Score" : "Weight"} of “${columns[token]}” (token ${token + 1})`,
    formula: isScore ? formula.slice(0, end) : formula,
  };
}

/** The formulas for the keys and values of other tokens. */
function explainToken({ of, row, col }: Spot, part: AttentionNumbers, facts: Facts): Explanation {
  const { head, name } = part;
  const size = head.projected.length;
  const isKey = of === "key";
  const [words, letter, role] = isKey
    ? (["Key", "W_K", "k"] as const)
    : (["Value", "W_V", "v"] as const);
  const value = at(isKey ? head.shares.keys : head.values, row * size + col);
  const columns = columnsOf(facts, part);
  const own = `${words} of “${columns[row]}”`;
  if (!head.sources)
    return entry(own, col, [
      text(`computed when token ${row + 1} was read, and kept in the cache: `),
      { text: format(value), role },
    ]);
  const source = rowOf(head.sources, row, head.sources.length / columns.length);
  const matrix = facts.matrices?.[name]?.[role];
  return entry(own, col, [
    text(name === "cross" ? "from the encoder’s end: " : ""),
    ...projected(letter, matrix, source, head.group * size + col, value),
  ]);
}

/** A weight in the maps of all heads. */
function explainMap({ row, col }: Spot, part: AttentionNumbers, facts: Facts): Explanation | null {
  const { head, heads, norm, maps } = part;
  const count = heads.length / norm.input.length;
  if (!maps || row >= maps.rows * count || col >= maps.columns) return null;
  const [own, token] = [Math.floor(row / maps.rows), row % maps.rows];
  if (own === head.head && token === facts.place) return explainWeight(part, col, false, facts);
  const weight = at(maps.weights, row * maps.columns + col);
  const key = columnsOf(facts, part)[col];
  return {
    name: `Weight of head ${own + 1}: “${facts.tokens[token]}” (${token + 1}) attends to “${key}” (${col + 1})`,
    formula: [text(`softmax of the row = ${format(weight)}; select head and token to see scores`)],
  };
}

function explainSum({ col }: Spot, part: AttentionNumbers, facts: Facts): Explanation {
  const { head } = part;
  const size = head.projected.length;
  const column = columnsOf(facts, part).map((_, token) => at(head.values, token * size + col));
  const isLost = isAblated(facts, head.head);
  return entry("Weighted sum of the values", col, [
    ...dot(head.shares.weights, column, at(head.sum, col), { role: "v" }),
    ...(isLost ? [text("\nthe head is ablated: its sum is not passed on")] : []),
  ]);
}

function explainHead({ row, col }: Spot, part: AddedByHeads, facts: LayerFacts): Explanation {
  const { heads, headOutputs, norm } = part;
  const size = norm.input.length;
  const width = headOutputs.length;
  const own = (width * size) / heads.length;
  const value = at(heads, row * size + col);
  const says = (...formula: FormulaPiece[]) => entry(`What head ${row + 1} adds`, col, formula);
  const outputs = rowOf(headOutputs, row, own);
  const isMean = outputs.some((each) => each !== 0);
  if (isAblated(facts, row) && !isMean) return says(text("the head is ablated"), ...equals(value));
  const whose = isAblated(facts, row) ? "its mean over the reference" : "its sum";
  const matrix = facts.matrices?.[part.name]?.o;
  if (!matrix) return says(text(format(value)));
  const weights = rowOf(rowOf(matrix.weight, col, width), row, own);
  return says(text(`W_O row ${col + 1} · ${whose} = `), ...dot(weights, outputs, value));
}

export function explainAttention(
  spot: Spot,
  part: AttentionNumbers,
  facts: Facts,
): Explanation | null {
  const { of, row, col } = spot;
  const { head } = part;
  const columns = columnsOf(facts, part);
  if (of === "map") return explainMap(spot, part, facts);
  if (of === "score" || of === "weight")
    return row < columns.length && col === 0
      ? explainWeight(part, row, of === "score", facts)
      : null;
  if (of === "query" || of === "key" || of === "value" || of === "sum") {
    if (col >= head.projected.length || row >= columns.length) return null;
    if (of === "query") return explainQuery(part, col, facts);
    return of === "sum" ? explainSum(spot, part, facts) : explainToken(spot, part, facts);
  }
  return explainAdded(spot, part, facts);
}

/** A number that the heads add to the stream, or that results from it. */
export function explainAdded(
  spot: Spot,
  part: AddedByHeads,
  facts: LayerFacts,
): Explanation | null {
  const { of, row, col } = spot;
  const { heads, norm, bias } = part;
  const size = norm.input.length;
  const count = heads.length / size;
  if (col >= size) return null;
  if (of === "head" && row < count) return explainHead(spot, part, facts);
  if (of === "bias" && bias) return learned("Bias of the output projection", col, bias);
  if (of !== "output") return null;
  const terms = Array.from({ length: count }, (_, each) => at(heads, each * size + col));
  if (bias) terms.push(at(bias, col));
  return entry(`The ${norm.isPost ? "sum" : "stream"} after ${readers[part.name]}`, col, [
    text(`stream + what each head adds${bias ? " + bias" : ""} = `),
    ...added(at(norm.input, col), terms, at(part.output, col)),
  ]);
}
