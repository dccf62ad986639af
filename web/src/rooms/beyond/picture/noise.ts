/** The noisy picture, which is the input of both solvers of the picture. */
import type { Heed } from "heed";
import type { State } from "../state";
import { type GreyPicture, house } from "./drawing";

/** The settings of the noise and of all methods. */
export interface NoisyRequest
  extends Pick<State, "noise" | "grain" | "patch" | "window" | "h" | "tone"> {
  /** Null for the built-in drawing. */
  readonly own: GreyPicture | null;
}

export type NoisyPicture = ReturnType<typeof noisyPicture>;

/** Adds normal noise from a seed, with the engine. Must be called within a scope. */
export function noisyPicture(heed: Heed, { own, noise, grain }: NoisyRequest) {
  const clean = own ?? house();
  const shape = [clean.height, clean.width];
  const deviations = heed.normal(shape, { seed: grain });
  /** [height, width] */
  const noisy = heed.add(
    heed.tensor(clean.pixels, shape),
    heed.multiply(deviations, heed.tensor([noise], [1])),
  );
  return { clean, noisy };
}

export function nonLocalOptions({ patch, window, h, noise }: NoisyRequest) {
  return { patchRadius: patch, searchRadius: window, h, sigma: noise };
}

/** The local mean covers one patch, limited by the window. */
export function meanRadius({ patch, window }: Pick<NoisyRequest, "patch" | "window">): number {
  return Math.min(patch, window);
}
