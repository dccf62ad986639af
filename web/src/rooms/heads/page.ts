/** What the parts of the room share. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Setter } from "../../shared/room";
import type { Scene } from "./scene";
import type { HeadKey } from "./seen";
import type { CellAt, State } from "./state";

export interface Page {
  readonly state: State;
  readonly scene: Scene;
  /** The cell that is pointed at or locked. */
  readonly active: CellAt | null;
  set: Setter<State>;
  point(cell: CellAt | null, by: "pointer" | "keyboard"): void;
  /** Locks a cell, or releases it. */
  press(cell: CellAt): void;
  /** Drops heads, or restores them. */
  drop(heads: readonly HeadKey[], isDropped: boolean): void;
}

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error("usePage needs a PageContext around it");
  return page;
}
