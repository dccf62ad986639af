/** Encodes samples as a 16-bit WAVE file, which every browser plays. */
import { rate } from "./sound";

const headerBytes = 44;
const sampleBytes = 2;

export function waveOf(samples: Float32Array): Blob {
  const bytes = samples.length * sampleBytes;
  const header = new DataView(new ArrayBuffer(headerBytes));
  const word = (at: number, text: string) => {
    for (let i = 0; i < text.length; ++i) header.setUint8(at + i, text.charCodeAt(i));
  };
  word(0, "RIFF");
  header.setUint32(4, headerBytes - 8 + bytes, true);
  word(8, "WAVEfmt ");
  header.setUint32(16, 16, true); // size of the format chunk
  header.setUint16(20, 1, true); // PCM
  header.setUint16(22, 1, true); // channels
  header.setUint32(24, rate, true);
  header.setUint32(28, rate * sampleBytes, true);
  header.setUint16(32, sampleBytes, true);
  header.setUint16(34, 8 * sampleBytes, true);
  word(36, "data");
  header.setUint32(40, bytes, true);
  const values = Int16Array.from(samples, (x) => 32_767 * Math.max(-1, Math.min(1, x)));
  return new Blob([header, values], { type: "audio/wav" });
}
