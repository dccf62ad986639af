/** Reads and writes the room's part of the link. */
import { spotFrom, textOfSpot } from "../../network/spots";
import { colourReaders } from "../../shared/colourReaders";
import { numberIn, oneOf, type Readers, readParams, textIn } from "../../shared/linkReaders";
import type { LinkReading } from "../../shared/room";
import { networkFrom, textOfNetwork } from "./network/open";
import { maxCharacters, type Slip } from "./problem";
import { initialState, lastStep, mostSteps, type State } from "./state";

const place = { min: 1, max: lastStep };

function slipFrom(text: string): Slip {
  const [, at = "", token = ""] = /^(\d{1,2}):([-0-9])$/.exec(text) ?? [];
  const number = Number(at);
  if (token === "" || number < place.min || number > place.max)
    throw new RangeError("a place from 1 to 10 and what is put there, such as 7:4");
  return { place: number - 1, token };
}

const readers: Readers<State> = {
  date: (text) => ({ text: textIn(maxCharacters)(text) }),
  between: (text) => ({ between: oneOf("bahdanau", "dot")(text) }),
  way: (text) => ({ way: oneOf("alone", "taught")(text) }),
  layer: (text) => ({ layer: numberIn({ min: 1, max: 2 })(text) - 1 }),
  head: (text) => ({ head: text === "mean" ? 0 : numberIn({ min: 1, max: 4 })(text) }),
  slip: (text) => ({ slip: slipFrom(text) }),
  step: (text) => ({ step: numberIn({ min: 1, max: mostSteps })(text) - 1 }),
  says: (text) => ({ row: numberIn({ min: 1, max: mostSteps })(text) - 1 }),
  from: (text) => ({ col: numberIn({ min: 1, max: maxCharacters })(text) - 1 }),
  weights: (text) => ({ weights: oneOf("initial", "trained")(text) }),
  network: (text) => ({ network: networkFrom(text) }),
  number: (text) => ({ number: spotFrom(text) }),
  ...colourReaders,
};

export function read(params: URLSearchParams): LinkReading<State> {
  return readParams(params, initialState, readers);
}

/** The text in the link for each key of the state. */
const texts: Readonly<Record<string, (state: State) => string>> = {
  date: ({ text }) => text,
  between: ({ between }) => between,
  way: ({ way }) => way,
  layer: ({ layer }) => String(layer + 1),
  head: ({ head }) => (head === 0 ? "mean" : String(head)),
  slip: ({ slip }) => (slip ? `${slip.place + 1}:${slip.token}` : ""),
  step: ({ step }) => String(step + 1),
  says: ({ row }) => String(row + 1),
  from: ({ col }) => String(col + 1),
  weights: ({ weights }) => weights,
  network: ({ network }) => textOfNetwork(network),
  number: ({ number }) => (number ? textOfSpot(number) : ""),
  range: ({ range }) => range,
  curve: ({ curve }) => curve,
};

export function write(state: State): URLSearchParams {
  const params = new URLSearchParams();
  for (const [key, of] of Object.entries(texts))
    if (of(state) !== of(initialState)) params.set(key, of(state));
  return params;
}
