/** The solver that computes the weights of one pixel's mean over the pixels around it. */
import type { Heed } from "heed";
import { numbersOf } from "../../../worker/numbersOf";
import type { Solver } from "../../../worker/solver";
import type { Method, Pixel } from "../state";
import { bilateralWeights } from "./bilateral";
import type { GreyPicture } from "./drawing";
import {
  meanRadius,
  type NoisyPicture,
  type NoisyRequest,
  noisyPicture,
  nonLocalOptions,
} from "./noise";

interface PixelRequest extends NoisyRequest {
  readonly pixel: Pixel;
  readonly method: Method;
}

export type PixelAnswer = ReturnType<typeof solve>;

type Size = Pick<GreyPicture, "width" | "height">;

/** The window around a pixel, with `fill` outside of the picture. */
function cut(
  values: ArrayLike<number>,
  { width, height }: Size,
  { row, col }: Pixel,
  radius: number,
  fill: number,
): Float32Array<ArrayBuffer> {
  const side = 2 * radius + 1;
  return Float32Array.from({ length: side ** 2 }, (_, i) => {
    const y = row - radius + Math.floor(i / side);
    const x = col - radius + (i % side);
    const isInside = y >= 0 && y < height && x >= 0 && x < width;
    return isInside ? (values[y * width + x] as number) : fill;
  });
}

function pixelWeightsOf(heed: Heed, { clean, noisy }: NoisyPicture, request: PixelRequest) {
  const { method, pixel, window } = request;
  const { width, height } = clean;
  if (method === "bilateral") {
    const pixels = numbersOf(noisy);
    return bilateralWeights(heed, { pixels, width, height }, request, pixel);
  }
  if (method === "nonLocal") {
    const { row, col } = pixel;
    const weights = heed.nonLocalMeansWeights(noisy, row, col, nonLocalOptions(request));
    return cut(weights.data, clean, pixel, window, 0);
  }
  return evenWeights(heed, clean, request);
}

/** The local mean as attention: all scores are 0, and the mask shows only the patch. */
function evenWeights(heed: Heed, size: Size, { pixel, window, patch }: PixelRequest) {
  const side = 2 * window + 1;
  const isSeen = cut(new Uint8Array(size.width * size.height).fill(1), size, pixel, window, 0);
  const mask = Uint8Array.from(isSeen, (seen, i) => {
    const away = Math.max(Math.abs(Math.floor(i / side) - window), Math.abs((i % side) - window));
    return seen && away <= meanRadius({ patch, window }) ? 1 : 0;
  });
  const keys = heed.zeros([1, 1, side ** 2, 1]);
  const { weights } = heed.attention(heed.zeros([1, 1, 1, 1]), keys, keys, {
    mask: heed.tensor(mask, [1, 1, 1, side ** 2], "bool"),
    needWeights: true,
  });
  return numbersOf(weights);
}

const solve = ((request, { heed }) =>
  heed.scope(() => {
    const picture = noisyPicture(heed, request);
    const { clean, noisy } = picture;
    const { window } = request;
    const pixel = {
      row: Math.min(request.pixel.row, clean.height - 1),
      col: Math.min(request.pixel.col, clean.width - 1),
    };
    const side = 2 * window + 1;
    const shares = pixelWeightsOf(heed, picture, { ...request, pixel });
    const values = cut(noisy.data, clean, pixel, window, Number.NaN);
    let [mean, squares] = [0, 0];
    for (const [i, weight] of shares.entries()) {
      if (weight > 0) mean += weight * (values[i] as number);
      squares += weight ** 2;
    }
    const place = pixel.row * clean.width + pixel.col;
    return {
      /** The weights over the window, row by row; NaN outside of the picture. */
      weights: shares.map((weight, i) => (Number.isNaN(values[i]) ? Number.NaN : weight)),
      values,
      side,
      clean: clean.pixels[place] as number,
      noisy: noisy.data[place] as number,
      mean,
      own: shares[(shares.length - 1) / 2] as number,
      largest: shares.reduce((most, weight) => Math.max(most, weight), 0),
      /** The effective number of pixels: the mean of this many with equal weights would have the same noise. */
      count: 1 / squares,
    };
  })) satisfies Solver<PixelRequest, unknown>;

export default solve;
