/** The props of the parts that show one training. */
import type { Setter } from "../../shared/room";
import type { Course, CourseAttention, CourseSnapshot } from "./messages";
import type { State } from "./state";

export interface CourseProps {
  course: Course;
  /** The attentions, with the tokens of the example that is shown. */
  attentions: readonly CourseAttention[];
  /** The snapshot that is shown, and its step. */
  snapshot: CourseSnapshot;
  step: number;
  /** The snapshots of the shown example up to the shown one, with their steps. */
  past(): readonly (readonly [step: number, CourseSnapshot])[];
  layers: number;
  /** The number of examples that measure the accuracy, and the number that measure the heads. */
  held: number;
  weighed: number;
  state: State;
  set: Setter<State>;
}
