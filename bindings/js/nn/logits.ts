// From logits to a drawn token: penalties for tokens that a text has already, limits on the tokens that may be drawn, and
// the draw. The package transformers has the same order: penalties, the caller's processor, temperature, top k,
// top p, min p, typical p.

import { refuse } from "../core/error.js";
import { optional } from "../core/objects.js";
import type { Tensor } from "../core/tensor.js";
import { type Check, isFunction, isNumber, isPositive, isShare } from "../core/validate.js";
import type { Heed } from "../heed.js";
import type { SampleOptions } from "../ops/sampling.js";
import { Generator } from "./random.js";

/** Options of every search that change the logits, or with beams the log probabilities. */
export interface PenaltyOptions {
  /**
   * Divides the positive logits of tokens in the text, start included, and multiplies the negative
   * ones (Keskar et al., "CTRL", 2019, section 4.1); 1 by default.
   */
  repetitionPenalty?: number;
  /** Is subtracted from the logit of each token that was generated; 0 by default. */
  presencePenalty?: number;
  /** Is subtracted from the logit of a token for each time that it was generated; 0 by default. */
  frequencyPenalty?: number;
  /**
   * Changes the logits [V] of one sequence in place, after the penalties. With beams it gets log
   * probabilities, which it may only lower.
   *
   * @param tokens all tokens of the sequence so far
   */
  logitsProcessor?: (logits: Float32Array, tokens: readonly number[]) => void;
}

/** Options of `generate` that change the logits. */
export interface LogitsOptions extends PenaltyOptions {
  /**
   * Only tokens with this share of the probability of the most likely one (Nguyen et al., "Turning Up
   * the Heat", 2024); 0 by default.
   */
  minP?: number;
  /**
   * Only the tokens whose information is nearest to the entropy, up to this probability (Meister et
   * al., "Locally Typical Sampling", 2023); 1 by default.
   */
  typicalP?: number;
}

export const penaltyChecks = {
  repetitionPenalty: isPositive,
  presencePenalty: isNumber,
  frequencyPenalty: isNumber,
  logitsProcessor: isFunction,
} satisfies Record<keyof PenaltyOptions, Check>;

/** The range of topP and typicalP. */
export const isPositiveShare: Check = {
  expected: "a number above 0 and up to 1",
  accepts: (value) => value === 1 || (isShare.accepts(value) && value !== 0),
};

export const logitsChecks = {
  ...penaltyChecks,
  minP: isShare,
  typicalP: isPositiveShare,
} satisfies Record<keyof LogitsOptions, Check>;

/** The options of `sample` in a search; each step has its own seed. */
type Sampling = Omit<SampleOptions, "seed">;

/** The options of `generate` that `drawingOf` reads. */
interface DrawingOptions extends LogitsOptions, Sampling {
  seed?: number | readonly number[];
  startTokens: readonly unknown[];
}

/** Changes the logits [V] of a sequence, given all its tokens and the generated tokens. */
type Change = (
  logits: Float32Array,
  tokens: readonly number[],
  generated: readonly number[],
) => void;

/**
 * Returns the change of the logits before tokens are drawn, undefined for none, and the function that draws a token
 * for each row of logits. C++ applies top k and top p unless the change contains them.
 *
 * @throws HeedError "option" for another number of seeds than sequences
 */
export function drawingOf(
  heed: Heed,
  options: DrawingOptions,
): { change: Change | undefined; draw: (logits: Tensor) => number[] } {
  const { temperature = 0, topK, topP, minP = 0, typicalP = 1 } = options;
  const isLimited = temperature > 0 && (minP > 0 || typicalP < 1);
  const penalise = penaltiesOf(options);
  const change: Change = (logits, tokens, generated) => {
    penalise?.(logits, tokens, generated);
    limit(logits, { ...options, temperature });
  };
  const sampling = { temperature, ...(isLimited ? {} : optional({ topK, topP })) };
  return { change: isLimited ? change : penalise, draw: drawOf(heed, sampling, options) };
}

function drawOf(
  heed: Heed,
  sampling: Sampling,
  { seed = 0, startTokens }: DrawingOptions,
): (logits: Tensor) => number[] {
  const sample = (logits: Tensor, generator: Generator) =>
    Array.from(heed.sample(logits, { ...sampling, seed: generator.next() }).data);
  const generators = [seed].flat().map((each) => new Generator(each));
  const count = startTokens.length;
  if (typeof seed !== "number" && seed.length !== count)
    throw refuse("option", "seed", `${count} seeds, one for each sequence`, `${seed.length}`);
  if (typeof seed === "number" || sampling.temperature === 0)
    return (logits) => heed.scope(() => sample(logits, generators[0] as Generator));
  // The random numbers of `sample` depend on the row, so each sequence has a separate call.
  return (logits) =>
    heed.scope(() =>
      generators.flatMap((generator, start) =>
        sample(heed.slice(logits, { axis: 0, start, length: 1 }), generator),
      ),
    );
}

/** Returns the function that applies the penalties and the processor; undefined for none. */
export function penaltiesOf(options: PenaltyOptions): Change | undefined {
  const { repetitionPenalty: factor = 1, presencePenalty = 0, frequencyPenalty = 0 } = options;
  const { logitsProcessor } = options;
  const isNone = factor === 1 && presencePenalty === 0 && frequencyPenalty === 0;
  if (isNone && !logitsProcessor) return undefined;
  const add = (logits: Float32Array, token: number, value: number) => {
    logits[token] = (logits[token] as number) + value;
  };
  return (logits, tokens, generated) => {
    for (const token of factor === 1 ? [] : new Set(tokens)) {
      const logit = logits[token] as number;
      logits[token] = logit > 0 ? logit / factor : logit * factor;
    }
    if (presencePenalty !== 0)
      for (const token of new Set(generated)) add(logits, token, -presencePenalty);
    if (frequencyPenalty !== 0)
      for (const token of generated) add(logits, token, -frequencyPenalty);
    logitsProcessor?.(logits, tokens);
  };
}

/** Whether a penalty may raise log probabilities. A processor must not raise them. */
export function raises(options: PenaltyOptions): boolean {
  const { repetitionPenalty = 1, presencePenalty = 0, frequencyPenalty = 0 } = options;
  return repetitionPenalty < 1 || presencePenalty < 0 || frequencyPenalty < 0;
}

/** Gives the logit -Infinity to all tokens that may not be drawn. */
function limit(
  logits: Float32Array,
  limits: LogitsOptions & Sampling & { temperature: number },
): void {
  const { temperature, minP = 0, topP = 1, typicalP = 1 } = limits;
  const most = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!Number.isFinite(most)) return;
  const shareOf = (logit: number) => Math.exp((logit - most) / temperature);
  const topK = limits.topK === 0 ? undefined : limits.topK;
  // The tokens of min p are the first ones of any order by logits, so the other limits need no more of them.
  let kept: { token: number; share: number }[] = [];
  for (const [token, logit] of logits.entries()) {
    const share = shareOf(logit);
    if (share > 0 && share >= minP) kept.push({ token, share });
  }
  kept.sort((a, b) => b.share - a.share || a.token - b.token);
  if (topP < 1) {
    const first = topK ?? logits.length;
    const all = Float64Array.from(logits, shareOf).sort().reverse();
    const sum = all.subarray(0, first).reduce((total, share) => total + share, 0);
    kept = upTo(kept, topP * sum);
  }
  if (topK !== undefined) kept = kept.slice(0, topK);
  if (typicalP < 1) {
    const sum = kept.reduce((total, { share }) => total + share, 0);
    kept = upTo(typical(kept, sum), typicalP * sum);
  }
  const drawn = new Map(kept.map(({ token }) => [token, logits[token] as number]));
  logits.fill(-Infinity);
  for (const [token, logit] of drawn) logits[token] = logit;
}

/** The first tokens whose shares sum to `sum`, one or more. */
function upTo<T extends { share: number }>(list: readonly T[], sum: number): T[] {
  let total = 0;
  const end = list.findIndex(({ share }) => {
    total += share;
    return total >= sum;
  });
  return list.slice(0, end < 0 ? list.length : end + 1);
}

/** The tokens in the order of the distance between their information and the entropy. */
function typical<T extends { share: number }>(list: readonly T[], sum: number): T[] {
  const information = list.map(({ share }) => -Math.log(share / sum));
  const entropy = list.reduce(
    (all, { share }, i) => all + (share / sum) * (information[i] as number),
    0,
  );
  const order = list.map((each, i) => ({
    each,
    distance: Math.abs((information[i] as number) - entropy),
  }));
  order.sort((a, b) => a.distance - b.distance);
  return order.map(({ each }) => each);
}
