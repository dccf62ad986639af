/** Reads and writes the room's part of the link. */
import { colourReaders } from "../../shared/colourReaders";
import {
  cellIn,
  cellText,
  numberIn,
  oneOf,
  onOff,
  putIn,
  type Readers,
  readParams,
} from "../../shared/linkReaders";
import type { LinkReading } from "../../shared/room";
import {
  allowed,
  fewestPoints,
  initialState,
  mostPoints,
  type PlanePoint,
  plane,
  type State,
} from "./state";

function pointsFrom(text: string): readonly PlanePoint[] {
  const points = text.split(",").map((part) => {
    const [x = "", y = "", ...more] = part.split(":");
    if (more.length > 0) throw new RangeError("points such as 0.5:1,2:-0.5");
    return { x: numberIn(plane.x, false)(x), y: numberIn(plane.y, false)(y) };
  });
  if (points.length < fewestPoints || points.length > mostPoints)
    throw new RangeError(`${fewestPoints} to ${mostPoints} points such as 0.5:1,2:-0.5`);
  return points;
}

const readers: Readers<State> = {
  show: (text) => ({ subject: oneOf("picture", "points", "series", "melody")(text) }),
  noise: (text) => ({ noise: numberIn(allowed.noise, false)(text) }),
  grain: (text) => ({ grain: numberIn(allowed.seed)(text) }),
  patch: (text) => ({ patch: numberIn(allowed.patch)(text) }),
  window: (text) => ({ window: numberIn(allowed.window)(text) }),
  h: (text) => ({ h: numberIn(allowed.h, false)(text) }),
  tone: (text) => ({ tone: numberIn(allowed.tone, false)(text) }),
  by: (text) => ({ method: oneOf("local", "bilateral", "nonLocal")(text) }),
  pixel: (text) => ({ pixel: cellIn(allowed.pixel)(text) }),
  curve: colourReaders.curve,
  points: (text) => ({ points: pointsFrom(text) }),
  bandwidth: (text) => ({ bandwidth: numberIn(allowed.bandwidth, false)(text) }),
  query: (text) => ({ query: numberIn(plane.x, false)(text) }),
  similar: (text) => ({ similar: onOff(text) }),
  series: (text) => ({ series: numberIn(allowed.seed)(text) }),
  value: (text) => ({ value: numberIn(allowed.value)(text) - 1 }),
  head: (text) => {
    const { row: layer, col: head } = cellIn(allowed.head)(text);
    return { head: { layer, head } };
  },
  tune: (text) => ({ tune: oneOf("round", "seed")(text) }),
  notes: (text) => ({ tuneSeed: numberIn(allowed.seed)(text) }),
  temperature: (text) => ({ temperature: numberIn(allowed.temperature, false)(text) }),
  frame: (text) => ({ frame: numberIn(allowed.frame)(text) - 1 }),
};

export function read(params: URLSearchParams): LinkReading<State> {
  return readParams(params, initialState, readers);
}

/** The values of the state as texts that `readers` accept. */
function linkTextsOf(state: State): Record<string, string | number | null> {
  const { subject, method, pixel, points, similar, value, head, tuneSeed, frame, ...same } = state;
  const { grain, curve, noise, patch, window, h, tone, bandwidth, query, series } = same;
  return {
    ...{ show: subject, noise, grain, patch, window, h, tone, by: method, pixel: cellText(pixel) },
    ...{ curve, points: points.map(({ x, y }) => `${x}:${y}`).join(","), bandwidth, query },
    ...{ similar: similar ? "on" : "off", series, value: value + 1 },
    ...{ head: cellText(head && { row: head.layer, col: head.head }), tune: same.tune },
    ...{ notes: tuneSeed, temperature: same.temperature, frame: frame + 1 },
  };
}

export function write(state: State): URLSearchParams {
  const params = new URLSearchParams();
  const put = putIn(params);
  const initial = linkTextsOf(initialState);
  for (const [key, text] of Object.entries(linkTextsOf(state)))
    put(key, text, initial[key] ?? null);
  return params;
}
