/** The props of the four panels. */
import type { Setter } from "../../shared/room";
import type { State } from "./state";

export interface PanelProps {
  state: State;
  set: Setter<State>;
}
