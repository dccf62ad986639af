/** The snapshots that are kept of a training: evenly spaced steps, limited in number. */
import type { Snapshot } from "./messages";

/** The maximum number of snapshots that are kept, not counting the last one. */
export const mostKept = 200;

/** A slow training makes this many steps slowly, at most one in this many milliseconds. Most is learned in them. */
export const slowSteps = 200;
export const slowPace = 50;

/** The maximum number of bytes of earlier parameters that are kept. */
const mostBytes = 128 * 2 ** 20;

/** How many copies of a training's parameters are kept, if each takes this number of bytes. */
export function keptParameters(bytes: number): number {
  return Math.max(1, Math.min(mostKept, Math.floor(mostBytes / bytes)));
}

const firstSpacing = 5;

/** The spacing of kept snapshots at a step. It doubles when there would be more than `most` snapshots. */
export function spacingAt(step: number, most = mostKept): number {
  let spacing = firstSpacing;
  while (step / spacing > most) spacing *= 2;
  return spacing;
}

/** Appends new snapshots and thins out the result. */
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

/** The number of bytes of a full list of snapshots, nearly all of them weights, scores and vectors. */
export function pastBytesOf({ courses }: Snapshot): number {
  const bytes = courses.flatMap(({ shares }) =>
    shares.flatMap((each) => Object.values(each).map(({ byteLength }) => byteLength)),
  );
  return bytes.reduce((sum, each) => sum + each, 0) * (mostKept + 1);
}

/** The step of the snapshot at an index; null for the newest, which is followed. */
export function stepAt(past: readonly Snapshot[], index: number): number | null {
  return index >= past.length - 1 ? null : (past[index]?.step ?? null);
}
