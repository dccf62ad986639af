/** Reads and writes a link's text that a model continues: how it is drawn, and what is selected in it. */
import type { Cell } from "heed/view/parts";
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
  readParams,
} from "./linkReaders";
import type { LinkReading } from "./room";

/** The settings of a room that are about a text which a model continues. */
export interface Continued extends Sampling {
  /** What the person typed; null for the text that the room opens with. */
  readonly text: string | null;
  readonly seed: number;
  /** The number of tokens that are written after the text. */
  readonly length: number;
  /** The first written tokens: those before the place of a change, and a candidate that was taken. */
  readonly kept: readonly number[];
  /** The selected token, counted from 0; null for the one that the room selects. */
  readonly place: number | null;
  readonly dropped: readonly HeadKey[];
  /** The selected head; null for the one that attends most to the token before. */
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
    drop: (text) => ({ dropped: [...new Set(text.split(",").filter(Boolean).map(headFrom))] }),
    head: (text) => ({ head: headFrom(text) }),
    cell: (text) => ({ cell: cellIn(place)(text) }),
  } satisfies Readers<Continued>;
}

/** Reads the text first, whatever the order of the link: it removes what was written after another one. */
export function readTextFirst<State>(
  params: URLSearchParams,
  initial: State,
  readers: Readers<State>,
): LinkReading<State> {
  const ordered = new URLSearchParams(params.getAll("text").map((text) => ["text", text]));
  for (const [key, text] of params) if (key !== "text") ordered.append(key, text);
  return readParams(ordered, initial, readers);
}

export function putContinued(params: URLSearchParams, state: Continued, initial: Continued): void {
  const put = putIn(params);
  for (const key of ["text", "temperature"] as const) put(key, state[key], initial[key]);
  put("topk", state.topK, initial.topK);
  put("topp", state.topP, initial.topP);
  for (const key of ["seed", "length"] as const) put(key, state[key], initial[key]);
  put("kept", state.kept.join("."), "");
  put("place", state.place === null ? null : state.place + 1, null);
  put("drop", state.dropped.join(","), "");
  put("head", state.head, null);
  put("cell", cellText(state.cell), null);
}
