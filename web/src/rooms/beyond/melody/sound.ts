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

let count = 0;

/** Decodes a sound file to samples of one channel. The file does not leave the page. */
export async function readSound(file: File): Promise<Sound> {
  // An offline context with this sample rate resamples while decoding, and needs no user gesture.
  const context = new OfflineAudioContext(1, 1, rate);
  const decoded = await context.decodeAudioData(await file.arrayBuffer());
  const length = Math.min(decoded.length, longestSeconds * rate);
  const samples = new Float32Array(length);
  for (let channel = 0; channel < decoded.numberOfChannels; ++channel) {
    const data = decoded.getChannelData(channel);
    for (let i = 0; i < length; ++i)
      (samples[i] as number) += (data[i] as number) / decoded.numberOfChannels;
  }
  return { id: `own ${++count}`, samples };
}
