/** Which steps of a training are kept to be seen again: evenly spread and never more than so many. */
import type { Snapshot } from "./orders";

/** The most steps that are kept, but for the last one. */
export const mostKept = 200;

/** At first there is a look every so many steps. */
const firstSpacing = 5;

/** How far apart the looks are that are kept at a step: it doubles whenever there would be too many. */
export function spacingAt(step: number): number {
  let spacing = firstSpacing;
  while (step / spacing > mostKept) spacing *= 2;
  return spacing;
}

/** The past and what came, thinned. */
export function withMore(
  past: readonly Snapshot[],
  more: readonly Snapshot[],
): readonly Snapshot[] {
  const all = [...past, ...more];
  const last = all.at(-1);
  if (!last) return all;
  const spacing = spacingAt(last.step);
  const kept = all.filter((one) => one === last || one.step % spacing === 0);
  // Single steps stay until the next look that belongs to the even ones.
  return all.length <= mostKept ? all : kept;
}

/** The bytes that a full past takes: nearly all of them are weights, scores and vectors. */
export function bytesOf({ courses }: Snapshot): number {
  const bytes = courses.flatMap(({ shares }) =>
    shares.flatMap((each) => Object.values(each).map(({ byteLength }) => byteLength)),
  );
  return bytes.reduce((sum, each) => sum + each, 0) * (mostKept + 1);
}
