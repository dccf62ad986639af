/** An entry of a rotated query or key, from two entries of the projection (Su et al., 2021, section 3.4.2). */

export interface Rotated {
  /** The other entry of its pair. */
  readonly pair: number;
  readonly frequency: number;
  /** The sign of the other entry in the sum. */
  readonly sign: 1 | -1;
  /** The factors of the entry itself and of the other one. */
  readonly factors: readonly [cos: number, sin: number];
}

/** @param frequencies the angle of each pair of entries, per position */
export function rotationOf(frequencies: readonly number[], row: number, col: number): Rotated {
  const half = frequencies.length;
  const isFirst = col < half;
  const sign = isFirst ? -1 : 1;
  const frequency = frequencies[col % half] as number;
  const angle = row * frequency;
  return {
    pair: isFirst ? col + half : col - half,
    ...{ frequency, sign },
    factors: [Math.cos(angle), sign * Math.sin(angle)],
  };
}
