/** The snapshots of a training that are kept: evenly spaced, with a limited number. */
import type { Snapshot } from "./messages";

/** The most snapshots that are kept, not counting the last one. */
export const mostKept = 200;

/** The initial number of steps between two snapshots. */
const firstSpacing = 5;

/** The spacing of the snapshots at a step: it doubles when there would be too many. */
export function spacingAt(step: number): number {
  let spacing = firstSpacing;
  while (step / spacing > mostKept) spacing *= 2;
  return spacing;
}

/** Appends new snapshots to the past and thins it out. */
export function withMore(
  past: readonly Snapshot[],
  more: readonly Snapshot[],
): readonly Snapshot[] {
  const all = [...past, ...more];
  const last = all.at(-1);
  if (!last) return all;
  const spacing = spacingAt(last.step);
  const kept = all.filter((one) => one === last || one.step % spacing === 0);
  // A single step is kept until the next snapshot at the regular spacing.
  return all.length <= mostKept ? all : kept;
}

/** The number of bytes of a full past, nearly all of them weights, scores and vectors. */
export function pastBytesOf({ courses }: Snapshot): number {
  const bytes = courses.flatMap(({ shares }) =>
    shares.flatMap((each) => Object.values(each).map(({ byteLength }) => byteLength)),
  );
  return bytes.reduce((sum, each) => sum + each, 0) * (mostKept + 1);
}
