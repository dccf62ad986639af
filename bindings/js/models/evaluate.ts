// Evaluates models on examples that they were not trained on, and measures where their attention falls.

import { refuse } from "../core/error.js";
import { pause } from "../core/pause.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isFunction,
  isListOf,
  isObject,
  isSignal,
  isWholeNumber,
} from "../core/validate.js";
import type { Alignment, Example, Picture, Series } from "./examples.js";
import type { Answer, ExampleWeights, TaskModel } from "./model.js";
import { patchSize } from "./modelConfig.js";

/** The scores of a model. Scores that do not apply to a kind of task are absent. */
export interface Scores {
  /** The number of examples. */
  examples: number;
  /** The proportion of examples that are answered without any error; for series, with R^2 above 0.9. */
  exact: number;
  /** The proportion of the answers' tokens that are right. */
  tokens?: number;
  /** Series: the root mean square error of the hidden values. */
  error?: number;
  /** Series: the same error of linear interpolation across the gaps. */
  lineError?: number;
}

/** The share of one head's weights on the aligned positions, which determine the answers. */
export interface HeadAlignment {
  /** The path of the attention, as captureAttention passes it. */
  path: string;
  /** The head's index, from 0. */
  head: number;
  /** The number of rows that have aligned positions. */
  rows: number;
  /** The mean over rows of the total weight on the aligned positions. */
  mass: number;
  /**
   * The proportion of rows whose largest weight is on an aligned position: among content words in
   * tagging, among the source's tokens in translation, among patches in pictures.
   */
  largest: number;
  /** The value that `mass` would have if the weights of each row were equal on all positions that it can see. */
  chance: number;
  /**
   * The mean of the total weight on the aligned positions, for each position of the answer. It is
   * present if all answers have the same length. It is null for a position whose token has no
   * aligned positions.
   */
  byPosition?: (number | null)[];
}

/** Options of `evaluate`. */
export interface EvaluateOptions {
  /** The number of examples per batch; 64 by default. */
  batch?: number;
  /** Stops the evaluation between two batches: the promise is then rejected with the signal's reason. */
  signal?: AbortSignal;
  /** Called with the number of examples that are done. */
  progress?: (done: number) => void;
}

/** Options of `alignment`. */
export interface AlignmentOptions {
  /** The number of examples per batch; 64 by default. */
  batch?: number;
}

const checks = {
  batch: isWholeNumber(1),
  signal: isSignal,
  progress: isFunction,
} satisfies Record<keyof EvaluateOptions, Check>;

const isExample = (value: unknown) => isObject(value) && "kind" in value;

/**
 * Accepts a list of examples of any kind.
 *
 * @example
 * ```ts
 * console.log(someExamples.expected); // prints: a list of one example or more
 * ```
 */
export const someExamples: Check = {
  expected: "a list of one example or more",
  accepts: (value) => isListOf(value, isExample) && value.length > 0,
};

/** Throws unless the value has the methods `eval` and `train` of a model. */
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
 * Scores the answers of a model, which are decoded greedily in eval mode.
 *
 * @throws HeedError for invalid arguments, and the reason of the signal
 * @example
 * ```ts
 * const task = tasks.copy({ maxLength: 4 });
 * const model = createModel(heed, configOf(task, "transformer", { size: 16, layers: 1, heads: 2 })).eval();
 * const random = new nn.Generator(1);
 * const examples = Array.from({ length: 8 }, () => task.generate(random, "test"));
 * const scores = await evaluate(model, examples);
 * console.log(scores.examples, scores.exact <= 1); // prints: 8 true
 * ```
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

/** The score of one answer. */
interface Mark {
  isExact: boolean;
  /** The number of expected tokens, and how many of them are right. */
  tokens?: { count: number; right: number };
  /** The sums of the squared errors of the hidden values: of the model, and of linear interpolation. */
  squares?: { count: number; model: number; line: number };
}

function mark(example: Example, answer: Answer): Mark {
  if (example.kind === "translation" && answer.kind === "tokens")
    return compare(example.target, answer.tokens, answer.tokens.length === example.target.length);
  if (example.kind === "tagging" && answer.kind === "labels")
    return compare(example.labels, answer.labels);
  if (example.kind === "continuation" && answer.kind === "labels")
    return compareAllowed(example.allowed, answer.labels);
  if (example.kind === "series" && answer.kind === "numbers")
    return markSeries(example, answer.values);
  if (example.kind === "picture" && answer.kind === "class")
    return compare([example.label], [answer.label]);
  throw refuse("option", "answer", `an answer to a ${example.kind}`, answer.kind);
}

function compare(
  expected: readonly (string | undefined)[],
  said: readonly (string | undefined)[],
  hasSameLength = true,
): Mark {
  const allowed = expected.map((token) => (token === undefined ? undefined : [token]));
  return compareAllowed(allowed, said, hasSameLength);
}

function compareAllowed(
  allowed: readonly (readonly string[] | undefined)[],
  said: readonly (string | undefined)[],
  hasSameLength = true,
): Mark {
  const asked = allowed.flatMap((tokens, i) =>
    tokens ? [tokens.includes(said[i] as string)] : [],
  );
  const right = asked.filter(Boolean).length;
  const isExact = hasSameLength && right === asked.length;
  return { isExact, tokens: { count: asked.length, right } };
}

/**
 * A series counts as exact if R^2 is at least this: the model explains nine tenths of the hidden
 * values' variance. Values without a variance must be exact.
 */
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
    isExact: model <= (1 - foundAbove) * variation,
    squares: { count: hidden.length, model, line },
  };
}

/** Interpolates linearly between the known values on both sides of a hidden value. */
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
 * Measures, with teacher forcing, how much weight each head puts on the aligned positions, which
 * determine the answers. The result has all heads.
 *
 * @throws HeedError "option" if no example has aligned positions, as with text that a user types
 * @example
 * ```ts
 * const task = tasks.copy({ maxLength: 4 });
 * const model = createModel(heed, configOf(task, "transformer", { size: 16, layers: 1, heads: 2 })).eval();
 * const random = new nn.Generator(1);
 * const heads = alignment(model, [task.generate(random, "test"), task.generate(random, "test")]);
 * console.log(heads.map(({ path, head }) => `${path} ${head}`).join(", ")); // prints: decoder.layers.0.multihead_attn 0, decoder.layers.0.multihead_attn 1
 * ```
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
    throw refuse("option", "examples", "an example with aligned positions", "none");
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

/** Sums over the rows of one head. */
interface Sums {
  readonly path: string;
  readonly head: number;
  largest: number;
  chance: number;
  /** For each position, the number of rows and the sum of their weight on the aligned positions. */
  readonly masses: { count: number; mass: number }[];
}

/** Adds the rows of an example to the sums of each head. */
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

/**
 * Returns the aligned positions for each row of an example's weights.
 *
 * @throws nothing
 * @example
 * ```ts
 * const example = tasks.reverse().solve!("abc")!;
 * // letter 0 of the answer comes from letter 2
 * console.log(alignmentOf(example)); // prints: [ [ 2 ], [ 1 ], [ 0 ] ]
 * ```
 */
export function alignmentOf(example: Example): Alignment {
  checkArgument("example", example, { expected: "an example", accepts: isExample });
  return example.kind === "picture" ? [coveredPatches(example)] : example.alignment;
}

/** The indices of the patches that the shape covers at least partly, in row-major order. */
function coveredPatches({ covered, width }: Picture): number[] {
  const across = width / patchSize;
  const patches = covered.flatMap((is, i) => {
    const [x, y] = [i % width, Math.floor(i / width)];
    return is ? [Math.floor(y / patchSize) * across + Math.floor(x / patchSize)] : [];
  });
  return [...new Set(patches)].sort((a, b) => a - b);
}
