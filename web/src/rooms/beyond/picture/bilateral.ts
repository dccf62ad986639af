/**
 * The bilateral filter (Tomasi and Manduchi, 1998) as attention: the score of two pixels is -(difference in value)^2 /
 * (2 tone^2) - (distance)^2 / (2 reach^2). With the features f = (value / tone, x / reach, y / reach) the score is -|f_q -
 * f_k|^2 / 2 = f_q . f_k - |f_k|^2 / 2 - |f_q|^2 / 2. The last term is the same for all keys of a query, so it changes
 * no weight. One more feature, which is 1 in queries and -|f_k|^2 / 2 in keys, adds the second term.
 */
import type { Heed, Tensor } from "heed";
import { numbersOf } from "../../../worker/numbersOf";
import type { Pixel, State } from "../state";
import type { GreyPicture } from "./drawing";

/** The radius of the window, and the width of the kernel in pixel values. */
type Kernel = Pick<State, "window" | "tone">;

const features = 4;
/** Queries are processed in square tiles of this side, each with all keys that any of them attends to. */
const tile = 8;

/** The kernel falls to e^-2 at the window's edge. */
const reachOf = (window: number) => window / 2;

/** The last feature of a key outside of the picture. Its weight is 0, because the score is so low. */
const outside = -1e9;

/** The features that depend on no picture: coordinates from the centre, which keeps numbers small and exact. */
function squarePlacesOf(side: number, window: number): Float32Array {
  const places = new Float32Array(side ** 2 * features);
  for (let i = 0; i < side ** 2; ++i) {
    const x = ((i % side) - (side - 1) / 2) / reachOf(window);
    const y = (Math.floor(i / side) - (side - 1) / 2) / reachOf(window);
    places.set([0, x, y, -(x * x + y * y) / 2], i * features);
  }
  return places;
}

/** The keys and values of the square of pixels that starts at a corner. */
function fillSquare(
  { pixels, width, height }: GreyPicture,
  { tone }: Kernel,
  corner: Pixel,
  places: Float32Array,
  k: Float32Array,
  v: Float32Array,
): void {
  const count = places.length / features;
  const side = Math.sqrt(count);
  k.set(places);
  for (let i = 0; i < count; ++i) {
    const row = corner.row + Math.floor(i / side);
    const col = corner.col + (i % side);
    const isInside = row >= 0 && row < height && col >= 0 && col < width;
    const value = isInside ? (pixels[row * width + col] as number) : 0;
    const feature = value / tone;
    v[i] = value;
    k[i * features] = feature;
    if (isInside) (k[i * features + 3] as number) -= (feature * feature) / 2;
    else k[i * features + 3] = outside;
  }
}

/** The query of the pixel at a position among the keys. */
function queryAmong(k: Float32Array, place: number, q: Float32Array, at: number): void {
  q.set(k.subarray(place * features, (place + 1) * features - 1), at * features);
  q[at * features + features - 1] = 1;
}

/** The mask of the keys in the window of each query, the same for every tile. */
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

/** The weighted mean of every pixel. Must be called within a scope. */
export function bilateral(heed: Heed, grid: GreyPicture, kernel: Kernel) {
  const { width, height } = grid;
  const { window } = kernel;
  const side = tile + 2 * window;
  const tiles = Math.ceil(width / tile);
  const mask = windowMask(heed, window);
  const result = new Float32Array(width * height);
  const q = new Float32Array(tiles * tile ** 2 * features);
  const k = new Float32Array(tiles * side ** 2 * features);
  const v = new Float32Array(tiles * side ** 2);
  const places = squarePlacesOf(side, window);
  for (let row = 0; row < height; row += tile) {
    for (let t = 0; t < tiles; ++t) {
      const corner = { row: row - window, col: t * tile - window };
      const keys = k.subarray(t * side ** 2 * features);
      fillSquare(grid, kernel, corner, places, keys, v.subarray(t * side ** 2));
      for (let i = 0; i < tile ** 2; ++i) {
        const place = (window + Math.floor(i / tile)) * side + window + (i % tile);
        queryAmong(keys, place, q, t * tile ** 2 + i);
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

/** One pixel's weights over its window, row by row, 0 outside of the picture. Must be called within a scope. */
export function bilateralWeights(heed: Heed, grid: GreyPicture, kernel: Kernel, pixel: Pixel) {
  const { window } = kernel;
  const side = 2 * window + 1;
  const k = new Float32Array(side ** 2 * features);
  const v = new Float32Array(side ** 2);
  const q = new Float32Array(features);
  const corner = { row: pixel.row - window, col: pixel.col - window };
  fillSquare(grid, kernel, corner, squarePlacesOf(side, window), k, v);
  queryAmong(k, (side ** 2 - 1) / 2, q, 0);
  const keys = heed.tensor(k, [1, 1, side ** 2, features]);
  const options = { scale: 1, needWeights: true } as const;
  const { weights } = heed.attention(heed.tensor(q, [1, 1, 1, features]), keys, keys, options);
  return numbersOf(weights);
}
