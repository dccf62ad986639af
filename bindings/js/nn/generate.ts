// Generates sequences from a model's logits: greedily, at random, or by beam search. The computations over
// a vocabulary are in C++; this file has the control flow.

import { describe, refuse } from "../core/error.js";
import { pause } from "../core/pause.js";
import { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  checkRequired,
  isFunction,
  isListOf,
  isNumber,
  isSignal,
  isWholeNumber,
} from "../core/validate.js";
import type { Heed } from "../heed.js";
import {
  drawingOf,
  isPositiveShare,
  type LogitsOptions,
  logitsChecks,
  type PenaltyOptions,
  penaltiesOf,
  penaltyChecks,
  raises,
} from "./logits.js";
import { checkEngine } from "./module.js";
import { isSeed } from "./random.js";

/**
 * Returns the logits of the next token of each sequence, [rows, V]; the caller frees them.
 *
 * @param sequences all tokens of each sequence so far; every call has the same number of sequences. A step with
 *   a cache uses only the last token of each.
 * @param order the row of the last call that each sequence continues. The step reorders its state, for example
 *   by `cache.reorder(order)`
 */
export type Step = (
  sequences: readonly (readonly number[])[],
  order: readonly number[],
) => Tensor | Promise<Tensor>;

/** Options of every search for tokens. */
export interface GreedyOptions {
  /** The first tokens of each sequence, one or more. */
  startTokens: readonly (readonly number[])[];
  /** The token that ends a sequence, or several of them. */
  endToken?: number | readonly number[];
  /** The maximum number of tokens that are added to a sequence. */
  maxLength: number;
  /** Stops between two steps: the promise is then rejected with the signal's reason. */
  signal?: AbortSignal;
}

/** Options of `generate`. */
export interface SamplingOptions extends GreedyOptions, LogitsOptions {
  /** Divides the logits; 0, the default, takes the most likely token. */
  temperature?: number;
  /** Only the k most likely tokens; all by default. */
  topK?: number;
  /** Only the most likely tokens whose probabilities sum to p; 1 by default. */
  topP?: number;
  /**
   * 0 by default. The same seed gives the same sequences. With a list, which has a seed for each sequence, a
   * sequence draws the tokens that it draws alone with its seed.
   */
  seed?: number | readonly number[];
  /**
   * Called after each step with the new token of each sequence; undefined for a sequence that had
   * ended. `false` ends all of them. A list ends the sequences at the places of its `false`.
   */
  onTokens?: (tokens: readonly (number | undefined)[]) => unknown;
}

/**
 * Options of `beamSearch`. Penalties and the processor change the log probabilities of each step, as in the package
 * transformers. The search adds up the changed ones.
 */
export interface BeamSearchOptions extends Omit<GreedyOptions, "startTokens">, PenaltyOptions {
  /** The first tokens of the sequence, one or more. */
  startTokens: readonly number[];
  /** The number of sequences that are kept at each step. */
  beams: number;
  /**
   * alpha in the score log P / ((5 + length) / 6)^alpha (Wu et al., 2016, section 7): larger values favour longer
   * sequences. 0 by default.
   */
  lengthPenalty?: number;
}

/** A sequence that `beamSearch` found. */
export interface Hypothesis {
  /** The tokens after the start; a complete sequence ends with the end token. */
  tokens: number[];
  /** The natural log of the probability of its tokens, with the changes of penalties and the processor. */
  logProbability: number;
  /** The log probability, divided by the length penalty. */
  score: number;
  /** Whether the sequence ends with the end token. */
  isComplete: boolean;
}

/** The largest number of beams: all of them are computed at every step. */
export const mostBeams = 1024;

const isToken = isWholeNumber(0);
export const isTokens: Check = {
  expected: "a list of one token or more",
  accepts: (value) => isListOf(value, isToken.accepts) && value.length > 0,
};
/** The range of maxLength, the limit for sequences that never produce the end token. */
export const isLength = isWholeNumber(1, 2 ** 20);

const common = {
  endToken: {
    expected: "a token or a list of tokens",
    accepts: (value) => isToken.accepts(value) || isListOf(value, isToken.accepts),
  },
  maxLength: isLength,
  signal: isSignal,
} satisfies Record<string, Check>;

export const isStart: Check = {
  expected: "a list of lists of tokens, one or more each",
  accepts: (value) => isListOf(value, isTokens.accepts) && value.length > 0,
};

const samplingChecks = {
  ...common,
  ...logitsChecks,
  startTokens: isStart,
  temperature: isNumber,
  topK: isWholeNumber(0),
  topP: isPositiveShare,
  seed: {
    expected: `${isSeed.expected}, or a list of them`,
    accepts: (value) => isSeed.accepts(value) || isListOf(value, isSeed.accepts),
  },
  onTokens: isFunction,
} satisfies Record<keyof SamplingOptions, Check>;

const beamChecks = {
  ...common,
  ...penaltyChecks,
  startTokens: isTokens,
  beams: isWholeNumber(1, mostBeams),
  lengthPenalty: isNumber,
} satisfies Record<keyof BeamSearchOptions, Check>;

/**
 * Runs steps and pauses between them at intervals, so that the page stays responsive and an abort signal
 * can arrive.
 */
class Steps {
  readonly #step: Step;
  readonly #signal: AbortSignal | undefined;
  #begin = performance.now();

  constructor(step: Step, signal: AbortSignal | undefined) {
    checkArgument("step", step, isFunction);
    this.#step = step;
    this.#signal = signal;
  }

  async run(sequences: readonly (readonly number[])[], order: readonly number[]): Promise<Tensor> {
    const longest = 16; // milliseconds, one frame of the page
    if (performance.now() - this.#begin > longest) {
      await pause();
      this.#begin = performance.now();
    }
    this.#signal?.throwIfAborted();
    const logits = await this.#step(sequences, order);
    if (!(logits instanceof Tensor))
      throw refuse("dtype", "step", "to give a tensor", describe(logits));
    if (logits.shape.length !== 2 || logits.shape[0] !== sequences.length) {
      const got = describe([...logits.shape]);
      logits.dispose();
      throw refuse("shape", "step", `to give logits [${sequences.length}, V]`, got);
    }
    return logits;
  }
}

/**
 * Extends sequences token by token, until each has ended or has its maximum length.
 *
 * @returns the tokens after each start, with the end token where it occurred
 * @throws HeedError "option", "shape", "nan" for logits that are not finite, and any error of the step
 * @example
 * ```ts
 * // A "model" that always continues with the next number.
 * const step: Step = (sequences) =>
 *   heed.tensor(sequences.map((tokens) => Array.from({ length: 10 }, (_, t) => (t === tokens.at(-1)! + 1 ? 9 : 0))));
 * const [tokens] = await generate(heed, step, { startTokens: [[3]], maxLength: 4 });
 * console.log(tokens); // prints: [ 4, 5, 6, 7 ]
 * ```
 */
export async function generate(
  heed: Heed,
  step: Step,
  options: SamplingOptions,
): Promise<number[][]> {
  checkEngine(heed);
  checkOptions("generate", options, samplingChecks);
  checkRequired(options, samplingChecks, "startTokens", "maxLength");
  const { startTokens, maxLength, signal, onTokens } = options;
  const ends = endsOf(options);
  const { change, draw } = drawingOf(heed, options);
  const steps = new Steps(step, signal);
  const sequences = startTokens.map((tokens) => [...tokens]);
  const added = startTokens.map((): number[] => []);
  const stopped = new Set<number>();
  const hasEnded = (row: number) => stopped.has(row) || ends.has(added[row]?.at(-1));
  const order = startTokens.map((_, row) => row);
  for (let length = 0; length < maxLength; ++length) {
    if (order.every(hasEnded)) break;
    const logits = await steps.run(sequences, order);
    const next = freeing(logits, () => {
      for (const row of change ? order : [])
        change?.(rowOf(logits, row), sequences[row] as number[], added[row] as number[]);
      return draw(logits);
    });
    const given = order.map((row) => (hasEnded(row) ? undefined : (next[row] as number)));
    for (const [row, token] of given.entries()) {
      // A sequence that has ended keeps its row, because a cache has one per sequence; its new tokens are ignored.
      sequences[row]?.push(token ?? (added[row]?.at(-1) as number));
      if (token !== undefined) added[row]?.push(token);
    }
    const goesOn = onTokens?.(given);
    if (goesOn === false) break;
    if (Array.isArray(goesOn)) for (const row of order) if (goesOn[row] === false) stopped.add(row);
  }
  return added;
}

/** Returns the tokens that end a sequence. */
function endsOf({ endToken }: Pick<GreedyOptions, "endToken">): ReadonlySet<number | undefined> {
  return new Set(endToken === undefined ? [] : [endToken].flat());
}

/** The numbers of a row, which can be changed. */
function rowOf({ data, shape }: Tensor, row: number): Float32Array {
  const size = shape[1] as number;
  return (data as Float32Array).subarray(row * size, (row + 1) * size);
}

/** Reads from logits, then frees them. */
function freeing<T>(logits: Tensor, read: () => T): T {
  try {
    return read();
  } finally {
    logits.dispose();
  }
}

interface Beam {
  tokens: number[];
  logProbability: number;
}

/** A continuation of a beam. */
interface Candidate {
  row: number;
  token: number;
  logProbability: number;
}

/**
 * Finds the most likely sequences by beam search (Graves, 2012; Sutskever et al., 2014). Every call of the
 * step has `beams` rows: while there are fewer sequences, as at the first call, copies of the first
 * sequence fill the other rows.
 *
 * @returns at most `beams` sequences, the best first
 * @throws HeedError "option", "shape", "nan" for logits that are not finite, and any error of the step
 * @example
 * ```ts
 * const step: Step = (sequences) => heed.tensor(sequences.map(() => [0, 2, 1]));
 * const [best] = await beamSearch(heed, step, { startTokens: [0], beams: 2, maxLength: 2 });
 * console.log(best!.tokens, best!.isComplete); // prints: [ 1, 1 ] false
 * ```
 */
export async function beamSearch(
  heed: Heed,
  step: Step,
  options: BeamSearchOptions,
): Promise<Hypothesis[]> {
  checkEngine(heed);
  checkOptions("beamSearch", options, beamChecks);
  checkRequired(options, beamChecks, "startTokens", "maxLength", "beams");
  const { startTokens, maxLength, beams, signal, lengthPenalty = 0 } = options;
  const ends = endsOf(options);
  const steps = new Steps(step, signal);
  const penalise = penaltiesOf(options);
  const scoreOf = (logProbability: number, length: number) =>
    logProbability / ((5 + length) / 6) ** lengthPenalty;
  const finished: Hypothesis[] = [];
  const finish = ({ tokens, logProbability }: Beam, isComplete: boolean) => {
    const score = scoreOf(logProbability, tokens.length);
    finished.push({ tokens, logProbability, score, isComplete });
    finished.sort((a, b) => b.score - a.score);
    if (finished.length > beams) finished.pop();
  };

  const filled = <T>(list: readonly T[]) =>
    Array.from({ length: beams }, (_, row) => list[row] ?? (list[0] as T));
  let live: Beam[] = [{ tokens: [], logProbability: 0 }];
  let order = [0];
  for (let length = 1; length <= maxLength && live.length > 0; ++length) {
    const sequences = filled(live).map(({ tokens }) => [...startTokens, ...tokens]);
    const logits = await steps.run(sequences, filled(order));
    const change = (logs: Float32Array, row: number) =>
      penalise?.(logs, sequences[row] as number[], (live[row] as Beam).tokens);
    const most = Math.max(2, 1 + ends.size) * beams;
    const candidates = freeing(logits, () => candidatesOf(heed, logits, live, most, change));
    if (candidates.length === 0) break; // Every continuation is forbidden.
    const next: Beam[] = [];
    order = [];
    for (const { row, token, logProbability } of candidates) {
      if (next.length === beams) break;
      const beam = { tokens: [...(live[row] as Beam).tokens, token], logProbability };
      if (ends.has(token)) {
        finish(beam, true);
      } else {
        next.push(beam);
        order.push(row);
      }
    }
    live = next;
    // The best score that a sequence can still reach: its probability only decreases, unless a penalty raises it,
    // and its length is limited.
    const best = Math.max(
      ...live.flatMap(({ logProbability }) => [
        scoreOf(logProbability, length + 1),
        scoreOf(logProbability, maxLength),
      ]),
    );
    const isCertain = finished.length === beams && !raises(options);
    if (isCertain && best <= (finished.at(-1) as Hypothesis).score) live = [];
  }
  for (const beam of live) if (beam.tokens.length > 0) finish(beam, false);
  return finished;
}

/**
 * The most likely continuations of all beams, the best first.
 *
 * @param change changes the log probabilities of the token after a beam
 */
function candidatesOf(
  heed: Heed,
  logits: Tensor,
  live: readonly Beam[],
  most: number,
  change: (logs: Float32Array, row: number) => void,
): Candidate[] {
  const [rows, size] = logits.shape as [number, number];
  const count = Math.min(most, size);
  return heed.scope(() => {
    const sums = heed.logsumexp(logits);
    const wrong = (sums.data as Float32Array)
      .subarray(0, live.length)
      .find((sum) => !Number.isFinite(sum));
    if (wrong !== undefined) throw refuse("nan", "step", "finite logits", `${wrong}`);
    const logs = heed.subtract(logits, heed.reshape(sums, [rows, 1]));
    for (const row of live.keys()) change(rowOf(logs, row), row);
    const { values, indices } = heed.topK(logs, count);
    const [log, token] = [values.data, indices.data];
    return live
      .flatMap(({ logProbability }, row) =>
        Array.from({ length: count }, (_, i) => ({
          row,
          token: token[row * count + i] as number,
          logProbability: logProbability + (log[row * count + i] as number),
        })),
      )
      .filter((candidate) => candidate.logProbability > -Infinity)
      .sort((a, b) => b.logProbability - a.logProbability);
  });
}
