/** The words and the formulas of a stage. */
import { Prose } from "../../shared/Panel";
import { AfterAttention } from "./AfterAttention";
import { type Formula, Formulas } from "./formulas";
import { Words } from "./Words";
import { useStepsWorkspace } from "./workspace";

export function StageWords({
  gist,
  explanation,
  formulas,
}: {
  gist: string;
  /** Its words may be marked; see Words.tsx. */
  explanation: string;
  formulas: readonly Formula[];
}) {
  const { state } = useStepsWorkspace();
  return (
    <>
      <Prose class="stage-gist faint">{gist}</Prose>
      <div class="stage-words">
        <Prose>
          <Words text={explanation} /> <AfterAttention state={state} />
        </Prose>
        <div class="stage-formulas">
          <Formulas formulas={formulas} />
        </div>
      </div>
    </>
  );
}
