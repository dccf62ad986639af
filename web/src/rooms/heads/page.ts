/** What every part of the room shares. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Setter } from "../../shared/room";
import type { Scene } from "./scene";
import type { HeadKey } from "./seen";
import type { CellAt, State } from "./state";

export interface Page {
  readonly state: State;
  readonly scene: Scene;
  /** The cell that is pointed at or kept. */
  readonly active: CellAt | null;
  set: Setter<State>;
  point(cell: CellAt | null, by: "pointer" | "keyboard"): void;
  /** Keeps a cell, or lets go of it. */
  press(cell: CellAt): void;
  /** Takes heads away, or gives them back. */
  drop(heads: readonly HeadKey[], isDropped: boolean): void;
}

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error("usePage needs a PageContext around it");
  return page;
}
