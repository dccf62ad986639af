/** The values that the parts of the room share in addition to the solution: the state and the highlights. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Setter } from "../../shared/room";
import type { MatrixArea } from "./explain";
import type { MatrixCell, State } from "./settings";
import type { StageName } from "./stageNames";
import type { SentenceAttention } from "./state";
import type { Unfolding } from "./unfolding";

export interface StepsWorkspace {
  /**
   * The settings of the solution with the current presentation. The controls may be one answer ahead of the pictures.
   */
  readonly state: State;
  readonly attention: SentenceAttention;
  /** The cell that a person points at or locks; its sources follow below. */
  readonly active: MatrixCell | null;
  readonly highlights: readonly MatrixArea[];
  /** How far the stage's computation is shown; null if it is complete. */
  readonly unfolding: Unfolding | null;
  set: Setter<State>;
  /** Shows a completed stage, as a new entry of the browser's history. */
  showStage(stage: StageName): void;
  /** Whether the person has just locked the cell. A link and the cursor do not count. */
  readonly justLocked: { current: boolean };
  point(cell: MatrixCell | null, by: "pointer" | "keyboard"): void;
  lock(cell: MatrixCell): void;
}

export const StepsWorkspaceContext = createContext<StepsWorkspace | null>(null);

export function useStepsWorkspace(): StepsWorkspace {
  const workspace = useContext(StepsWorkspaceContext);
  if (!workspace) throw new Error("useStepsWorkspace needs a StepsWorkspaceContext around it");
  return workspace;
}
