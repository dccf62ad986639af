/** Decodes a sound file to samples of one channel. The file does not leave the page. */
import { longestSeconds, rate, type Sound } from "./sound";

let count = 0;

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
