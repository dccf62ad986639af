/** One model of a lesson, as its parts show it. */
import type { RoomProps } from "../../shared/room";
import type { Course, CourseSnapshot, ShownExample, Snapshot } from "./messages";
import type { State } from "./state";
import type { Lesson } from "./useLesson";

/** A snapshot, and the example whose outputs it has. */
export interface Shown {
  readonly snapshot: Snapshot;
  readonly showing: ShownExample;
}

/** The number of snapshots that determine the best head, so that it does not change with each snapshot. */
const recentCount = 10;

/**
 * @param index the index of the snapshot that is shown
 * @param i the number of the model among those of the lesson
 */
export function courseOf(lesson: Lesson, { snapshot, showing }: Shown, index: number, i: number) {
  const { begun, past, setups } = lesson;
  const courseIn = ({ courses }: Snapshot) => courses[i] as CourseSnapshot;
  const seen = past.slice(0, index + 1);
  return {
    course: begun.courses[i] as Course,
    isPair: begun.courses.length > 1,
    layers: setups[0]?.options.layers ?? 1,
    /** The attentions, with the tokens of the example that is shown. */
    attentions: showing.attentions[i] ?? [],
    snapshot: courseIn(snapshot),
    step: snapshot.step,
    /** The last snapshots up to the shown step. */
    recent: seen.slice(-recentCount - 1).map(courseIn),
    /** The snapshots of the shown example up to the shown one, with their steps. */
    past: () =>
      seen
        .filter((each) => each.showing === showing.id)
        .map((each) => [each.step, courseIn(each)] as const),
  };
}

export type CourseProps = ReturnType<typeof courseOf> & Pick<RoomProps<State>, "state" | "set">;
