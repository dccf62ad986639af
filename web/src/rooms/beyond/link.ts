/** Reads and writes the room's part of the link. */
import { colourReaders } from "../../shared/colourReaders";
import { numberIn, oneOf, onOff, type Readers, readParams } from "../../shared/linkReaders";
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

/** Two numbers, separated by a point or a colon. */
function pairFrom(text: string, between: string, what: string): [string, string] {
  const [first, second, ...more] = text.split(between);
  if (first === undefined || second === undefined || more.length > 0) throw new RangeError(what);
  return [first, second];
}

function pointsFrom(text: string): readonly PlanePoint[] {
  const points = text.split(",").map((part) => {
    const [x, y] = pairFrom(part, ":", "points such as 0.5:1,2:-0.5");
    return { x: numberIn(plane.x, false)(x), y: numberIn(plane.y, false)(y) };
  });
  if (points.length < fewestPoints || points.length > mostPoints)
    throw new RangeError(`${fewestPoints} to ${mostPoints} points such as 0.5:1,2:-0.5`);
  return points;
}

const placesFrom = (text: string, limits: { min: number; max: number }, what: string) =>
  pairFrom(text, ".", what).map((part) => numberIn(limits)(part) - 1) as [number, number];

const readers: Readers<State> = {
  show: (text) => ({ subject: oneOf("picture", "points", "series", "melody")(text) }),
  noise: (text) => ({ noise: numberIn(allowed.noise, false)(text) }),
  grain: (text) => ({ grain: numberIn(allowed.seed)(text) }),
  patch: (text) => ({ patch: numberIn(allowed.patch)(text) }),
  window: (text) => ({ window: numberIn(allowed.window)(text) }),
  h: (text) => ({ h: numberIn(allowed.h, false)(text) }),
  tone: (text) => ({ tone: numberIn(allowed.tone, false)(text) }),
  by: (text) => ({ method: oneOf("local", "bilateral", "nonLocal")(text) }),
  pixel: (text) => {
    const [row, col] = placesFrom(text, allowed.pixel, "a row and a column, such as 74.45");
    return { pixel: { row, col } };
  },
  curve: colourReaders.curve,
  points: (text) => ({ points: pointsFrom(text) }),
  bandwidth: (text) => ({ bandwidth: numberIn(allowed.bandwidth, false)(text) }),
  query: (text) => ({ query: numberIn(plane.x, false)(text) }),
  similar: (text) => ({ similar: onOff(text) }),
  series: (text) => ({ series: numberIn(allowed.seed)(text) }),
  value: (text) => ({ value: numberIn(allowed.value)(text) - 1 }),
  head: (text) => {
    const [layer, head] = placesFrom(text, allowed.head, "a layer and a head, such as 2.1");
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
function linkTextsOf(state: State): Record<keyof typeof readers, string> {
  const { pixel, head } = state;
  return {
    show: state.subject,
    noise: String(state.noise),
    grain: String(state.grain),
    patch: String(state.patch),
    window: String(state.window),
    h: String(state.h),
    tone: String(state.tone),
    by: state.method,
    pixel: `${pixel.row + 1}.${pixel.col + 1}`,
    curve: state.curve,
    points: state.points.map(({ x, y }) => `${x}:${y}`).join(","),
    bandwidth: String(state.bandwidth),
    query: String(state.query),
    similar: state.similar ? "on" : "off",
    series: String(state.series),
    value: String(state.value + 1),
    head: head ? `${head.layer + 1}.${head.head + 1}` : "",
    tune: state.tune,
    notes: String(state.tuneSeed),
    temperature: String(state.temperature),
    frame: String(state.frame + 1),
  };
}

export function write(state: State): URLSearchParams {
  const initial = linkTextsOf(initialState);
  const changed = Object.entries(linkTextsOf(state)).filter(([key, text]) => text !== initial[key]);
  return new URLSearchParams(changed);
}
