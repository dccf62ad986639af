/**
 * The state of the room, which is exactly the content of its link (see link.ts). The person's own files are not part of
 * it.
 */
import type { ColourCurve } from "#parts";
import type { HeadPlace } from "../../shared/layerHeads";
import type { Setter } from "../../shared/room";

export type Subject = "picture" | "points" | "series" | "melody";
export type Method = "local" | "bilateral" | "nonLocal";
export type TuneName = "round" | "seed";

export interface Pixel {
  readonly row: number;
  readonly col: number;
}

export interface PlanePoint {
  readonly x: number;
  readonly y: number;
}

export interface State {
  readonly subject: Subject;

  /** The standard deviation of the noise; pixels are 0 to 1. */
  readonly noise: number;
  readonly grain: number;
  /** Patches and search windows have 2 radius + 1 pixels on each side. */
  readonly patch: number;
  readonly window: number;
  readonly h: number;
  /** The width of the bilateral kernel in pixel values. */
  readonly tone: number;
  readonly method: Method;
  readonly pixel: Pixel;
  readonly curve: ColourCurve;

  readonly points: readonly PlanePoint[];
  readonly bandwidth: number;
  readonly query: number;
  /** Whether softmax(X X^T) X is drawn. */
  readonly similar: boolean;

  readonly series: number;
  /** A position of the series. The middle of the gap replaces a position that is not hidden. */
  readonly value: number;
  /** Null for the head with the most attention on values whole periods away. */
  readonly head: HeadPlace | null;

  readonly tune: TuneName;
  readonly tuneSeed: number;
  readonly temperature: number;
  readonly frame: number;
}

export interface PanelProps {
  state: State;
  set: Setter<State>;
}

/** A panel that also shows the person's own content; null for the built-in example. */
export interface OwnProps<Content> extends PanelProps {
  own: Content | null;
  onOwn(own: Content | null): void;
}

export const allowed = {
  noise: { min: 0, max: 0.3 },
  seed: { min: 1, max: 9999 },
  patch: { min: 0, max: 5 },
  window: { min: 1, max: 15 },
  h: { min: 0.01, max: 0.4 },
  tone: { min: 0.02, max: 1 },
  pixel: { min: 1, max: 256 },
  bandwidth: { min: 0.05, max: 10 },
  temperature: { min: 0.01, max: 2 },
  value: { min: 1, max: 48 },
  head: { min: 1, max: 16 },
  frame: { min: 1, max: 400 },
} as const;

/** The range of the coordinates of points. */
export const plane = { x: { min: 0, max: 10 }, y: { min: -2, max: 2 } } as const;
export const mostPoints = 24;
export const fewestPoints = 2;

/** Two waves with some noise, chosen by hand: close enough to average, with a gap. */
const examplePoints: readonly PlanePoint[] =
  "0.4:-0.9 0.9:-0.3 1.5:0.5 2.1:0.8 2.6:1.3 3.3:0.9 3.9:0.2 4.4:-0.5 6.2:-1.2 6.9:-0.4 7.7:0.6 8.4:1.5 9.1:1.1"
    .split(" ")
    .map((point) => {
      const [x, y] = point.split(":").map(Number) as [number, number];
      return { x, y };
    });

export const initialState: State = {
  subject: "picture",
  noise: 0.1,
  grain: 1,
  patch: 2,
  window: 8,
  h: 0.07,
  tone: 0.2,
  method: "nonLocal",
  pixel: { row: 88, col: 34 },
  curve: "sqrt",
  points: examplePoints,
  bandwidth: 0.5,
  query: 2.9,
  similar: false,
  series: 16,
  value: 0,
  head: null,
  tune: "round",
  tuneSeed: 1,
  temperature: 0.1,
  frame: 34,
};

/** Settings that stay unlocked under a teacher's lock. */
export const lookKeys: readonly (keyof State)[] = [
  "subject",
  "method",
  "pixel",
  "curve",
  "query",
  "similar",
  "value",
  "head",
  "frame",
];
