/** The values that the parts of the room share. */
import type { Setter } from "../../shared/room";
import { workspaceIn } from "../../shared/workspaceIn";
import type { MatrixArea } from "./explain";
import type { Solution } from "./problem";
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
  /** Null before the first answer. */
  readonly solution: Solution | null;
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

export const [StepsWorkspaceContext, useStepsWorkspace] = workspaceIn<StepsWorkspace>();
