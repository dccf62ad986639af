/** The one transport of the room: it moves through all stages, and through each of them number by number. */

import { Transport } from "../../shared/Transport";
import { titles } from "./stages";
import { momentWords } from "./unfolding";
import type { Told } from "./useStory";
import { useStepsWorkspace } from "./workspace";

export function Player({ told: { story, index, go, live } }: { told: Told }) {
  const { state, attention, unfolding } = useStepsWorkspace();
  return (
    <div class="player">
      <Transport
        index={index}
        count={story.count}
        unit="Moment"
        label="The computation"
        title={titles[state.stage]}
        go={go}
        live={live}
      />
      <span class="faint made">{unfolding ? momentWords(unfolding, attention) : "complete"}</span>
    </div>
  );
}
