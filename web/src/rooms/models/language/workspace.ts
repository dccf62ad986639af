/** The state that the parts of the room share. */

import type { Cell } from "heed/view/parts";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Attention, Shares } from "../../../shared/attended";
import type { HeadKey } from "../../../shared/layerHeads";
import type { Setter } from "../../../shared/room";
import type { Live } from "../../../shared/Transport";
import type { OpenAnswer, WriteAnswer } from "./messages";
import type { State } from "./state";

/** The selected head on the text that is shown. */
export interface ShownHead {
  readonly attention: Attention;
  /** Of this head alone. */
  readonly shares: Shares;
}

export interface WriteWorkspace {
  readonly state: State;
  readonly opened: OpenAnswer;
  readonly answer: WriteAnswer;
  /** The token that the model has read last. */
  readonly place: number;
  readonly head: HeadKey;
  /** Null until it is computed. */
  readonly shown: ShownHead | null;
  readonly clock: Live;
  /** The cell that is pointed at or locked. */
  readonly active: Cell | null;
  /** Former continuations, the latest first. */
  readonly branches: readonly Branch[];
  set: Setter<State>;
  /** Goes to a token and stays there. */
  go(place: number): void;
  /** Writes more at the end, and plays it or takes one step. */
  writeOn(how: "play" | "step"): void;
  point(cell: Cell | null, by: "pointer" | "keyboard"): void;
  /** Locks a cell, or releases it. */
  press(cell: Cell): void;
  drop(head: HeadKey, isDropped: boolean): void;
  /** Takes a token after the current place; the model continues from there. */
  take(id: number): void;
  /** Takes a former continuation again. */
  takeAgain(branch: Branch): void;
}

export interface Branch {
  readonly kept: readonly number[];
  /** The text from the place on. */
  readonly pieces: readonly string[];
  /** The token before the one that was replaced. */
  readonly place: number;
}

export const WriteWorkspaceContext = createContext<WriteWorkspace | null>(null);

export function useWriteWorkspace(): WriteWorkspace {
  const workspace = useContext(WriteWorkspaceContext);
  if (!workspace) throw new Error("useWriteWorkspace needs a WriteWorkspaceContext around it");
  return workspace;
}
