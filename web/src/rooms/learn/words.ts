/** The texts of the room. */
import { attendsWords } from "../../shared/attended";
import type { Suggestion } from "../../shared/room";
import type { BeginAnswer, CourseAttention, CourseSnapshot } from "./messages";
import type { CourseHead, State } from "./state";

/** The name of an attention, such as "layer 1, the answer attends to the input". */
export function attentionNameOf({ name, layer }: CourseAttention, layers: number): string {
  return layers > 1 ? `layer ${layer + 1}, ${attendsWords[name]}` : attendsWords[name];
}

/** Every head's attention on the right places, if there are any. */
function* massesOf({ masses }: CourseSnapshot): Generator<CourseHead & { mass: number }> {
  for (const [attention, heads] of masses.entries())
    for (const [head, mass] of heads.entries())
      if (Number.isFinite(mass)) yield { attention, head, mass };
}

/**
 * The head with the most attention on the right places over several snapshots: with one snapshot it changes too often.
 */
export function bestCourseHead(snapshots: readonly CourseSnapshot[]): CourseHead {
  const sums = new Map<string, CourseHead & { mass: number }>();
  for (const snapshot of snapshots) {
    for (const one of massesOf(snapshot)) {
      const key = `${one.attention} ${one.head}`;
      sums.set(key, { ...one, mass: one.mass + (sums.get(key)?.mass ?? 0) });
    }
  }
  const [first = { attention: 0, head: 0, mass: 0 }, ...others] = sums.values();
  return others.reduce((best, one) => (one.mass > best.mass ? one : best), first);
}

export function bestMass(snapshot: CourseSnapshot): number {
  const masses = Array.from(massesOf(snapshot), ({ mass }) => mass);
  return masses.length > 0 ? Math.max(...masses) : Number.NaN;
}

/** What the picture of a task shows once it is learned. */
const hopes: Readonly<Record<State["task"], string>> = {
  reverse:
    "The first letter of the answer is the last of the input, so a head that has learned to attend to the right places shows one strong diagonal from the lower left to the upper right.",
  sort: "Each row is strongest at the next letter of the alphabet, so the picture differs from example to example.",
  dates:
    "The digits of the year are copied from their places; the month and the day are read from a name or a number, wherever the form has them.",
  pronouns:
    "The row of each pronoun has to find whom or what it means. Easy sentences are learned first; those that must be understood as a whole come last.",
};

export function hopeOf(task: State["task"]): string {
  return hopes[task];
}

export function countsOf({ held, weighed }: BeginAnswer): string {
  return `At every snapshot the model answers ${held} held-out examples. The attention is that of the best head, the mean over ${weighed} of them.`;
}

export const suggestions: readonly Suggestion[] = [
  [
    "#room=learn&length=16",
    "Reverse 16 letters",
    "There are more positions to distinguish, so it takes longer. Then go on to 20, and watch where the diagonal appears first.",
  ],
  [
    "#room=learn&task=sort",
    "Sort instead",
    "Now the right places depend on the letters and not on their positions: the strong cells follow the alphabet.",
  ],
  [
    "#room=learn&task=sort&compare=on",
    "One head against four",
    "The same seed and as many parameters; two trainings take turns. Which is ahead at the end? Another seed may give another result.",
  ],
  [
    "#room=learn&positions=off",
    "Take the positions away",
    "Then the model sees which letters there are but not where. The loss falls halfway and then stays there, and no diagonal appears.",
  ],
  [
    "#room=learn&task=pronouns",
    "Learn pronouns",
    "Three layers learn whom “she” or “it” means. Look at the row of the pronoun in the second and third layer.",
  ],
  [
    "#room=learn&rate=1000",
    "Learn too fast",
    "With an absurd learning rate the parameters soon become NaN, and the page says so. Reset starts again.",
  ],
];
