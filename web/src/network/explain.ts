/**
 * Explains a number of the network: its name, and its formula with the numbers that it is computed from. Pure functions
 * of numbers.
 */

import { type Explanation, format, operand, times } from "#parts";
import { label } from "../shared/pieces";
import { explainAdded, explainAttention } from "./explainAttention";
import { entry, type Facts, type LayerFacts, partOf, readers } from "./facts";
import {
  activations,
  added,
  at,
  dot,
  equals,
  learned,
  normed,
  projected,
  rowOf,
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
  const part = partOf(facts, name);
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
  const { token, position, positions, stream } = numbers.start;
  const own = `“${tokens[place]}”`;
  if (of === "token")
    return { name: entry(`Embedding of ${own}`, col), formula: learned(token, col) };
  if (of === "position" && position) {
    const pair = Math.floor(col / 2);
    const wave = `${col % 2 === 0 ? "sin" : "cos"}(${place} ÷ 10000^(${2 * pair} ÷ ${position.length}))`;
    return {
      name: entry(`Position ${place + 1}`, col),
      formula:
        positions === "learned"
          ? learned(position, col)
          : [text(wave), ...equals(at(position, col))],
    };
  }
  if (of !== "stream") return null;
  const terms = position ? [at(position, col)] : [];
  return {
    name: entry("The stream before layer 1", col),
    formula: position
      ? added(at(token, col), terms, at(stream, col))
      : [text(`the embedding of ${own}: ${format(at(stream, col))}`)],
  };
}

/** The sum and the stream of a layer with post-norm, whose attention reads the stream without a norm. */
function explainPost({ part, of, col }: Omit<Spot, "row">, norm: NormNumbers, layer: number) {
  const says = (name: string, words: string, value: number) => ({
    name: entry(name, col),
    formula: [text(`${words}: ${format(value)}`)],
  });
  const value = at(norm.input, col);
  if (part === "attention") {
    const before = layer === 1 ? "the embeddings, added and normalised" : `from layer ${layer - 1}`;
    return of === "norm" ? says(`The stream before layer ${layer}`, before, value) : null;
  }
  const what = part === "feed-forward" ? "attention" : "the feed-forward network";
  if (of === "stream")
    return says(`The sum after ${what}`, `the stream and what ${what} adds`, value);
  if (of !== "norm") return null;
  return { name: entry(`The stream after ${what}`, col), formula: normed(norm, col, "sum") };
}

/** Rows that all parts have: the stream and its norm. */
function explainCommon({ part, of, col }: Spot, norm: NormNumbers, facts: LayerFacts) {
  const { input, gain, bias } = norm;
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
  if (of === "stream")
    return {
      name: entry(`The stream ${before}`, col),
      formula: [text(`the start and all that was added since: ${format(at(input, col))}`)],
    };
  if (of === "gain" && gain) return { name: entry("Gain", col), formula: learned(gain, col) };
  if (of === "shift" && bias)
    return { name: entry("Bias of the norm", col), formula: learned(bias, col) };
  if (of === "norm")
    return { name: entry(`What ${readers[part]} reads`, col), formula: normed(norm, col) };
  return null;
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
    if (of === "up")
      return (
        up && {
          name: `Up of ${unit}`,
          formula: projected("W_up", own?.up, norm.result, col, at(up, col)),
        }
      );
    return {
      name: up ? `Gate of ${unit}` : `What ${unit} gets`,
      formula: projected(
        up ? "W_gate" : "W_1",
        up ? own?.gate : own?.up,
        norm.result,
        col,
        at(gate, col),
      ),
    };
  }
  if (col >= norm.input.length) return null;
  if (of === "added")
    return {
      name: entry("What the feed-forward network adds", col),
      formula: projected(up ? "W_down" : "W_2", own?.down, units, col, at(part.added, col)),
    };
  if (of !== "output") return null;
  const after = norm.isPost
    ? "The sum after the feed-forward network"
    : `The stream after layer ${(numbers.open?.layer ?? 0) + 1}`;
  const stream = at(norm.isPost ? norm.result : norm.input, col);
  return {
    name: entry(after, col),
    formula: added(stream, [at(part.added, col)], at(part.output, col)),
  };
}

function explainEnd(spot: Spot, facts: Facts): Explanation | null {
  const { of, row, col } = spot;
  const { norm, prediction } = facts.numbers.end;
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
    return {
      name: entry(`${what} of “${word}”`, col),
      formula: learned(rows, row * read.length + col),
    };
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
