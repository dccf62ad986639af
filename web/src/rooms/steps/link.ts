/** Reads and writes the room's part of the link. */
import { indexIn, type Readers, readParams } from "../../shared/linkReaders";
import type { LinkReading } from "../../shared/room";
import { readersOf, writeSettings } from "../../shared/settings";
import { exampleKeyText } from "./example";
import { initialState, type State, settings } from "./settings";
import { ourShape } from "./shape";
import { withOwnStage } from "./state";

const { vectors, ...others } = readersOf(settings) as Record<
  string,
  (text: string) => Partial<State>
>;

/** Another sentence has random vectors. */
const randomOf = (name: string) => (text: string) => ({
  ...others[name]?.(text),
  ...((name !== "keys" || text !== exampleKeyText) && { vectors: "random" as const }),
});

const ofSentence = ["text", "keys", "split", "heads", "size", "seed"];

/** The vectors come after all settings that imply random ones. */
const readers = {
  ...others,
  ...Object.fromEntries(ofSentence.map((name) => [name, randomOf(name)])),
  vectors,
} as Readers<State>;

const ourLayer = indexIn({ min: 1, max: ourShape.layers });
const oursOnly = { ...readers, layer: (text: string) => ({ layer: ourLayer(text) }) };

export function read(params: URLSearchParams): LinkReading<State> {
  const known = params.has("model") ? readers : oursOnly;
  const { state, notices } = readParams(params, initialState, known);
  return { state: withOwnStage(state), notices };
}

/** The vectors or the mask without which a setting has no effect, so that a link does not need it. */
const needed: Partial<Record<keyof State, State["vectors"] | State["mask"]>> = {
  ...{ model: "learned", layer: "learned" },
  ...{ heads: "random", headSize: "random", seed: "random", split: "random" },
  ...{ padFrom: "padding", window: "window", hidden: "painted" },
};

export function write(now: State): URLSearchParams {
  const state = withOwnStage(now);
  const params = new URLSearchParams();
  // The text comes first, even if it is the initial one.
  if (state.vectors !== "example") params.set("text", state.text);
  const { text, ...others } = settings;
  const used = Object.entries(others).filter(([key]) =>
    [undefined, state.vectors, state.mask].includes(needed[key as keyof State]),
  );
  return writeSettings(Object.fromEntries(used), state, initialState, params);
}
