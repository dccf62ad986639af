/** Sound as the room has it: one channel, at one rate, not longer than what the pictures can show. */
export interface Sound {
  /** Tells sounds apart, so that one is taken to pieces only once. */
  readonly id: string;
  readonly samples: Float32Array<ArrayBuffer>;
}

export const rate = 16_000;
export const longestSeconds = 20;
/** Frames begin this far apart and are twice as long. */
export const hop = 1600;

/** Four octaves of half tones. */
export const bands = 48;

export const secondsOf = (frame: number): number => (frame * hop) / rate;

export const timeOf = (frame: number): string => `${secondsOf(frame).toFixed(1)} s`;
