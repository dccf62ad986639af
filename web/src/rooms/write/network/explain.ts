/** What a number of the network is, and how it is computed from others: pure functions of numbers. */
import { formulaOf } from "../../../shared/attended";
import type { Explanation, FormulaPiece, Role } from "../../../shared/explanation";
import { format } from "../../../shared/format";
import { operand, sum, times } from "../../../shared/terms";
import type { HeadNumbers, LastNumbers, LayerNumbers, WeightsAnswer } from "./messages";

/** A row of numbers of an open layer, or of the end; rows of tokens have their index. */
export type Place =
  | {
      readonly of:
        | "stream"
        | "first gain"
        | "first norm"
        | "query"
        | "sum"
        | "between"
        | "second gain"
        | "second norm"
        | "gate"
        | "up"
        | "unit"
        | "feed-forward"
        | "output"
        | "last gain"
        | "last norm";
    }
  | {
      readonly of: "key" | "score" | "weight" | "value";
      /** Counted from 0. */
      readonly token: number;
    }
  | { readonly of: "head"; readonly head: number }
  | { readonly of: "row" | "logit" | "share"; readonly rank: number };

/** What the formulas of a layer are made of. */
export interface LayerFacts {
  /** Counted from 0. */
  readonly layer: number;
  readonly numbers: LayerNumbers;
  readonly head: HeadNumbers | null;
  /** Null until they have come: formulas have no terms then. */
  readonly weights: WeightsAnswer | null;
  /** All tokens up to the one whose way is shown, as labels. */
  readonly tokens: readonly string[];
  readonly eps: number;
}

const at = (data: Float32Array, i: number) => data[i] as number;
const rowOf = (data: Float32Array, row: number, size: number) =>
  data.subarray(row * size, (row + 1) * size);

const text = (text: string): FormulaPiece => ({ text });

/** The sum of products of two vectors, with its value. */
function dot(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  value: number,
  [left, right]: readonly (Role | undefined)[] = [],
): FormulaPiece[] {
  const terms = Array.from(a, (entry, i) => [
    operand(entry, left),
    text(times),
    operand(b[i] as number, right),
  ]);
  return [...sum(terms), text(` = ${format(value)}`)];
}

/** A row of W times a vector, with its terms once W is there. */
function projected(
  letter: string,
  matrix: Float32Array | undefined,
  input: Float32Array,
  row: number,
  value: number,
): FormulaPiece[] {
  const name = `${letter} row ${row + 1} · `;
  if (!matrix) return [text(`${name}… = ${format(value)}`)];
  const own = rowOf(matrix, row, input.length);
  return [text(`${name}input = `), ...dot(own, input, value)];
}

/** √(the mean of squares + ε). */
export function rootMeanSquare(x: Float32Array, eps: number): number {
  const squares = x.reduce((total, each) => total + each * each, 0);
  return Math.sqrt(squares / x.length + eps);
}

/** The length of a vector. */
export function lengthOf(x: Float32Array): number {
  return Math.sqrt(x.reduce((total, each) => total + each * each, 0));
}

function normed(
  [input, gain, result]: readonly [Float32Array, Float32Array, Float32Array],
  eps: number,
  i: number,
): FormulaPiece[] {
  const root = rootMeanSquare(input, eps);
  return [
    ...[text("stream ÷ RMS × gain = "), operand(at(input, i)), text(` ÷ ${format(root)} × `)],
    ...[operand(at(gain, i)), text(` = ${format(at(result, i))}`)],
    text(`\nRMS = √(mean of the ${input.length} squares + ${eps})`),
  ];
}

const added = (before: number, terms: readonly number[], after: number): FormulaPiece[] => [
  operand(before),
  ...terms.flatMap((term) => [text(" + "), operand(term)]),
  text(` = ${format(after)}`),
];

const silu = (x: number) => x / (1 + Math.exp(-x));

/** The formula of the query's entry: the projection, then the rotation with the entry half a head away. */
function queryOf({ layer, numbers, head, weights, tokens }: LayerFacts, i: number): Explanation {
  const { unrotated, frequencies, shares, place } = head as HeadNumbers;
  const half = unrotated.length / 2;
  const isFirst = i < half;
  const other = isFirst ? i + half : i - half;
  const position = tokens.length - 1;
  const angle = position * (frequencies[i % half] as number);
  const row = place.head * unrotated.length + i;
  const input = numbers.firstNormed;
  return {
    name: `Query, entry ${i + 1}: what head ${place.head + 1} of layer ${layer + 1} looks for`,
    formula: [
      ...projected("W_Q", weights?.q, input, row, at(unrotated, i)),
      text(`\nrotated by position ${position} × ${format(frequencies[i % half] as number, 4)} = `),
      ...[text(`${format(angle)} radians: `), operand(at(unrotated, i)), text(" × cos ")],
      ...[text(isFirst ? "− " : "+ "), operand(at(unrotated, other)), text(" × sin = ")],
      { text: format(at(shares.queries, i)), role: "q" },
    ],
  };
}

/** The weight and the score of a token, as the other rooms explain them. */
function weightOf(facts: LayerFacts, token: number, isScore: boolean): Explanation {
  const { shares } = facts.head as HeadNumbers;
  const { tokens } = facts;
  const name = tokens[token];
  const between = { heads: 1, rows: [tokens.at(-1) as string], columns: tokens };
  const formula = formulaOf(between, shares, 0, { row: 0, col: token });
  const end = formula.findIndex((piece) => piece.text.startsWith("\nweight"));
  return {
    name: `${isScore ? "Score" : "Weight"} of “${name}” (token ${token + 1})`,
    formula: isScore ? formula.slice(0, end) : formula,
  };
}

/** How an entry of an open layer is computed; `i` counts from 0. */
export function explainEntry(place: Place, i: number, facts: LayerFacts): Explanation {
  const { layer, numbers, head, weights, tokens, eps } = facts;
  const entry = `entry ${i + 1}`;
  const name = (words: string) => `${words}, ${entry}`;
  const headSize = (head?.unrotated.length ?? 1) as number;
  switch (place.of) {
    case "stream":
      return {
        name: name(`The stream before layer ${layer + 1}`),
        formula: [
          text(
            layer === 0
              ? `the embedding of “${tokens.at(-1)}”: ${format(at(numbers.input, i))}`
              : `the embedding and all that ${layer === 1 ? "layer 1 has" : `layers 1 to ${layer} have`} added: ${format(at(numbers.input, i))}`,
          ),
        ],
      };
    case "first gain":
    case "second gain": {
      const gain = place.of === "first gain" ? numbers.firstGain : numbers.secondGain;
      return { name: name("Gain"), formula: [text(`learned: ${format(at(gain, i))}`)] };
    }
    case "first norm":
    case "second norm": {
      const { input, firstGain, firstNormed, between, secondGain, secondNormed } = numbers;
      const isFirst = place.of === "first norm";
      const rows = isFirst
        ? ([input, firstGain, firstNormed] as const)
        : ([between, secondGain, secondNormed] as const);
      return {
        name: name(`What ${isFirst ? "attention" : "the feed-forward network"} reads`),
        formula: normed(rows, eps, i),
      };
    }
    case "query":
      return queryOf(facts, i);
    case "key":
    case "value": {
      const { shares, values } = head as HeadNumbers;
      const isKey = place.of === "key";
      const value = at(isKey ? shares.keys : values, place.token * headSize + i);
      return {
        name: name(`${isKey ? "Key" : "Value"} of “${tokens[place.token]}”`),
        formula: [
          text(`computed when token ${place.token + 1} was read, and kept in the cache: `),
          { text: format(value), role: isKey ? "k" : "v" },
        ],
      };
    }
    case "score":
    case "weight":
      return weightOf(facts, place.token, place.of === "score");
    case "sum": {
      const { shares, values, place: own } = head as HeadNumbers;
      const column = tokens.map((_, token) => at(values, token * headSize + i));
      const value = at(numbers.headOutputs, own.head * headSize + i);
      return {
        name: name("Weighted sum of the values"),
        formula: dot(shares.weights, column, value, [undefined, "v"]),
      };
    }
    case "head": {
      const size = numbers.input.length;
      const width = numbers.headOutputs.length;
      const part = (numbers.heads.length / size) | 0;
      const own = width / part;
      const input = rowOf(numbers.headOutputs, place.head, own);
      const value = at(numbers.heads, place.head * size + i);
      const row = weights && rowOf(weights.o, i, width);
      const matrix = row?.subarray(place.head * own, (place.head + 1) * own);
      return {
        name: name(`What head ${place.head + 1} adds`),
        formula: matrix
          ? [text(`W_O row ${i + 1} · its sum = `), ...dot(matrix, input, value)]
          : [text(format(value))],
      };
    }
    case "between": {
      const size = numbers.input.length;
      const heads = Array.from({ length: numbers.heads.length / size }, (_, head) =>
        at(numbers.heads, head * size + i),
      );
      return {
        name: name("The stream after attention"),
        formula: [
          text("stream + what each head adds = "),
          ...added(at(numbers.input, i), heads, at(numbers.between, i)),
        ],
      };
    }
    case "gate":
    case "up": {
      const isGate = place.of === "gate";
      const matrix = isGate ? weights?.gate : weights?.up;
      const value = at(isGate ? numbers.gate : numbers.up, i);
      return {
        name: `${isGate ? "Gate" : "Up"} of unit ${i + 1}`,
        formula: projected(isGate ? "W_gate" : "W_up", matrix, numbers.secondNormed, i, value),
      };
    }
    case "unit": {
      const gate = at(numbers.gate, i);
      return {
        name: `Unit ${i + 1}`,
        formula: [
          ...[text("SiLU(gate) × up = "), operand(silu(gate)), text(times)],
          ...[operand(at(numbers.up, i)), text(` = ${format(at(numbers.units, i))}`)],
          ...[text("\nSiLU(gate) = gate ÷ (1 + e^−gate), gate = "), operand(gate)],
        ],
      };
    }
    case "feed-forward":
      return {
        name: name("What the feed-forward network adds"),
        formula: projected("W_down", weights?.down, numbers.units, i, at(numbers.feedForward, i)),
      };
    case "output":
      return {
        name: name(`The stream after layer ${layer + 1}`),
        formula: added(at(numbers.between, i), [at(numbers.feedForward, i)], at(numbers.output, i)),
      };
    default:
      throw new RangeError(`a layer has no ${place.of}`);
  }
}

/** What the end of the way is made of. */
export interface LastFacts {
  readonly stream: Float32Array;
  readonly last: LastNumbers;
  /** The most likely tokens as labels. */
  readonly tokens: readonly string[];
  readonly layers: number;
  readonly eps: number;
}

/** How a number after the last layer is computed; `i` counts from 0. */
export function explainLast(place: Place, i: number, facts: LastFacts): Explanation {
  const { stream, last, tokens, layers, eps } = facts;
  switch (place.of) {
    case "stream":
      return {
        name: `The stream after layer ${layers}, entry ${i + 1}`,
        formula: [text(format(at(stream, i)))],
      };
    case "last gain":
      return {
        name: `Gain, entry ${i + 1}`,
        formula: [text(`learned: ${format(at(last.gain, i))}`)],
      };
    case "last norm":
      return {
        name: `What is compared with every token, entry ${i + 1}`,
        formula: normed([stream, last.gain, last.normed], eps, i),
      };
    case "row":
      return {
        name: `Embedding of “${tokens[place.rank]}”, entry ${i + 1}`,
        formula: [text(`learned: ${format(at(last.rows, place.rank * stream.length + i))}`)],
      };
    case "logit":
    case "share": {
      const { rank } = place;
      const logit = at(last.logits, rank);
      if (place.of === "logit")
        return {
          name: `Logit of “${tokens[rank]}”: its embedding · the normed stream`,
          formula: dot(rowOf(last.rows, rank, stream.length), last.normed, logit),
        };
      return {
        name: `Probability of “${tokens[rank]}”`,
        formula: [
          text(`e^${format(logit)} ÷ the sum over all tokens, e^${format(last.logSum)}, = `),
          text(`e^${operand(logit - last.logSum).text} = ${format(Math.exp(logit - last.logSum))}`),
        ],
      };
    }
    default:
      throw new RangeError(`the end has no ${place.of}`);
  }
}
