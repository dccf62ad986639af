// How good a model is on examples that it has not seen, and where its attention falls.

import { HeedError, refuse } from "../core/error.js";
import { pause } from "../core/pause.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isFunction,
  isListOf,
  isWholeNumber,
} from "../core/validate.js";
import type { Alignment, Example, Picture, Series } from "./examples.js";
import type { Answer, ExampleWeights, TaskModel } from "./model.js";
import { patchSize } from "./modelConfig.js";

/** How a model answers. What does not apply to a kind of task is not there. */
export interface Scores {
  examples: number;
  /** The share that is answered without any fault; of series, the share of R^2 above 0.9. */
  exact: number;
  /** The share of answers' tokens that are right. */
  tokens?: number;
  /** Series: root mean square error of the hidden values. */
  error?: number;
  /** Series: the same error of straight lines drawn across the gaps. */
  lineError?: number;
}

/** One head, and how its weights fall on the places that answers come from. */
export interface HeadAlignment {
  /** Of the attention, as captureAttention names it. */
  path: string;
  head: number;
  /** Rows that were looked at: those whose answer comes from somewhere. */
  rows: number;
  /** The mean weight on those places together. */
  mass: number;
  /**
   * The share of rows whose largest weight is on one of those places: among content words in tagging, among
   * the source's tokens in translation, among patches in pictures.
   */
  largest: number;
  /** What `mass` would be if each row had even weights on all that it can see. */
  chance: number;
  /**
   * The mean weight on those places for each position of the answer, if all answers are of one length; null
   * for a position whose token comes from nowhere.
   */
  byPosition?: (number | null)[];
}

export interface EvaluateOptions {
  /** Examples that are answered at once; 64 by default. */
  batch?: number;
  /** Stops the work between two batches: the promise then fails with the signal's reason. */
  signal?: AbortSignal;
  /** Is told how many examples are done. */
  progress?: (done: number) => void;
}

export interface AlignmentOptions {
  /** Examples that are computed at once; 64 by default. */
  batch?: number;
}

const checks = {
  batch: isWholeNumber(1),
  signal: { expected: "an AbortSignal", accepts: (value) => value instanceof AbortSignal },
  progress: isFunction,
} satisfies Record<keyof EvaluateOptions, Check>;

const isExample = (value: unknown) =>
  value !== null && typeof value === "object" && "kind" in value;

/** A list of examples, whatever their kind. */
export const someExamples: Check = {
  expected: "a list of one example or more",
  accepts: (value) => isListOf(value, isExample) && value.length > 0,
};

/** Refuses what does not answer as a model does. */
function checkModel(model: unknown): void {
  const { eval: toEval, train } = (model ?? {}) as Partial<TaskModel>;
  checkArgument("model", model, {
    expected: "a model",
    accepts: () => [toEval, train].every((each) => typeof each === "function"),
  });
}

const mean = (numbers: readonly number[]) =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/**
 * Has a model answer by itself, greedily, and compares. The model is in eval mode meanwhile.
 *
 * @throws HeedError, and the reason of the signal
 */
export async function evaluate<E extends Example>(
  model: TaskModel<E>,
  examples: readonly E[],
  options: EvaluateOptions = {},
): Promise<Scores> {
  checkModel(model);
  checkArgument("examples", examples, someExamples);
  checkOptions("evaluate", options, checks);
  const { batch = 64, signal, progress } = options;
  const wasTraining = model.training;
  model.eval();
  try {
    const marks: Mark[] = [];
    for (let begin = 0; begin < examples.length; begin += batch) {
      signal?.throwIfAborted();
      const some = examples.slice(begin, begin + batch);
      const answers = await model.answer(some, signal ? { signal } : {});
      marks.push(...some.map((example, i) => mark(example, answers[i] as Answer)));
      progress?.(marks.length);
      await pause();
    }
    return scoresOf(marks);
  } finally {
    model.train(wasTraining);
  }
}

/** What one answer counts. */
interface Mark {
  isExact: boolean;
  /** Tokens to be said, and how many were. */
  tokens?: { count: number; right: number };
  /** Squared errors of the hidden values: the model's, and a straight line's. */
  squares?: { count: number; model: number; line: number };
}

function mark(example: Example, answer: Answer): Mark {
  if (example.kind === "translation" && answer.kind === "tokens")
    return compare(example.target, answer.tokens, answer.tokens.length === example.target.length);
  if (example.kind === "tagging" && answer.kind === "labels")
    return compare(example.labels, answer.labels, true);
  if (example.kind === "continuation" && answer.kind === "labels")
    return markContinuation(example.allowed, answer.labels);
  if (example.kind === "series" && answer.kind === "numbers")
    return markSeries(example, answer.values);
  if (example.kind === "picture" && answer.kind === "class")
    return compare([example.label], [answer.label], true);
  throw new HeedError("option", `answer: expected one for a ${example.kind}, got ${answer.kind}`);
}

function compare(
  expected: readonly (string | undefined)[],
  said: readonly (string | undefined)[],
  hasSameLength: boolean,
): Mark {
  const asked = expected.flatMap((token, i) => (token === undefined ? [] : [token === said[i]]));
  const right = asked.filter((isRight) => isRight).length;
  return {
    isExact: hasSameLength && right === asked.length,
    tokens: { count: asked.length, right },
  };
}

function markContinuation(
  allowed: readonly (readonly string[] | undefined)[],
  said: readonly (string | undefined)[],
): Mark {
  const asked = allowed.flatMap((tokens, i) =>
    tokens === undefined ? [] : [tokens.includes(said[i] as string)],
  );
  const right = asked.filter((isRight) => isRight).length;
  return { isExact: right === asked.length, tokens: { count: asked.length, right } };
}

/** R^2 above this counts as found: nine tenths of the hidden values' variation. */
const foundAbove = 0.9;

function markSeries({ values, isHidden }: Series, said: Float32Array): Mark {
  const hidden = isHidden.flatMap((is, i) => (is ? [i] : []));
  const sum = (term: (i: number) => number) => hidden.reduce((total, i) => total + term(i), 0);
  const at = (i: number) => values[i] as number;
  const middle = sum(at) / hidden.length;
  const model = sum((i) => (at(i) - (said[i] as number)) ** 2);
  const line = sum((i) => (at(i) - lineAt(values, isHidden, i)) ** 2);
  const variation = sum((i) => (at(i) - middle) ** 2);
  return {
    isExact: 1 - model / variation > foundAbove,
    squares: { count: hidden.length, model, line },
  };
}

/** The straight line between the known values on both sides of a hidden one. */
function lineAt(values: Float32Array, isHidden: readonly boolean[], i: number): number {
  let [before, after] = [i, i];
  while (before >= 0 && isHidden[before]) --before;
  while (after < values.length && isHidden[after]) ++after;
  const [left, right] = [values[before], values[after]];
  if (left === undefined || right === undefined) return left ?? right ?? 0;
  return left + ((right - left) * (i - before)) / (after - before);
}

function scoresOf(marks: readonly Mark[]): Scores {
  const scores: Scores = {
    examples: marks.length,
    exact: mean(marks.map(({ isExact }) => Number(isExact))),
  };
  const tokens = marks.flatMap((mark) => (mark.tokens ? [mark.tokens] : []));
  const total = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);
  const asked = total(tokens.map(({ count }) => count));
  if (asked > 0) scores.tokens = total(tokens.map(({ right }) => right)) / asked;
  const squares = marks.flatMap((mark) => (mark.squares ? [mark.squares] : []));
  const values = total(squares.map(({ count }) => count));
  if (values > 0) {
    scores.error = Math.sqrt(total(squares.map(({ model }) => model)) / values);
    scores.lineError = Math.sqrt(total(squares.map(({ line }) => line)) / values);
  }
  return scores;
}

/**
 * Where the weights of each head fall, under teacher forcing: on the places that answers come from, or
 * elsewhere. Of all heads, whether they look well or not.
 *
 * @throws HeedError "option" if no answer of the examples comes from anywhere, as of what a person types
 */
export function alignment<E extends Example>(
  model: TaskModel<E>,
  examples: readonly E[],
  options: AlignmentOptions = {},
): HeadAlignment[] {
  checkModel(model);
  checkArgument("examples", examples, someExamples);
  checkOptions("alignment", options, { batch: checks.batch });
  const { batch = 64 } = options;
  if (!examples.some((example) => alignmentOf(example).some(({ length }) => length > 0)))
    throw refuse("option", "examples", "one whose answer comes from some place", "none");
  const wasTraining = model.training;
  model.eval();
  const heads = new Map<string, Sums>();
  try {
    for (let begin = 0; begin < examples.length; begin += batch) {
      const some = examples.slice(begin, begin + batch);
      for (const [i, attentions] of model.weights(some).entries())
        for (const attention of attentions) addWeights(heads, some[i] as E, attention);
    }
  } finally {
    model.train(wasTraining);
  }
  const [length, ...others] = new Set(examples.map((example) => alignmentOf(example).length));
  const isOfOneLength = others.length === 0 && examples[0]?.kind === "translation";
  return [...heads.values()].map(({ path, head, largest, chance, masses }) => {
    const rows = masses.reduce((sum, { count }) => sum + count, 0);
    const mass = masses.reduce((sum, at) => sum + at.mass, 0) / rows;
    const means = Array.from({ length: length as number }, (_, t) => {
      const at = masses[t];
      return at && at.count > 0 ? at.mass / at.count : null;
    });
    return {
      ...{ path, head, rows, mass, largest: largest / rows, chance: chance / rows },
      ...(isOfOneLength && { byPosition: means }),
    };
  });
}

/** Over the rows of one head. */
interface Sums {
  readonly path: string;
  readonly head: number;
  largest: number;
  chance: number;
  /** By position: how many rows, and what they put on the places that answers come from. */
  readonly masses: { count: number; mass: number }[];
}

/** Adds an example's rows to the sums of each head. */
function addWeights(
  heads: Map<string, Sums>,
  example: Example,
  { path, heads: count, rows, columns, weights, choices }: ExampleWeights,
): void {
  const aligned = alignmentOf(example);
  for (let head = 0; head < count; ++head) {
    const key = `${path} ${head}`;
    const sums = heads.get(key) ?? { path, head, largest: 0, chance: 0, masses: [] };
    heads.set(key, sums);
    for (const [t, places] of aligned.entries()) {
      sums.masses[t] ??= { count: 0, mass: 0 };
      if (places.length === 0 || t >= rows) continue;
      const begin = (head * rows + t) * columns;
      const row = weights.subarray(begin, begin + columns);
      const at = (i: number) => row[i] as number;
      const among = example.kind === "tagging" ? example.content : [...row.keys()];
      const largest = among.reduce((best, i) => (at(i) > at(best) ? i : best));
      sums.masses[t].count += 1;
      sums.masses[t].mass += places.reduce((sum, i) => sum + at(i), 0);
      sums.largest += Number(places.includes(largest));
      sums.chance += places.length / (choices[t] as number);
    }
  }
}

/** The places of an example that each row of its weights is to fall on. */
export function alignmentOf(example: Example): Alignment {
  checkArgument("example", example, { expected: "an example", accepts: isExample });
  return example.kind === "picture" ? [coveredPatches(example)] : example.alignment;
}

/** The patches, row by row, of which the shape covers some. */
function coveredPatches({ covered, width }: Picture): number[] {
  const across = width / patchSize;
  const patches = covered.flatMap((is, i) => {
    const [x, y] = [i % width, Math.floor(i / width)];
    return is ? [Math.floor(y / patchSize) * across + Math.floor(x / patchSize)] : [];
  });
  return [...new Set(patches)].sort((a, b) => a - b);
}
