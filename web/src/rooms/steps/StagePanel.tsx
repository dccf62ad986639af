/** The current stage in detail: explanation, formula, picture, and the formula of one cell. */

import type { Explanation } from "heed/view/parts";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { Readout } from "../../shared/Readout";
import { hides } from "../../shared/restrictions";
import { useShell } from "../../shared/shell";
import { useWidth } from "../../shared/useWidth";
import { EditCell } from "./EditCell";
import { stageFormulas } from "./formulas";
import { HeadPicker } from "./HeadPicker";
import { StageFigure } from "./StageFigure";
import { allStages } from "./stages";
import { useMotion } from "./useMotion";
import { useStepsWorkspace } from "./workspace";

/** The maximum number of tokens at which the explanation fits next to the picture. */
const fewTokens = 14;
export function StagePanel({
  explanation,
  player,
  pace,
}: {
  explanation: Explanation | null;
  player: ComponentChildren;
  /** How long playing shows the moment, in milliseconds. */
  pace: number;
}) {
  const { state, attention } = useStepsWorkspace();
  const { restrictions } = useShell();
  const [ref, width] = useWidth<HTMLDivElement>();
  const [isWider, setWider] = useState(false);
  // Measures before any part of the picture moves.
  useLayoutEffect(() => {
    const { scrollWidth, clientWidth } = ref.current ?? { scrollWidth: 0, clientWidth: 0 };
    setWider(scrollWidth > clientWidth + 1);
  }, [state.stage, attention, width]);
  useMotion(ref, width, pace);
  const stage = allStages[state.stage];
  const many = Math.max(attention.queries.tokens.length, attention.keys.tokens.length) > fewTokens;
  return (
    <>
      <h2 class="only-heard">{stage.title}</h2>
      <div class="stage-bar">
        {player}
        <HeadPicker />
      </div>
      <div
        class={many ? "stage many" : "stage"}
        id="stage"
        role="tabpanel"
        aria-labelledby={`tab-${state.stage}`}
      >
        {!hides(restrictions, "text") && (
          <p class="stage-gist faint">{stage.gist(state, attention)}</p>
        )}
        <div class="stage-words">
          {!hides(restrictions, "text") && <p>{stage.explain(state, attention)}</p>}
          {stageFormulas[state.stage](state, attention)}
        </div>
        <div class="stage-figure">
          <div ref={ref} class="scroll">
            {width > 0 && <StageFigure width={width} />}
          </div>
          {isWider && <p class="wider faint">The picture goes on to the right: scroll it. →</p>}
        </div>
        <div class="stage-cell">
          <Readout explanation={explanation} locked={state.cell !== null} />
          <EditCell />
        </div>
      </div>
    </>
  );
}
