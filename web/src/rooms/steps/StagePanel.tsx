/** The current stage in detail: explanation, formula, picture, and the formula of one cell. */

import { useLayoutEffect, useState } from "preact/hooks";
import type { Explanation } from "#parts";
import { Readout } from "../../shared/Readout";
import { hides } from "../../shared/restrictions";
import { useShell } from "../../shared/shell";
import { useWidth } from "../../shared/useWidth";
import { EditCell } from "./EditCell";
import { StageFormulas } from "./formulas";
import { HeadPicker } from "./HeadPicker";
import { Player } from "./Player";
import { StageFigure } from "./StageFigure";
import { allStages } from "./stages";
import { useMotion } from "./useMotion";
import type { Told } from "./useStory";
import { Words } from "./Words";
import { useStepsWorkspace } from "./workspace";

/** The maximum number of tokens at which the explanation fits next to the picture. */
const fewTokens = 14;

export function StagePanel({ explanation, told }: { explanation: Explanation | null; told: Told }) {
  const { state, attention } = useStepsWorkspace();
  const { restrictions } = useShell();
  const [ref, width] = useWidth<HTMLDivElement>();
  const [isWider, setWider] = useState(false);
  // Measures before any part of the picture moves.
  useLayoutEffect(() => {
    const { scrollWidth, clientWidth } = ref.current ?? { scrollWidth: 0, clientWidth: 0 };
    setWider(scrollWidth > clientWidth + 1);
  }, [state.stage, attention, width]);
  useMotion(ref, width, told.pace(told.index));
  const stage = allStages[state.stage];
  const many = Math.max(attention.queries.tokens.length, attention.keys.tokens.length) > fewTokens;
  return (
    <>
      <h2 class="only-heard">{stage.title}</h2>
      <div class="stage-bar">
        <Player told={told} />
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
          {!hides(restrictions, "text") && (
            <p>
              <Words text={stage.explain(state, attention)} />
            </p>
          )}
          <StageFormulas state={state} attention={attention} />
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
