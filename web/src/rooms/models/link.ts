/** Reads and writes the room's part of the link. The view of the model reads all settings but `model`. */
import type { LinkReading } from "../../shared/room";
import { choiceOf } from "./choices";
import * as language from "./language/link";
import type { State } from "./state";
import * as tasks from "./tasks/link";
import * as yours from "./yours/link";

export function read(params: URLSearchParams): LinkReading<State> {
  const own = new URLSearchParams(params);
  const choice = choiceOf(own.get("model"));
  if (choice === "language" || own.get("model") === "yours") own.delete("model");
  if (choice === "language") {
    const { state, notices } = language.read(own);
    return { state: { kind: "language", ...state }, notices };
  }
  if (choice === "yours") {
    const { state, notices } = yours.read(own);
    return { state: { kind: "yours", ...state }, notices };
  }
  const { state, notices } = tasks.read(own);
  return { state: { kind: "tasks", ...state }, notices };
}

export function write(state: State): URLSearchParams {
  if (state.kind === "language") return language.write(state);
  if (state.kind === "tasks") return tasks.write(state);
  const params = new URLSearchParams({ model: "yours" });
  for (const [key, text] of yours.write(state)) params.set(key, text);
  return params;
}
