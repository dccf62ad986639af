/**
 * The bilateral filter (Tomasi and Manduchi, 1998) as attention: the score of two pixels is
 * -(difference in value)^2 / (2 tone^2) - (distance)^2 / (2 reach^2). With the features f = (value / tone, x / reach,
 * y / reach) that is -|f_q - f_k|^2 / 2 = f_q . f_k - |f_k|^2 / 2 - |f_q|^2 / 2; the last term is the same for all keys
 * of a query and so changes no weight. One more feature, 1 in queries and -|f_k|^2 / 2 in keys, brings in the rest.
 */

import type { Heed, Tensor } from "heed";
import { numbersOf } from "../numbers";
import type { Pixel } from "../state";

interface Grid {
  readonly pixels: Float32Array;
  readonly width: number;
  readonly height: number;
}

export interface Kernel {
  /** How far the window reaches. */
  readonly window: number;
  readonly tone: number;
}

const features = 4;
/** Queries are taken in squares of this side, each with the keys that any of them may see. */
const tile = 8;

/** The kernel falls to e^-2 at the window's edge. */
const reachOf = (window: number) => window / 2;

/** Of a pixel outside of the picture: a score so low that its weight is 0, and a value that is no one's. */
const outside = -1e9;

/** The features of a square of pixels, as keys or as queries; places are counted from the middle of the square. */
function featuresOf(
  { pixels, width, height }: Grid,
  { window, tone }: Kernel,
  corner: Pixel,
  side: number,
  isKey: boolean,
  into: Float32Array,
): void {
  const reach = reachOf(window);
  for (let i = 0; i < side * side; ++i) {
    const [dy, dx] = [Math.floor(i / side), i % side];
    const [row, col] = [corner.row + dy, corner.col + dx];
    const isInside = row >= 0 && row < height && col >= 0 && col < width;
    const f = [
      (isInside ? (pixels[row * width + col] as number) : 0) / tone,
      (dx - (side - 1) / 2) / reach,
      (dy - (side - 1) / 2) / reach,
    ];
    const half = f.reduce((sum, value) => sum + value * value, 0) / 2;
    into.set([...f, isKey ? (isInside ? -half : outside) : 1], i * features);
  }
}

function valuesOf(
  { pixels, width, height }: Grid,
  corner: Pixel,
  side: number,
  into: Float32Array,
) {
  for (let i = 0; i < side * side; ++i) {
    const row = corner.row + Math.floor(i / side);
    const col = corner.col + (i % side);
    const isInside = row >= 0 && row < height && col >= 0 && col < width;
    into[i] = isInside ? (pixels[row * width + col] as number) : 0;
  }
}

/** Which keys of the wider square lie in the window of each query: the same for every tile. */
function windowMask(heed: Heed, window: number): Tensor {
  const side = tile + 2 * window;
  const mask = new Uint8Array(tile ** 2 * side ** 2);
  for (let q = 0; q < tile ** 2; ++q) {
    const [top, left] = [Math.floor(q / tile), q % tile];
    for (let dy = 0; dy <= 2 * window; ++dy) {
      const start = q * side ** 2 + (top + dy) * side + left;
      mask.fill(1, start, start + 2 * window + 1);
    }
  }
  return heed.tensor(mask, [1, 1, tile ** 2, side ** 2], "bool");
}

/** Every pixel's mean by the kernel's weights. To be called within a scope. */
export function bilateral(heed: Heed, grid: Grid, kernel: Kernel): Float32Array<ArrayBuffer> {
  const { width, height } = grid;
  const { window } = kernel;
  const side = tile + 2 * window;
  const tiles = Math.ceil(width / tile);
  const mask = windowMask(heed, window);
  const result = new Float32Array(width * height);
  const q = new Float32Array(tiles * tile ** 2 * features);
  const k = new Float32Array(tiles * side ** 2 * features);
  const v = new Float32Array(tiles * side ** 2);
  for (let row = 0; row < height; row += tile) {
    for (let t = 0; t < tiles; ++t) {
      const corner = { row: row - window, col: t * tile - window };
      const keys = k.subarray(t * side ** 2 * features);
      featuresOf(grid, kernel, corner, side, true, keys);
      valuesOf(grid, corner, side, v.subarray(t * side ** 2));
      // The queries are the inner pixels of the same square, so that both count places alike.
      for (let i = 0; i < tile ** 2; ++i) {
        const from = ((window + Math.floor(i / tile)) * side + window + (i % tile)) * features;
        const query = keys.subarray(from, from + features);
        q.set([...query.subarray(0, features - 1), 1], (t * tile ** 2 + i) * features);
      }
    }
    const output = heed.scope(() => {
      const means = heed.attention(
        heed.tensor(q, [tiles, 1, tile ** 2, features]),
        heed.tensor(k, [tiles, 1, side ** 2, features]),
        heed.tensor(v, [tiles, 1, side ** 2, 1]),
        { scale: 1, mask },
      );
      return numbersOf(means.output);
    });
    for (const [i, value] of output.entries()) {
      const within = i % tile ** 2;
      const y = row + Math.floor(within / tile);
      const x = Math.floor(i / tile ** 2) * tile + (within % tile);
      if (y < height && x < width) result[y * width + x] = value;
    }
  }
  return result;
}

/** One pixel's weights over its window, row by row, 0 outside of the picture. To be called within a scope. */
export function bilateralWeights(heed: Heed, grid: Grid, kernel: Kernel, pixel: Pixel) {
  const side = 2 * kernel.window + 1;
  const corner = { row: pixel.row - kernel.window, col: pixel.col - kernel.window };
  const k = new Float32Array(side ** 2 * features);
  featuresOf(grid, kernel, corner, side, true, k);
  const q = new Float32Array(features);
  featuresOf(grid, kernel, pixel, 1, false, q);
  const keys = heed.tensor(k, [1, 1, side ** 2, features]);
  const options = { scale: 1, needWeights: true } as const;
  const { weights } = heed.attention(heed.tensor(q, [1, 1, 1, features]), keys, keys, options);
  return numbersOf(weights);
}
