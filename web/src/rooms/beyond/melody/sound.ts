/** The format of all sounds in the room: one channel, one sample rate, and a length that the pictures can show. */
export interface Sound {
  /** Identifies the sound, so that each is analysed only once. */
  readonly id: string;
  readonly samples: Float32Array<ArrayBuffer>;
}

export const rate = 16_000;
export const longestSeconds = 20;
/** The number of samples between the starts of two frames. A frame is twice as long. */
export const hop = 1600;

/** Four octaves of semitones. */
export const bands = 48;

export const secondsOf = (frame: number): number => (frame * hop) / rate;

export const timeOf = (frame: number): string => `${secondsOf(frame).toFixed(1)} s`;
