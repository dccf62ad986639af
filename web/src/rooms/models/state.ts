/** The state of the room: which kind of model is open, and the state of its view. */
import { type Choice, isTask } from "./choices";
import { initialOf, type State as LanguageState, ourModel, yourModel } from "./language/state";
import { firstOf, type State as TasksState, initialState as tasks } from "./tasks/state";

export type State =
  | ({ readonly kind: "language" } & LanguageState)
  | ({ readonly kind: "tasks" } & TasksState);

export function chosenIn(state: State): Choice {
  if (state.kind === "tasks") return state.exhibit;
  return state.model === ourModel ? ourModel : yourModel;
}

/** The state in which a model opens. */
export function firstStateOf(choice: Choice): State {
  return isTask(choice)
    ? { kind: "tasks", ...tasks, ...firstOf(choice) }
    : { kind: "language", ...initialOf(choice) };
}
