/** Reads and writes the room's part of the link, of which `model` chooses the view that reads the rest. */
import type { LinkReading } from "../../shared/room";
import { isTask } from "./choices";
import * as language from "./language/link";
import type { State } from "./state";
import * as tasks from "./tasks/link";

export function read(params: URLSearchParams): LinkReading<State> {
  if (isTask(params.get("model"))) {
    const { state, notices } = tasks.read(params);
    return { state: { kind: "tasks", ...state }, notices };
  }
  const { state, notices } = language.read(params);
  return { state: { kind: "language", ...state }, notices };
}

export function write(state: State): URLSearchParams {
  return state.kind === "tasks" ? tasks.write(state) : language.write(state);
}
