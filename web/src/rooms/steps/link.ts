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

/** When a link needs a setting whose effect depends on another one. */
const dependent: Partial<Record<keyof State, (state: State) => boolean>> = {
  // `write` puts it first, even if it is the initial one.
  text: () => false,
  model: ({ vectors }) => vectors === "learned",
  layer: ({ vectors }) => vectors === "learned",
  heads: ({ vectors }) => vectors === "random",
  headSize: ({ vectors }) => vectors === "random",
  seed: ({ vectors }) => vectors === "random",
  split: ({ vectors }) => vectors === "random",
  padFrom: ({ mask }) => mask === "padding",
  window: ({ mask }) => mask === "window",
  hidden: ({ mask }) => mask === "painted",
};

export function write(now: State): URLSearchParams {
  const state = withOwnStage(now);
  const params = new URLSearchParams();
  if (state.vectors !== "example") params.set("text", state.text);
  const used = Object.entries(settings).filter(
    ([key]) => dependent[key as keyof State]?.(state) ?? true,
  );
  return writeSettings(Object.fromEntries(used), state, initialState, params);
}
