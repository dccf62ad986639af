/** What every part of the room shares: the state, the engine's answer to it, and what is lit. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Setter } from "../../shared/room";
import type { MatrixArea } from "./explain";
import type { Solution } from "./problem";
import type { CellRef, Scene, State } from "./state";
import type { Unfolding } from "./unfolding";

export interface Page {
  /** The settings that `solution` answers, under the present look: controls may be one answer ahead of the pictures. */
  readonly state: State;
  readonly scene: Scene;
  /** Null until the engine has answered, and while there is no token. */
  readonly solution: Solution | null;
  /** The cell that is pointed at or locked, and what it was made of. */
  readonly active: CellRef | null;
  readonly highlights: readonly MatrixArea[];
  /** How far the stage's computation is shown; null when all of it is. */
  readonly unfolding: Unfolding | null;
  set: Setter<State>;
  /** Whether the kept cell was chosen just now, and not by a link or by moving along. */
  readonly justLocked: { current: boolean };
  point(cell: CellRef | null, by: "pointer" | "keyboard"): void;
  lock(cell: CellRef): void;
}

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error("usePage needs a PageContext around it");
  return page;
}
