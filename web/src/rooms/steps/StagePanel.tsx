/** The current stage in detail: explanation, formula, picture, and the formula of one cell. */

import { ColourChoice } from "../../picture/ColourChoice";
import type { Explanation } from "../../shared/explanation";
import { Readout } from "../../shared/Readout";
import { hides } from "../../shared/restrictions";
import { useShell } from "../../shared/shell";
import { Transport } from "../../shared/Transport";
import { useWidth } from "../../shared/useWidth";
import { Computation } from "./Computation";
import { EditCell } from "./EditCell";
import { stageFormulas } from "./formulas";
import { HeadPicker } from "./HeadPicker";
import { isShare } from "./matrices";
import { Sharpness } from "./Sharpness";
import { StageFigure } from "./StageFigure";
import { type StageName, stageNames } from "./stageNames";
import { allStages, picturesOf } from "./stages";
import { toStage } from "./state";
import { useStepsWorkspace } from "./workspace";

/** Up to this many tokens the explanation fits beside the picture. */
const fewTokens = 14;
/** Milliseconds per stage while playing: time to read the explanation. */
const reading = 4000;
const stagesWithWeights = ["weights", "output"];
/** The stages that show how concentrated the weights are. */
const stagesOfSoftmax = ["scaled", "masked", "weights", "output"];

export function StagePanel({ explanation }: { explanation: Explanation | null }) {
  const { state, attention, set } = useStepsWorkspace();
  const { restrictions } = useShell();
  const [ref, width] = useWidth<HTMLDivElement>();
  const index = stageNames.indexOf(state.stage);
  const stage = allStages[state.stage];
  const showsWeights =
    stagesWithWeights.includes(state.stage) || picturesOf(state.stage, state.example).some(isShare);
  const many = Math.max(attention.queries.tokens.length, attention.keys.tokens.length) > fewTokens;
  return (
    <>
      <h2 class="only-heard">{stage.title}</h2>
      <div class="stage-bar">
        <Transport
          index={index}
          count={stageNames.length}
          title={stage.title}
          label="Stages"
          pace={reading}
          go={(next) => set(toStage(stageNames[next] as StageName))}
        />
        <HeadPicker />
      </div>
      <div
        class={many ? "stage many" : "stage"}
        id="stage"
        role="tabpanel"
        aria-labelledby={`tab-${state.stage}`}
      >
        <div class="stage-words">
          {!hides(restrictions, "text") && <p>{stage.explain(state, attention)}</p>}
          {stageFormulas[state.stage](state, attention)}
        </div>
        <div class="stage-figure">
          <div ref={ref} class="scroll">
            {width > 0 && <StageFigure width={width} />}
          </div>
          <Computation />
        </div>
        <div class="stage-cell">
          <Readout explanation={explanation} locked={state.cell !== null} />
          <EditCell />
        </div>
        <div class="stage-more">
          {showsWeights && <ColourChoice range={state.range} curve={state.curve} onChange={set} />}
          {stagesOfSoftmax.includes(state.stage) && <Sharpness />}
        </div>
      </div>
    </>
  );
}
