/** The state of the room: which kind of model is open, and the state of its view. */
import type { Choice } from "./choices";
import { type State as LanguageState, initialState as language } from "./language/state";
import type { ExhibitId } from "./tasks/catalogue";
import { firstOf, type State as TasksState, initialState as tasks } from "./tasks/state";
import { type State as YoursState, initialState as yours } from "./yours/state";

export type State =
  | ({ readonly kind: "language" } & LanguageState)
  | ({ readonly kind: "tasks" } & TasksState)
  | ({ readonly kind: "yours" } & YoursState);

export function chosenIn(state: State): Choice {
  return state.kind === "tasks" ? state.exhibit : state.kind;
}

/** The state in which a model opens. */
export function firstStateOf(choice: Choice): State {
  if (choice === "language") return { kind: "language", ...language };
  if (choice === "yours") return { kind: "yours", ...yours };
  return { kind: "tasks", ...tasks, ...firstOf(choice satisfies ExhibitId) };
}
