/** What each of the four panels is given. */
import type { Setter } from "../../shared/room";
import type { State } from "./state";

export interface PanelProps {
  state: State;
  set: Setter<State>;
}
