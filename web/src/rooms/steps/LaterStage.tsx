/** A stage after attention. Its pictures are loaded when they are first needed. */
import { useModule } from "../../shared/useModule";
import { kitFor } from "./formulas";
import { StageWords } from "./StageWords";
import { useStepsWorkspace } from "./workspace";

/** Its explanation and its formulas. */
export function LaterWords() {
  const { state, attention } = useStepsWorkspace();
  const { module } = useModule(() => import("./blockWords"));
  const { model } = attention;
  return module && model && <StageWords {...module.blockWordsOf(state, model, kitFor(model))} />;
}

export function LaterStage() {
  const { state, attention, set, solution } = useStepsWorkspace();
  const { module, hasFailed } = useModule(() => import("./BlockStage"));
  if (module) return <module.BlockStage {...{ state, attention, set, solution }} />;
  return (
    <p class="stage-figure faint">
      {hasFailed && "The picture could not be loaded. Is there a connection?"}
    </p>
  );
}
