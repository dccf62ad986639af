/** The texts of the room. */
import { attendsWords } from "../../shared/attended";
import type { Suggestion } from "../../shared/room";
import type { CourseAttention, CourseSnapshot } from "./messages";
import type { CourseHead, State } from "./state";

/** The name of an attention, such as "layer 1, answer to input". */
export function attentionNameOf({ name, layer }: CourseAttention, layers: number): string {
  return layers > 1 ? `layer ${layer + 1}, ${attendsWords[name]}` : attendsWords[name];
}

/** "One head" at the start of a line, otherwise "one head". */
export function headsWords(heads: number, isFirst = false): string {
  if (heads === 1) return isFirst ? "One head" : "one head";
  return `${heads} heads`;
}

/** Every head's attention on the answer positions, if there are any. */
function* massesOf({ masses }: CourseSnapshot): Generator<CourseHead & { mass: number }> {
  for (const [attention, heads] of masses.entries())
    for (const [head, mass] of heads.entries())
      if (Number.isFinite(mass)) yield { attention, head, mass };
}

/** The head with the most attention on the answer positions. By a single snapshot it would change too often. */
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

/** A head finds the answer positions if at least this share of its attention is on them. */
export const findingShare = 0.5;

/** The number of heads that find the answer positions, and of all heads to which they apply. */
export function findersOf(snapshot: CourseSnapshot): { finders: number; heads: number } {
  const masses = Array.from(massesOf(snapshot), ({ mass }) => mass);
  return { finders: masses.filter((mass) => mass >= findingShare).length, heads: masses.length };
}

/** The pattern to watch for in the picture of each task. */
const patterns: Readonly<Record<State["task"], string>> = {
  reverse: "Watch an anti-diagonal appear in some heads.",
  sort: "Watch heads find each next letter.",
  dates: "Watch heads find year, month and day.",
  pronouns: "Watch heads find whom a pronoun means.",
};

export function hopeOf({ task, positions }: Pick<State, "task" | "positions">): string {
  if (positions) return patterns[task];
  return "Without positions it sees the tokens, but not their order.";
}

export const suggestions: readonly Suggestion[] = [
  ["#room=learn&length=16", "Reverse 16 letters", "Where does the anti-diagonal appear first?"],
  ["#room=learn&task=sort", "Sort instead", "Here the answer positions depend on the letters."],
  [
    "#room=learn&task=dates&compare=on&seed=2",
    "One head against four",
    "With as many parameters, after 600 steps four heads usually answer more dates. Try other seeds.",
  ],
  ["#room=learn&positions=off", "No positions", "It sees letters, not where: no anti-diagonal."],
  ["#room=learn&task=pronouns", "Learn pronouns", "Whom does “she” mean? See its row."],
  ["#room=learn&rate=1000", "Learn too fast", "At this rate the parameters become NaN."],
];
