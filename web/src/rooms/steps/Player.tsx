/** The one transport of the room: it moves through all stages, and through each of them number by number. */

import type { Story } from "heed/view/parts";
import { type Live, Transport } from "../../shared/Transport";
import { allStages } from "./stages";
import { momentWords } from "./unfolding";
import { useStepsWorkspace } from "./workspace";

export function Player({
  story,
  index,
  go,
  live,
}: {
  story: Story;
  index: number;
  go(index: number): void;
  live: Live;
}) {
  const { state, attention, unfolding } = useStepsWorkspace();
  return (
    <div class="player">
      <Transport
        index={index}
        count={story.count}
        unit="Moment"
        label="The computation"
        title={allStages[state.stage].title}
        go={go}
        live={live}
      />
      <span class="faint made">{unfolding ? momentWords(unfolding, attention) : "complete"}</span>
    </div>
  );
}
