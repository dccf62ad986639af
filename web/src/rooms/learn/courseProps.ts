/** The props of the parts that show one training. */
import type { Setter } from "../../shared/room";
import type { Course, CourseAttention, CourseSnapshot } from "./messages";
import type { State } from "./state";

export interface CourseProps {
  course: Course;
  /** With the tokens of the example that is shown. */
  attentions: readonly CourseAttention[];
  /** The snapshot that is shown, and its step. */
  snapshot: CourseSnapshot;
  step: number;
  /** The snapshots of the shown example up to the shown one, by their steps. */
  past(): readonly (readonly [step: number, CourseSnapshot])[];
  layers: number;
  /** The number of examples on which answers are judged, and the number on which heads are. */
  held: number;
  weighed: number;
  state: State;
  set: Setter<State>;
}
