/** The current stage in detail: explanation, formula, picture, and the formula of one cell. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { Readout } from "../../shared/Readout";
import { Transport } from "../../shared/Transport";
import { useModule } from "../../shared/useModule";
import { useWidth } from "../../shared/useWidth";
import { EditCell } from "./EditCell";
import { kitFor, stageFormulas } from "./formulas";
import { HeadPicker } from "./HeadPicker";
import { StageFigure } from "./StageFigure";
import { StageWords } from "./StageWords";
import { type AttentionStage as AttentionStageName, isBlockStage, titles } from "./stageNames";
import { stageWords } from "./stages";
import { momentWords } from "./unfolding";
import { useMotion } from "./useMotion";
import { useStepsWorkspace } from "./workspace";

/** The maximum number of tokens at which the explanation fits next to the picture. */
const fewTokens = 14;

/** The one transport of the room: it moves through all stages, and through each of them number by number. */
function Player() {
  const { state, attention, unfolding, story, index, go, live } = useStepsWorkspace();
  return (
    <div class="player">
      <Transport
        {...{ index, count: story.count, go, live, title: titles[state.stage] }}
        unit="Moment"
        label="The computation"
        note={
          <span class="faint made small truncated">
            {unfolding ? momentWords(unfolding, attention) : "complete"}
          </span>
        }
      />
    </div>
  );
}

/** The picture of a stage of attention, and the formula of one cell. */
function AttentionStage() {
  const { state, attention, explanation, pace, index } = useStepsWorkspace();
  const [ref, width] = useWidth<HTMLDivElement>();
  const [isWider, setWider] = useState(false);
  // Measures before any part of the picture moves.
  useLayoutEffect(() => {
    const { scrollWidth, clientWidth } = ref.current ?? { scrollWidth: 0, clientWidth: 0 };
    setWider(scrollWidth > clientWidth + 1);
  }, [state.stage, attention, width]);
  useMotion(ref, width, pace(index));
  return (
    <>
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
    </>
  );
}

function AttentionWords({ stage }: { stage: AttentionStageName }) {
  const { state, attention } = useStepsWorkspace();
  return (
    <StageWords
      explanation={stageWords[stage](state, attention)}
      formulas={stageFormulas[stage](state, attention)}
    />
  );
}

/** The words of a stage after attention. They and its picture are loaded when they are first needed. */
function LaterWords() {
  const { state, attention } = useStepsWorkspace();
  const { module } = useModule(() => import("./blockWords"));
  const { model } = attention;
  return module && model && <StageWords {...module.blockWordsOf(state, model, kitFor(model))} />;
}

function LaterStage() {
  const { state, attention, set, solution } = useStepsWorkspace();
  const { module, hasFailed } = useModule(() => import("./BlockStage"));
  if (module) return <module.BlockStage {...{ state, attention, set, solution }} />;
  return (
    <p class="stage-figure faint">
      {hasFailed && "The picture could not be loaded. Is there a connection?"}
    </p>
  );
}

/** @param progress how much of a model has come, shown over the picture that waits for it */
export function StagePanel({ progress }: { progress: ComponentChildren }) {
  const { state, attention } = useStepsWorkspace();
  const { stage } = state;
  const isLater = isBlockStage(stage);
  const many =
    !isLater && Math.max(attention.queries.tokens.length, attention.keys.tokens.length) > fewTokens;
  return (
    <>
      <h2 class="only-heard">{titles[stage]}</h2>
      <div class="stage-bar line">
        <Player />
        <HeadPicker />
      </div>
      <div
        class={`stage column ${many ? "many" : ""} ${state.vectors === "learned" ? "large" : ""}`}
        id="stage"
        role="tabpanel"
        aria-labelledby={`tab-${state.stage}`}
      >
        {isBlockStage(stage) ? <LaterWords /> : <AttentionWords stage={stage} />}
        {progress && <div class="stage-loading">{progress}</div>}
        {isLater ? <LaterStage /> : <AttentionStage />}
      </div>
    </>
  );
}
