/** The state of the room, which is exactly the content of its link (see link.ts). */
import type { SpeedSettings } from "./report";

export const chartAxes = ["length", "intensity"] as const;
export type ChartAxis = (typeof chartAxes)[number];

export interface State extends SpeedSettings {
  /** The x axis of the chart. */
  readonly axis: ChartAxis;
}

export const initialState: State = {
  heads: 4,
  size: 64,
  causal: false,
  window: 0,
  longest: 2048,
  axis: "length",
};

export const lengths = [64, 128, 256, 512, 1024, 2048, 4096, 8192] as const;

export const allowed = {
  heads: { min: 1, max: 16 },
  size: { min: 8, max: 128 },
  window: { min: 0, max: 4096 },
  longest: { min: 512, max: 8192 },
};
