/** The state of the room, which the chosen model determines, and its part of the link. */

import { type ExhibitId, exhibitIds, exhibitOf } from "../../shared/catalogue";
import type { LinkReading } from "../../shared/room";
import * as language from "./language/state";
import * as tasks from "./tasks/state";

const { ourModel, yourModel } = language;

/** The page's own language model, a small model trained for one task, or a model of the person. */
export type Choice = typeof ourModel | ExhibitId | typeof yourModel;

/** The models that the room offers, and their names in links. */
export const choiceNames: readonly (readonly [Choice, string])[] = [
  [ourModel, "our language model"],
  // The others may be scrolled out of view on a phone.
  [yourModel, "open yours"],
  ...exhibitIds.map((id) => [id, exhibitOf(id).name] as const),
];

function isTask(name: string | null): name is ExhibitId {
  return (exhibitIds as (string | null)[]).includes(name);
}

export type State =
  | ({ readonly kind: "language" } & language.State)
  | ({ readonly kind: "tasks" } & tasks.State);

export function chosenIn(state: State): Choice {
  if (state.kind === "tasks") return state.exhibit;
  return state.model === ourModel ? ourModel : yourModel;
}

/** The state in which a model opens. */
export function firstStateOf(choice: Choice): State {
  return isTask(choice)
    ? { kind: "tasks", ...tasks.initialState, ...tasks.firstOf(choice) }
    : { kind: "language", ...language.initialOf(choice) };
}

export function read(params: URLSearchParams): LinkReading<State> {
  const kind = isTask(params.get("model")) ? "tasks" : "language";
  const { state, notices } = { tasks, language }[kind].read(params);
  return { state: { kind, ...state } as State, notices };
}

export function write(state: State): URLSearchParams {
  return state.kind === "tasks" ? tasks.write(state) : language.write(state);
}
