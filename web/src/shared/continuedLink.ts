/**
 * Reads and writes the part of a link that describes a text which a model continues: the text, the sampling, and the
 * selection.
 */
import type { Cell } from "#parts";
import { type Ablated, ablatedReaders } from "./ablation";
import { type Sampling, samplingLimits } from "./candidates";
import { type HeadKey, headFrom } from "./layerHeads";
import {
  cellIn,
  cellText,
  indexIn,
  type Limits,
  numberIn,
  putIn,
  type Readers,
} from "./linkReaders";

/** The settings of a room for a text that a model continues. */
export interface Continued extends Sampling, Ablated {
  /** The typed text; null for the room's initial text. */
  readonly text: string | null;
  readonly seed: number;
  /** The number of tokens to generate after the text. */
  readonly length: number;
  /** Generated tokens that are fixed: the tokens before the position of a change, and the chosen candidate. */
  readonly kept: readonly number[];
  /** The selected token, counted from 0; null for the room's default. */
  readonly place: number | null;
  /** The selected head; null for the head that attends most to the previous token. */
  readonly head: HeadKey | null;
  /** The locked cell of the head's weights. */
  readonly cell: Cell | null;
}

/** @param most the largest number of tokens */
function keptFrom(most: number) {
  return (text: string): number[] => {
    if (!/^\d{1,6}(\.\d{1,6})*$/.test(text) || text.split(".").length > most)
      throw new RangeError(`at most ${most} numbers of tokens with dots between them`);
    return text.split(".").map(Number);
  };
}

export function continuedReaders({ length, place }: { length: Limits; place: Limits }) {
  return {
    temperature: (text) => ({ temperature: numberIn(samplingLimits.temperature, false)(text) }),
    topk: (text) => ({ topK: numberIn(samplingLimits.topK)(text) }),
    topp: (text) => ({ topP: numberIn(samplingLimits.topP, false)(text) }),
    seed: (text) => ({ seed: numberIn(samplingLimits.seed)(text) }),
    length: (text) => ({ length: numberIn(length)(text) }),
    kept: (text) => ({ kept: keptFrom(length.max)(text) }),
    place: (text) => ({ place: indexIn(place)(text) }),
    ...ablatedReaders(headFrom),
    head: (text) => ({ head: headFrom(text) }),
    cell: (text) => ({ cell: cellIn(place)(text) }),
  } satisfies Readers<Continued>;
}

export function putContinued(params: URLSearchParams, state: Continued, initial: Continued): void {
  const put = putIn(params);
  for (const key of ["text", "temperature"] as const) put(key, state[key], initial[key]);
  put("topk", state.topK, initial.topK);
  put("topp", state.topP, initial.topP);
  for (const key of ["seed", "length"] as const) put(key, state[key], initial[key]);
  put("kept", state.kept.join("."), "");
  put("place", state.place === null ? null : state.place + 1, null);
  put("ablate", state.ablated.join(","), "");
  put("ablation", state.ablation, initial.ablation);
  put("head", state.head, null);
  put("cell", cellText(state.cell), null);
}
