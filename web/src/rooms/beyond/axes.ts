/** Converts between numbers and positions in a plot. */
import { ticksOf } from "../../picture/scale";

export interface Range {
  readonly min: number;
  readonly max: number;
}

export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export function scaleOf({ min, max }: Range, from: number, to: number) {
  const place = (value: number) => from + ((value - min) / (max - min)) * (to - from);
  const value = (place: number) => min + ((place - from) / (to - from)) * (max - min);
  return { place, value };
}

export function ticksIn({ min, max }: Range, pixels: number, apart: number): number[] {
  return ticksOf({ low: min, high: max }, Math.max(2, Math.floor(pixels / apart)));
}

/** A line through points of the plot. */
export function lineThrough(
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  placeX: (value: number) => number,
  placeY: (value: number) => number,
): string {
  let path = "";
  for (let i = 0; i < x.length; ++i)
    path += `${i === 0 ? "M" : "L"}${placeX(x[i] as number).toFixed(1)} ${placeY(y[i] as number).toFixed(1)}`;
  return path;
}
