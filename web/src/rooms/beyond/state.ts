/** The settings of the room. The person's own files are not part of them. */
import { type Cell, colourCurves } from "#parts";
import { type HeadKey, headPlaceOf } from "../../shared/layerHeads";
import { numberIn } from "../../shared/linkReaders";
import type { Setter } from "../../shared/room";
import {
  cell,
  choice,
  decimal,
  flag,
  index,
  linkOf,
  look,
  type StateOf,
  setting,
  whole,
} from "../../shared/settings";

export type Subject = "picture" | "points" | "series" | "melody";
export type Method = "local" | "bilateral" | "nonLocal";
export type TuneName = "round" | "seed";

export type Pixel = Cell;

export interface PlanePoint {
  readonly x: number;
  readonly y: number;
}

/** The range of the coordinates of points. */
export const plane = { x: { min: 0, max: 10 }, y: { min: -2, max: 2 } } as const;
export const mostPoints = 24;
export const fewestPoints = 2;

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

/** Two waves with some noise, chosen by hand: close enough to average, with a gap. */
const examplePoints = pointsFrom(
  "0.4:-0.9,0.9:-0.3,1.5:0.5,2.1:0.8,2.6:1.3,3.3:0.9,3.9:0.2,4.4:-0.5,6.2:-1.2,6.9:-0.4,7.7:0.6,8.4:1.5,9.1:1.1",
);

/** The heads of the trained model of series. */
export const seriesModel = { layers: 3, heads: 4 };

function seriesHeadFrom(text: string): HeadKey {
  const { layers, heads } = seriesModel;
  const place = headPlaceOf(text);
  if (!place || place.layer >= layers || place.head >= heads)
    throw new RangeError(`a layer up to ${layers} and a head up to ${heads}, such as 2.3`);
  return text;
}

const seeds = { min: 1, max: 9999 };

export const settings = {
  subject: choice<Subject>("picture", ["picture", "points", "series", "melody"], {
    ...look,
    link: "show",
  }),

  /** The standard deviation of the noise; pixels are 0 to 1. */
  noise: decimal(0.1, { min: 0, max: 0.3 }),
  grain: whole(1, seeds),
  /** Patches and search windows have 2 radius + 1 pixels on each side. */
  patch: whole(2, { min: 0, max: 5 }),
  window: whole(8, { min: 1, max: 15 }),
  h: decimal(0.07, { min: 0.01, max: 0.4 }),
  /** The width of the bilateral kernel in pixel values. */
  tone: decimal(0.2, { min: 0.02, max: 1 }),
  method: choice<Method>("nonLocal", ["local", "bilateral", "nonLocal"], { ...look, link: "by" }),
  pixel: cell({ row: 88, col: 34 }, { min: 1, max: 256 }, look),
  curve: choice("sqrt", colourCurves, look),

  points: setting(examplePoints, pointsFrom, {
    write: (points) => points.map(({ x, y }) => `${x}:${y}`).join(","),
  }),
  bandwidth: decimal(0.5, { min: 0.05, max: 10 }),
  query: decimal(2.9, plane.x, look),
  /** Whether softmax(X X^T) X is drawn. */
  similar: flag(false, look),

  series: whole(16, seeds),
  /** A position of the series. The middle of the gap replaces a position that is not hidden. */
  value: index(0, { min: 1, max: 48 }, look),
  /** Null for the head with the most attention on values whole periods away. */
  head: setting<HeadKey | null>(null, seriesHeadFrom, look),

  tune: choice<TuneName>("round", ["round", "seed"]),
  tuneSeed: whole(1, seeds, { link: "notes" }),
  temperature: decimal(0.1, { min: 0.01, max: 2 }),
  frame: index(34, { min: 1, max: 400 }, look),
};

export type State = StateOf<typeof settings>;

export const { initialState, lookKeys, read, write } = linkOf(settings);

export interface PanelProps {
  state: State;
  set: Setter<State>;
}

/** A panel that also shows the person's own content; null for the built-in example. */
export interface OwnProps<Content> extends PanelProps {
  own: Content | null;
  onOwn(own: Content | null): void;
}
