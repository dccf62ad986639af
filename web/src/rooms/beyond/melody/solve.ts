/** The solver of the melody: the frames of a sound attend to one another. */
import type { Heed } from "heed";
import { numbersOf } from "../../../worker/numbersOf";
import type { Solver } from "../../../worker/solver";
import { bands, hop, rate, type Sound } from "./sound";

interface MelodyRequest {
  readonly sound: Sound;
  readonly temperature: number;
}

export type Melody = ReturnType<typeof solve>;

/** The lowest pitch, the A below middle C. */
const lowest = 220;
const frameLength = 2 * hop;

/** Cosines and sines of every pitch under a Hann window: [frame length, 2 bands]. */
function transform(): Float32Array {
  const basis = new Float32Array(frameLength * 2 * bands);
  for (let i = 0; i < frameLength; ++i) {
    const hann = Math.sin((Math.PI * (i + 0.5)) / frameLength) ** 2;
    for (let band = 0; band < bands; ++band) {
      const angle = (2 * Math.PI * lowest * 2 ** (band / 12) * i) / rate;
      basis[2 * i * bands + band] = hann * Math.cos(angle);
      basis[(2 * i + 1) * bands + band] = hann * Math.sin(angle);
    }
  }
  return basis;
}

/** Loudness by frame and pitch: a discrete Fourier transform at these pitches, as one product of matrices. */
function loudnessOf(heed: Heed, samples: Float32Array): Float32Array<ArrayBuffer> {
  const frames = Math.max(1, Math.ceil((samples.length - hop / 2) / hop));
  const cut = new Float32Array(frames * frameLength);
  for (let frame = 0; frame < frames; ++frame)
    cut.set(samples.subarray(frame * hop, frame * hop + frameLength), frame * frameLength);
  const parts = heed.matmul(
    heed.tensor(cut, [frames, frameLength]),
    heed.tensor(transform(), [frameLength, 2 * bands]),
  ).data;
  const sizes = new Float32Array(frames * bands);
  for (let i = 0; i < sizes.length; ++i) {
    const at = Math.floor(i / bands) * 2 * bands + (i % bands);
    sizes[i] = Math.hypot(parts[at] as number, parts[at + bands] as number);
  }
  const loudest = sizes.reduce((most, size) => Math.max(most, size), 0) || 1;
  // Below −40 decibels relative to the loudest, the loudness is 0.
  return sizes.map((size) => Math.max(0, 1 + Math.log10(Math.max(size / loudest, 1e-9)) / 2));
}

/** Subtracts the mean frame, which distinguishes none, and normalises, so that dot products are cosines. */
function directionsOf(loudness: Float32Array): Float32Array {
  const frames = loudness.length / bands;
  const centred = loudness.slice();
  for (let band = 0; band < bands; ++band) {
    let mean = 0;
    for (let i = band; i < loudness.length; i += bands) mean += (loudness[i] as number) / frames;
    for (let i = band; i < loudness.length; i += bands) (centred[i] as number) -= mean;
  }
  for (let start = 0; start < centred.length; start += bands) {
    const row = centred.subarray(start, start + bands);
    const length = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0));
    if (length > 0) for (const [i, value] of row.entries()) row[i] = value / length;
  }
  return centred;
}

/** A cache of the last sound, because a slider asks for the same one many times. */
let last: { id: string; loudness: Float32Array<ArrayBuffer> } | null = null;

const solve = (({ sound, temperature }, { heed }) =>
  heed.scope(() => {
    const started = performance.now();
    if (last?.id !== sound.id) last = { id: sound.id, loudness: loudnessOf(heed, sound.samples) };
    const { loudness } = last;
    const frames = loudness.length / bands;
    const shape = [1, 1, frames, bands];
    const directions = heed.tensor(directionsOf(loudness), shape);
    const { output, weights, lse } = heed.attention(
      directions,
      directions,
      heed.tensor(loudness, shape),
      { scale: 1 / temperature, needWeights: true, needLse: true },
    );
    return {
      ...{ id: sound.id, frames, temperature },
      /** [frames, bands]: the loudness of each pitch relative to the loudest, 0 to 1 on a logarithmic scale. */
      loudness: loudness.slice(),
      /** [frames, frames] */
      weights: numbersOf(weights),
      /** [frames, bands]: the weighted mean of the frames for each row of weights. */
      output: numbersOf(output),
      /** [frames]: the logarithm of each row's sum of e^score. */
      logSums: numbersOf(lse),
      milliseconds: performance.now() - started,
    };
  })) satisfies Solver<MelodyRequest, unknown>;

export default solve;
