/** What is kept of a training's past: evenly spaced steps, with a limited number. */
import type { Snapshot } from "./messages";

/** The most snapshots that are kept, not counting the last one. */
export const mostKept = 200;

/** The most bytes of former parameters that are kept. */
const mostBytes = 128 * 2 ** 20;

/** How many of a training's former parameters are kept, of so many bytes each. */
export function keptParameters(bytes: number): number {
  return Math.max(1, Math.min(mostKept, Math.floor(mostBytes / bytes)));
}

/** The initial number of steps between two snapshots. */
const firstSpacing = 5;

/** The spacing of what is kept at a step: it doubles when there would be more than `most`. */
export function spacingAt(step: number, most = mostKept): number {
  let spacing = firstSpacing;
  while (step / spacing > most) spacing *= 2;
  return spacing;
}

/** Appends what is new to the past and thins it out. */
export function withMore<Kept extends { readonly step: number }>(
  past: readonly Kept[],
  more: readonly Kept[],
  most = mostKept,
): readonly Kept[] {
  const all = [...past, ...more];
  const last = all.at(-1);
  if (!last) return all;
  const spacing = spacingAt(last.step, most);
  const kept = all.filter((one) => one === last || one.step % spacing === 0);
  // A single step is kept until the next snapshot at the regular spacing.
  return all.length <= most ? all : kept;
}

/** The number of bytes of a full past, nearly all of them weights, scores and vectors. */
export function pastBytesOf({ courses }: Snapshot): number {
  const bytes = courses.flatMap(({ shares }) =>
    shares.flatMap((each) => Object.values(each).map(({ byteLength }) => byteLength)),
  );
  return bytes.reduce((sum, each) => sum + each, 0) * (mostKept + 1);
}
