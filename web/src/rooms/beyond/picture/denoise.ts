/** The solver that denoises a picture by three kinds of means. */
import { numbersOf } from "../../../worker/numbersOf";
import type { Solver } from "../../../worker/solver";
import { bilateral } from "./bilateral";
import { meanRadius, type NoisyRequest, noisyPicture, nonLocalOptions } from "./noise";

export const versions = ["clean", "noisy", "local", "bilateral", "nonLocal"] as const;
export type Version = (typeof versions)[number];

export type Denoised = ReturnType<typeof solve>;

/** The peak signal-to-noise ratio for a peak of 1. */
export function psnrOf(picture: ArrayLike<number>, clean: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < clean.length; ++i)
    sum += ((picture[i] as number) - (clean[i] as number)) ** 2;
  return 10 * Math.log10(clean.length / sum);
}

const solve = ((request, { heed }) =>
  heed.scope(() => {
    const { clean, noisy } = noisyPicture(heed, request);
    const pixels = numbersOf(noisy);
    const started = performance.now();
    const values: Record<Version, Float32Array> = {
      clean: clean.pixels,
      noisy: pixels,
      local: numbersOf(heed.localMean(noisy, meanRadius(request))),
      bilateral: bilateral(heed, { ...clean, pixels }, request),
      nonLocal: numbersOf(heed.nonLocalMeans(noisy, nonLocalOptions(request)).output),
    };
    const milliseconds = performance.now() - started;
    const each = <T>(make: (values: Float32Array) => T) =>
      Object.fromEntries(versions.map((name) => [name, make(values[name])])) as Record<Version, T>;
    return {
      width: clean.width,
      height: clean.height,
      /** Grey, 0 to 255, row by row. */
      pictures: each((from) => Uint8ClampedArray.from(from, (value) => 255 * value)),
      /** PSNR against the clean picture, in decibels; infinite for equal pictures. */
      psnr: each((from) => psnrOf(from, clean.pixels)),
      milliseconds,
    };
  })) satisfies Solver<NoisyRequest, unknown>;

export default solve;
