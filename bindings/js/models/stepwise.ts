// Decodes answers token by token.

import { refuse } from "../core/error.js";
import { optional } from "../core/objects.js";
import {
  type Check,
  checkOptions,
  isFunction,
  isNumber,
  isSignal,
  isWholeNumber,
} from "../core/validate.js";
import type { Heed } from "../heed.js";
import { beamSearch, generate, isLength, mostBeams, type Step } from "../nn/generate.js";
import { isSeed } from "../nn/random.js";
import type { AnswerOptions } from "./model.js";
import { endId } from "./vocabulary.js";

const checks = {
  longest: isLength,
  beams: isWholeNumber(1, mostBeams),
  temperature: isNumber,
  topK: isWholeNumber(0),
  topP: isNumber,
  seed: isSeed,
  signal: isSignal,
  receive: isFunction,
} satisfies Record<keyof AnswerOptions, Check>;

/**
 * Checks the options of an answer.
 *
 * @throws HeedError "option", and the reason of an aborted signal
 */
export function checkAnswerOptions(options: AnswerOptions): void {
  checkOptions("answer", options, checks);
  const { beams = 1, temperature = 0, signal } = options;
  if (beams > 1 && temperature !== 0)
    throw refuse("option", "temperature", `0 with ${beams} beams`, String(temperature));
  signal?.throwIfAborted();
}

/** A step function for some sequences, with its state. */
export interface Decoding {
  readonly step: Step;
  dispose(): void;
}

/**
 * Decodes the continuation of each sequence. A continuation ends with the end token if that was
 * generated.
 *
 * @param startTokens the first tokens of each sequence; all have the same length
 * @param begin creates the step function for the sequences at some indices, with `rows` rows for
 *   each
 */
export async function decode(
  heed: Heed,
  startTokens: readonly (readonly number[])[],
  options: AnswerOptions & { longest: number },
  begin: (places: readonly number[], rows: number) => Decoding,
): Promise<number[][]> {
  const { longest: maxLength, beams = 1, receive: _, signal, ...chance } = options;
  const common = optional({ endToken: endId, maxLength, signal });
  const places = startTokens.map((_, place) => place);
  if (beams === 1)
    return disposing(begin(places, 1), ({ step }) =>
      generate(heed, step, { ...chance, ...common, startTokens }),
    );
  const found: number[][] = [];
  for (const [place, start] of startTokens.entries()) {
    const best = await disposing(begin([place], beams), ({ step }) =>
      beamSearch(heed, step, { ...common, beams, startTokens: start }),
    );
    found.push(best[0]?.tokens ?? []);
  }
  return found;
}

async function disposing<T>(decoding: Decoding, run: (it: Decoding) => Promise<T>): Promise<T> {
  try {
    return await run(decoding);
  } finally {
    decoding.dispose();
  }
}
