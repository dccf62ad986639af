/** The room's part of the link. */
import { numberIn, oneOf, onOff, type Readers, readParams } from "../../shared/linkReaders";
import type { LinkReading } from "../../shared/room";
import { allowed, chartAxes, initialState, lengths, type State } from "./state";

const longestOf = oneOf(...lengths.filter((length) => length >= allowed.longest.min).map(String));

const readers: Readers<State> = {
  heads: (text) => ({ heads: numberIn(allowed.heads)(text) }),
  size: (text) => ({ size: numberIn(allowed.size)(text) }),
  causal: (text) => ({ causal: onOff(text) }),
  window: (text) => ({ window: numberIn(allowed.window)(text) }),
  longest: (text) => ({ longest: Number(longestOf(text)) }),
  over: (text) => ({ axis: oneOf(...chartAxes)(text) }),
};

export function read(params: URLSearchParams): LinkReading<State> {
  return readParams(params, initialState, readers);
}

export function write(state: State): URLSearchParams {
  const params = new URLSearchParams();
  const put = (key: string, name: keyof State, text = String(state[name])) => {
    if (state[name] !== initialState[name]) params.set(key, text);
  };
  put("heads", "heads");
  put("size", "size");
  put("causal", "causal", state.causal ? "on" : "off");
  put("window", "window");
  put("longest", "longest");
  put("over", "axis");
  return params;
}
