/** The state that the parts of the room share after a model has read a text. */

import type { Cell } from "heed/view/parts";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Attention } from "../../../shared/attended";
import type { HeadKey } from "../../../shared/layerHeads";
import type { Setter } from "../../../shared/room";
import type { HeadShares } from "../../../worker/languageHeads";
import type { Card, NextAnswer, OtherAnswer, ReadAnswer, ReadHead } from "./messages";
import type { State } from "./state";

/** One head on a text. */
export interface ShownHead {
  readonly attention: Attention;
  /** Of this head alone. */
  readonly shares: HeadShares;
  /** How many keys up to its own a query sees; null for all. */
  readonly window: number | null;
}

export interface YoursWorkspace {
  readonly state: State;
  readonly card: Card;
  readonly answer: ReadAnswer;
  /** Layer by layer, computed without the dropped ones. */
  readonly heads: readonly ReadHead[];
  /** The dropped heads of the state that this model has. */
  readonly dropped: readonly HeadKey[];
  /** Null until it is computed. */
  readonly next: NextAnswer | null;
  /** The selected token. */
  readonly place: number;
  readonly head: HeadKey;
  /** Null until it is computed. */
  readonly shown: ShownHead | null;
  /** The same head on the text to compare with. */
  readonly other: OtherAnswer | null;
  readonly whyNotOther: string | null;
  /** The cell that is pointed at or locked. */
  readonly active: Cell | null;
  /** Whether the text is being read. */
  readonly isBusy: boolean;
  set: Setter<State>;
  point(cell: Cell | null, by: "pointer" | "keyboard"): void;
  /** Locks a cell, or releases it. */
  press(cell: Cell): void;
  drop(head: HeadKey, isDropped: boolean): void;
  /** Takes a token after the selected one; the model's text ends with it. */
  take(id: number, place: number): void;
}

export const YoursWorkspaceContext = createContext<YoursWorkspace | null>(null);

export function useYoursWorkspace(): YoursWorkspace {
  const workspace = useContext(YoursWorkspaceContext);
  if (!workspace) throw new Error("useYoursWorkspace needs a YoursWorkspaceContext around it");
  return workspace;
}
