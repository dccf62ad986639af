// Answers found token by token.

import { refuse } from "../error.js";
import { beamSearch, generate, type SamplingOptions, type Step } from "../generate.js";
import type { Heed } from "../ops.js";
import { type Check, checkOptions, isFunction, isNumber, isWholeNumber } from "../validate.js";
import type { AnswerOptions } from "./model.js";
import { endId } from "./vocabulary.js";

const checks = {
  longest: isWholeNumber(1),
  beams: isWholeNumber(1),
  temperature: isNumber,
  topK: isWholeNumber(0),
  topP: isNumber,
  seed: isWholeNumber(0, 2 ** 32 - 1),
  signal: { expected: "an AbortSignal", accepts: (value) => value instanceof AbortSignal },
  receive: isFunction,
} satisfies Record<keyof AnswerOptions, Check>;

export function checkAnswerOptions(options: AnswerOptions): void {
  checkOptions("answer", options, checks);
  const { beams = 1, temperature = 0 } = options;
  if (beams > 1 && temperature !== 0)
    throw refuse("option", "temperature", `0 with ${beams} beams`, String(temperature));
}

/** Sequences to be gone on with, and what a model remembers of them. */
export interface Decoding {
  readonly startTokens: readonly (readonly number[])[];
  readonly step: Step;
  dispose(): void;
}

/**
 * What follows, for each example; the end token is the last one where it came.
 *
 * @param begin makes what is needed to decode examples, each in so many rows
 */
export async function decode<E>(
  heed: Heed,
  examples: readonly E[],
  options: AnswerOptions & { longest: number },
  begin: (examples: readonly E[], rows: number) => Decoding,
): Promise<number[][]> {
  const { longest: maxLength, beams = 1, receive: _, signal, ...chance } = options;
  const common = { endToken: endId, maxLength, ...(signal && { signal }) };
  signal?.throwIfAborted();
  if (beams === 1)
    return finishing(begin(examples, 1), ({ step, startTokens }) => {
      const how: SamplingOptions = { ...chance, ...common, startTokens };
      return generate(heed, step, how);
    });
  const answers: number[][] = [];
  for (const example of examples) {
    const found = await finishing(begin([example], beams), ({ step, startTokens: [first = []] }) =>
      beamSearch(heed, step, { ...common, beams, startTokens: first }),
    );
    answers.push(found[0]?.tokens ?? []);
  }
  return answers;
}

async function finishing<T>(
  decoding: Decoding,
  run: (decoding: Decoding) => Promise<T>,
): Promise<T> {
  try {
    return await run(decoding);
  } finally {
    decoding.dispose();
  }
}
