/** The words and the formulas of a stage. */
import { Prose } from "../../shared/Panel";
import { isFree } from "../../shared/restrictions";
import { useShell } from "../../shared/shell";
import { type Formula, Formulas } from "./formulas";
import { write } from "./link";
import { kindOf, type MatrixName } from "./matrices";
import { toStage, withLearned } from "./state";
import { useStepsWorkspace } from "./workspace";

function Word({ text, matrix }: { text: string; matrix: MatrixName }) {
  const { role } = kindOf(matrix);
  // A button, so that it can be reached by keyboard and by touch.
  return (
    <button type="button" class={role ? `word role-${role}` : "word"} data-highlights={matrix}>
      {text}
    </button>
  );
}

const marked = /\[([^\]]+)\]\((\w+)\)/;

/**
 * Text with words that highlight their parts of the picture, written as [word](matrix). usePointing.ts handles every
 * element with `data-highlights`.
 */
function Words({ text }: { text: string }) {
  // Every third part is text without marks. The others are words and their matrices.
  const parts = text.split(marked);
  return parts.map((part, i) => {
    if (i % 3 === 0) return part;
    return i % 3 === 1 && <Word key={i} text={part} matrix={parts[i + 1] as MatrixName} />;
  });
}

/** A sentence about the rest of a trained layer, shown for vectors that have no model. */
function AfterAttention() {
  const { state } = useStepsWorkspace();
  const { restrictions } = useShell();
  if (state.stage !== "joined" || state.vectors === "learned") return null;
  const words = "Add & Norm and a feed-forward network";
  const learned = { ...state, ...withLearned(), ...toStage("addnorm") };
  return (
    <>
      In a trained model,{" "}
      {isFree(restrictions) ? <a href={`#${write(learned)}`}>{words}</a> : words} follow.
    </>
  );
}

export interface StageText {
  /** Its words may be marked. */
  explanation: string;
  formulas: readonly Formula[];
}

/** The explanation in one line: its beginning, without marks. */
const gistOf = (explanation: string) =>
  `${explanation.replaceAll(/\[([^\]]+)\]\(\w+\)/g, "$1").split(/[:.](?=\s|$)/)[0]}.`;

export function StageWords({ explanation, formulas }: StageText) {
  return (
    <>
      <Prose class="stage-gist faint small truncated">{gistOf(explanation)}</Prose>
      <div class="stage-words">
        <Prose>
          <Words text={explanation} /> <AfterAttention />
        </Prose>
        <div class="stage-formulas">
          <Formulas formulas={formulas} />
        </div>
      </div>
    </>
  );
}
