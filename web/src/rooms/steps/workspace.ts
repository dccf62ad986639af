/** The values that the parts of the room share. */
import { workspaceIn } from "../../shared/workspaceIn";
import type { Shown } from "./unfolding";
import type { Pointing } from "./usePointing";
import type { Told } from "./useStory";

export interface StepsWorkspace extends Shown, Told, Pointing {}

export const [StepsWorkspaceContext, useStepsWorkspace] = workspaceIn<StepsWorkspace>();
