/** Rotary positions (Su et al., 2021, section 3.4.2). */
import type { Heed, Tensor } from "heed";

/**
 * An entry of a rotated query or key, from two entries of the projection.
 *
 * @param frequencies the angle of each pair of entries, per position
 */
export function rotationOf(frequencies: readonly number[], row: number, col: number) {
  const half = frequencies.length;
  const isFirst = col < half;
  const sign = isFirst ? -1 : 1;
  const frequency = frequencies[col % half] as number;
  const angle = row * frequency;
  return {
    /** The other entry of its pair, and its sign in the sum. */
    pair: isFirst ? col + half : col - half,
    ...{ frequency, sign },
    /** The factors of the entry itself and of the other one. */
    factors: [Math.cos(angle), sign * Math.sin(angle)],
  };
}

/** Returns a function that rotates each head of [1, L, H * D] by the position of its token. */
export function rotationIn(
  heed: Heed,
  frequencies: readonly number[],
  { length, heads }: { length: number; heads: number },
): (x: Tensor) => Tensor {
  const table = (of: (angle: number) => number) => {
    const angles = Array.from({ length }, (_, place) => frequencies.map((each) => place * each));
    return heed.tensor(Float32Array.from(angles.flat(), of), [1, length, frequencies.length]);
  };
  const [cos, sin] = [table(Math.cos), table(Math.sin)];
  return (x) => heed.rope(x, { heads, cos, sin, rotarySize: 2 * frequencies.length });
}
