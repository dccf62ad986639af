/** All stages of the room on one timeline. */
import { paceOf, placeAt, type Story, storyOf as storyOfStages } from "#parts";
import type { MatrixName } from "./matrices";
import type { State } from "./settings";
import { type StageName, stagesOf } from "./stageNames";
import { hidesAny, type SentenceAttention } from "./state";
import { timelineOf } from "./unfolding";

export function storyOf(state: State, attention: SentenceAttention): Story<StageName, MatrixName> {
  return storyOfStages(stagesOf(state), (stage) => timelineOf({ ...state, stage }, attention));
}

/** The milliseconds of each moment. Playing passes over the stage of the mask if it hides nothing. */
export function playPaceOf(
  story: Story<StageName, MatrixName>,
  state: State,
  attention: SentenceAttention,
): (index: number) => number {
  const pace = paceOf(story);
  if (hidesAny(state, attention)) return pace;
  return (index) => (placeAt(story, index).stage === "masked" ? 0 : pace(index));
}
