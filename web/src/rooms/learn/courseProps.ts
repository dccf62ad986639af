/** What the parts of one training show. */
import type { Setter } from "../../shared/room";
import type { Attention, Course, Seen } from "./orders";
import type { State } from "./state";

export interface CourseProps {
  course: Course;
  /** Between the tokens of the example that is looked at. */
  attentions: readonly Attention[];
  /** What is looked at, and after which step it was so. */
  seen: Seen;
  step: number;
  layers: number;
  /** On how many examples answers are judged, and heads. */
  held: number;
  weighed: number;
  state: State;
  set: Setter<State>;
}
