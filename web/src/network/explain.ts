/**
 * Explains a number of the network: its name, and its formula with the numbers that it is computed from. Pure functions
 * of numbers.
 */

import { type Explanation, format, operand, times } from "#parts";
import { label } from "../shared/pieces";
import { explainAdded, explainAttention } from "./explainAttention";
import { type Facts, type LayerFacts, readers } from "./facts";
import {
  activations,
  added,
  at,
  dot,
  entry,
  equals,
  learned,
  normed,
  projected,
  rowOf,
  said,
  text,
} from "./formulas";
import type {
  BlockNumbers,
  FeedForwardNumbers,
  NormNumbers,
  PredictionNumbers,
  Spot,
} from "./messages";

/** The explanation of a number; null if there is no such number. */
export function explain(spot: Spot, facts: Facts): Explanation | null {
  const { part: name, col } = spot;
  const { numbers } = facts;
  const size = numbers.start.stream.length;
  if (name === "start") return col < size ? explainStart(spot, facts) : null;
  if (name === "end") return explainEnd(spot, facts);
  const { next } = numbers.open ?? {};
  if (name === "next") return next ? explainCommon(spot, next, facts) : null;
  const part = numbers.open?.parts.find((part) => part.name === name);
  if (!part) return null;
  const common = explainCommon(spot, part.norm, facts);
  if (common) return common;
  return part.name === "feed-forward"
    ? explainFeedForward(spot, part, facts)
    : explainAttention(spot, part, facts);
}

/** The explanation of a number of a layer after its attention weights; null if there is no such number. */
export function explainBlock(
  spot: Spot,
  { attention, feedForward, next }: BlockNumbers,
  facts: LayerFacts,
): Explanation | null {
  if (spot.part === "attention")
    return explainCommon(spot, attention.norm, facts) ?? explainAdded(spot, attention, facts);
  if (spot.part === "feed-forward")
    return (
      explainCommon(spot, feedForward.norm, facts) ?? explainFeedForward(spot, feedForward, facts)
    );
  return spot.part === "next" || spot.part === "end" ? explainCommon(spot, next, facts) : null;
}

function explainStart({ of, col }: Spot, { numbers, tokens, place }: Facts): Explanation | null {
  const { token, position, positions, segment, norm, stream } = numbers.start;
  const own = `“${tokens[place]}”`;
  if (of === "token") return learned(`Embedding of ${own}`, col, token);
  if (of === "position" && position) {
    const words = `Position ${place + 1}`;
    if (positions === "learned") return learned(words, col, position);
    const pair = Math.floor(col / 2);
    const wave = `${col % 2 === 0 ? "sin" : "cos"}(${place} ÷ 10000^(${2 * pair} ÷ ${position.length}))`;
    return entry(words, col, [text(wave), ...equals(at(position, col))]);
  }
  if (of === "segment" && segment) return learned("First segment", col, segment);
  const words = "The stream before layer 1";
  if (norm && of === "norm") return entry(words, col, normed(norm, col, "sum"));
  if (of === "gain" || of === "shift") return norm ? explainLearned(of, col, norm) : null;
  if (of !== "stream") return null;
  const value = at(norm ? norm.input : stream, col);
  const terms = [position, segment].flatMap((part) => (part ? at(part, col) : []));
  return terms.length > 0
    ? entry(norm ? "The sum" : words, col, added(at(token, col), terms, value))
    : said(norm ? "The sum" : words, col, `the embedding of ${own}`, value);
}

/** The parameters of a norm; null if it has none. */
function explainLearned(of: "gain" | "shift", col: number, { gain, bias }: NormNumbers) {
  const data = of === "gain" ? gain : bias;
  return data && learned(of === "gain" ? "Gain" : "Bias of the norm", col, data);
}

/** The sum and the stream of a layer with post-norm, whose attention reads the stream without a norm. */
function explainPost({ part, of, col }: Omit<Spot, "row">, norm: NormNumbers, layer: number) {
  const value = at(norm.input, col);
  if (part === "attention") {
    const before = layer === 1 ? "the embeddings, added and normalised" : `from layer ${layer - 1}`;
    return of === "norm" ? said(`The stream before layer ${layer}`, col, before, value) : null;
  }
  const what = part === "feed-forward" ? "attention" : "the feed-forward network";
  if (of === "stream")
    return said(`The sum after ${what}`, col, `the stream and what ${what} adds`, value);
  return of === "norm" ? entry(`The stream after ${what}`, col, normed(norm, col, "sum")) : null;
}

/** Rows that all parts have: the stream and its norm. */
function explainCommon({ part, of, col }: Spot, norm: NormNumbers, facts: LayerFacts) {
  const { input } = norm;
  if (col >= input.length) return null;
  const layer = (facts.numbers.open?.layer ?? 0) + 1;
  if (norm.isPost && (of === "stream" || of === "norm"))
    return explainPost({ part, of, col }, norm, layer);
  const before = {
    ...{ start: "before layer 1", end: "after the last layer", cross: "after attention" },
    attention: `before layer ${layer}`,
    next: `after layer ${layer}`,
    "feed-forward": `before the feed-forward network of layer ${layer}`,
  }[part];
  if (of === "stream") {
    const how = "the start and all that was added since";
    return said(`The stream ${before}`, col, how, at(input, col));
  }
  if (of === "gain" || of === "shift") return explainLearned(of, col, norm);
  return of === "norm" ? entry(`What ${readers[part]} reads`, col, normed(norm, col)) : null;
}

const silu = (x: number) => x / (1 + Math.exp(-x));

function explainFeedForward(
  { of, col }: Spot,
  part: FeedForwardNumbers,
  { numbers, matrices }: LayerFacts,
): Explanation | null {
  const { norm, gate, up, units, activation } = part;
  const own = matrices?.["feed-forward"];
  if (of === "gate" || of === "up" || of === "unit") {
    if (col >= units.length) return null;
    const unit = `unit ${col + 1}`;
    const { name, formula } = activations[activation];
    if (of === "unit")
      return {
        name: `Unit ${col + 1}`,
        formula: [
          text(`${name}(${up ? "gate" : "x"})${up ? " × up" : ""} = `),
          ...(up
            ? [operand(silu(at(gate, col))), text(times), operand(at(up, col))]
            : [text(`${name}(`), text(format(at(gate, col))), text(")")]),
          ...equals(at(units, col)),
          text(`\n${name}(x) = ${formula}, x = ${format(at(gate, col))}`),
        ],
      };
    const gated = up
      ? ([`Gate of ${unit}`, "W_gate", own?.gate, gate] as const)
      : ([`What ${unit} gets`, "W_1", own?.up, gate] as const);
    const [words, letter, matrix, data] =
      of === "up" ? ([`Up of ${unit}`, "W_up", own?.up, up] as const) : gated;
    const product = data && projected(letter, matrix, norm.result, col, at(data, col));
    return product && { name: words, formula: product };
  }
  if (col >= norm.input.length) return null;
  const vector = at(part.added, col);
  if (of === "added") {
    const formula = projected(up ? "W_down" : "W_2", own?.down, units, col, vector);
    return entry("What the feed-forward network adds", col, formula);
  }
  if (of !== "output") return null;
  const after = norm.isPost
    ? "The sum after the feed-forward network"
    : `The stream after layer ${(numbers.open?.layer ?? 0) + 1}`;
  const stream = at(norm.isPost ? norm.result : norm.input, col);
  return entry(after, col, added(stream, [vector], at(part.output, col)));
}

function explainEnd(spot: Spot, facts: Facts): Explanation | null {
  const { of, row, col } = spot;
  const { end } = facts.numbers;
  if (!end) return null;
  const { norm, prediction } = end;
  const common = explainCommon(spot, norm, facts);
  if (common) return common;
  const words = facts.numbers.readings?.at(-1)?.words ?? [];
  if (!prediction || row >= prediction.logits.length) return null;
  return explainPrediction({ of, row, col }, label(words[row] as string), norm.result, prediction);
}

function explainPrediction(
  { of, row, col }: Pick<Spot, "of" | "row" | "col">,
  word: string,
  read: Float32Array,
  { logits, rows, bias, isTied, logSum }: PredictionNumbers,
): Explanation | null {
  const what = isTied ? "Embedding" : "Row of the head";
  const logit = at(logits, row);
  if (of === "row" && rows && col < read.length)
    return learned(`${what} of “${word}”`, col, rows, row * read.length + col);
  if (of === "logit" && col === 0)
    return {
      name: `Logit of “${word}”: its ${isTied ? "embedding" : "row"} · the normed stream`,
      formula: rows
        ? dot(rowOf(rows, row, read.length), read, logit, {
            bias: bias ? at(bias, row) : undefined,
          })
        : [text(format(logit))],
    };
  if (of !== "share" || col !== 0) return null;
  return {
    name: `Probability of “${word}”`,
    formula: [
      text(`e^${format(logit)} ÷ the sum over all tokens, e^${format(logSum)}, = `),
      text(`e^${operand(logit - logSum).text} = ${format(Math.exp(logit - logSum))}`),
    ],
  };
}
