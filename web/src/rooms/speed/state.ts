/** The settings of the room. */
import { choice, flag, linkOf, look, oneNumber, type StateOf, whole } from "../../shared/settings";

export const lengths = [64, 128, 256, 512, 1024, 2048, 4096, 8192] as const;
export const longestLengths = lengths.filter((length) => length >= 512);

export type ChartAxis = "length" | "intensity";

export const settings = {
  heads: whole(4, { min: 1, max: 16 }),
  /** The size of a head: numbers in each query, key and value. */
  size: whole(64, { min: 8, max: 128 }),
  causal: flag(false),
  /** The number of tokens to either side that a query attends to; 0 for all. */
  window: whole(0, { min: 0, max: 4096 }),
  /** The longest sequence of a long run. */
  longest: oneNumber(2048, longestLengths),
  axis: choice<ChartAxis>("length", ["length", "intensity"], { ...look, link: "over" }),
};

export type State = StateOf<typeof settings>;

export const { initialState, lookKeys, read, write } = linkOf(settings);
