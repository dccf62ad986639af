/** The values that the parts of the view share. */

import type { Cell, Explanation } from "#parts";
import type { Setter } from "../../../shared/room";
import { workspaceIn } from "../../../shared/workspaceIn";
import type { HeadSelection } from "./selection";
import type { State } from "./state";

export interface HeadsWorkspace {
  readonly state: State;
  readonly selection: HeadSelection;
  /** The cell that a person points at or locks. */
  readonly active: Cell | null;
  readonly explanation: Explanation | null;
  set: Setter<State>;
  point(cell: Cell | null, by: "pointer" | "keyboard"): void;
  /** Locks a cell, or releases it. */
  press(cell: Cell): void;
}

export const [HeadsWorkspaceContext, useHeadsWorkspace] = workspaceIn<HeadsWorkspace>();
