/** All stages of the room on one timeline, from the tokens to the joined heads. */
import { type Story, storyOf as storyOfStages } from "heed/view/parts";
import type { MatrixName } from "./matrices";
import { type StageName, stageNames } from "./stageNames";
import type { SentenceAttention, State } from "./state";
import { timelineOf } from "./unfolding";

export function storyOf(state: State, attention: SentenceAttention): Story<StageName, MatrixName> {
  return storyOfStages(stageNames, (stage) => timelineOf({ ...state, stage }, attention));
}
