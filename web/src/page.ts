/** What every part of the page shares: the state, the engine's answer to it, and what is lit. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Theme } from "./colour";
import type { LightOn } from "./explain";
import type { Solution } from "./protocol";
import type { CellRef, Scene, State } from "./state";

/** Changes some settings; a function is given the very latest ones. */
export type Setter = (change: Partial<State> | ((now: State) => Partial<State>)) => void;

export interface Page {
  /** The settings that `solution` answers, under the present look: controls may be one answer ahead of the pictures. */
  readonly state: State;
  readonly scene: Scene;
  /** Null until the engine has answered, and while there is no token. */
  readonly solution: Solution | null;
  readonly theme: Theme;
  /** The cell that is pointed at or locked, and what it was made of. */
  readonly active: CellRef | null;
  readonly lights: readonly LightOn[];
  set: Setter;
  point(cell: CellRef | null, by: "pointer" | "keyboard"): void;
  lock(cell: CellRef): void;
}

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error("usePage needs a PageContext around it");
  return page;
}
