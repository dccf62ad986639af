/** The picture and its noise: what both desks of the picture start from. */
import type { Heed, Tensor } from "heed";
import { type GreyPicture, house } from "./drawing";

export interface NoisyRequest {
  /** Null: our own drawing. */
  readonly own: GreyPicture | null;
  readonly noise: number;
  readonly grain: number;
  readonly patch: number;
  readonly window: number;
  readonly h: number;
  readonly tone: number;
}

export interface NoisyPicture {
  readonly clean: GreyPicture;
  /** [height, width] */
  readonly noisy: Tensor;
}

/** Normal noise from a seed, added by the engine; to be called within a scope. */
export function noisyPicture(heed: Heed, { own, noise, grain }: NoisyRequest): NoisyPicture {
  const clean = own ?? house();
  const shape = [clean.height, clean.width];
  const deviations = heed.normal(shape, { seed: grain });
  const noisy = heed.add(
    heed.tensor(clean.pixels, shape),
    heed.multiply(deviations, heed.tensor([noise], [1])),
  );
  return { clean, noisy };
}

export function nonLocalOptions({ patch, window, h, noise }: NoisyRequest) {
  return { patchRadius: patch, searchRadius: window, h, sigma: noise };
}

/** The local mean is taken over one patch, as far as the window reaches. */
export function meanRadius({ patch, window }: Pick<NoisyRequest, "patch" | "window">): number {
  return Math.min(patch, window);
}
