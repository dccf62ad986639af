/** The input of a model, and a description of the model. */

import { formatShort } from "#parts";
import { type ExhibitId, exhibitOf } from "../../../shared/catalogue";
import { Notices } from "../../../shared/Notices";
import { Lockable, Panel } from "../../../shared/Panel";
import { hides } from "../../../shared/restrictions";
import type { Setter } from "../../../shared/room";
import { SentenceArea } from "../../../shared/SentenceArea";
import { useShell } from "../../../shared/shell";
import type { HeadsAnswer } from "./answer";
import { firstOf, type State, seeds, withInput } from "./state";

interface AboutModelProps {
  exhibit: ExhibitId;
  answer: HeadsAnswer | null;
  known: readonly string[];
}

/** The task of the model, its size and accuracy, and every token of its vocabulary. */
function AboutModel({ exhibit, answer, known }: AboutModelProps) {
  const { parameters, examples, exact } = answer?.model ?? {};
  const heads = answer?.attentions.reduce((sum, each) => sum + each.heads, 0);
  return (
    <details class="about-model">
      <summary>About this model</summary>
      <p>
        It {exhibitOf(exhibit).does}.{" "}
        {answer?.exhibit === exhibit &&
          `It has ${heads} heads and ${parameters?.toLocaleString("en")} parameters, and answered ${formatShort(100 * (exact ?? 0))} % of ${examples} unseen examples correctly.`}
      </p>
      {known.length > 0 && (
        <p class="faint known small">
          It knows {known.map((token) => (token === " " ? "space" : token)).join("  ")}
        </p>
      )}
    </details>
  );
}

interface InputPanelProps {
  state: State;
  set: Setter<State>;
  answer: HeadsAnswer | null;
  known: readonly string[];
  notices: readonly string[];
}

export function InputPanel({ state, set, answer, known, notices }: InputPanelProps) {
  const { restrictions } = useShell();
  const { exhibit, text, seed } = state;
  const { field } = exhibitOf(exhibit);
  const first = firstOf(exhibit);
  const isFirst = text === first.text && (text !== null || seed === first.seed);
  const drawn = answer?.exhibit === exhibit ? answer.text : "";
  // The next example after typed text is the first one.
  const next = text === null ? (seed % seeds.max) + 1 : 1;
  return (
    <section class="input" aria-label="The input">
      <Panel name="input">
        <Lockable>
          {field !== null && (
            <SentenceArea
              id="heads-text"
              label={
                <>
                  {field.label} <span class="field-limits small faint">{field.limits}</span>
                </>
              }
              autocomplete="off"
              autocapitalize="off"
              value={text ?? drawn}
              onInput={(value) => set(withInput({ text: value.replace(/\s*\n\s*/g, " ") }))}
            />
          )}
          <div class="input-options line">
            <button type="button" onClick={() => set(withInput({ seed: next }))}>
              Another<span class="wide-only"> example</span>
            </button>
            {!isFirst && (
              <button type="button" class="link" onClick={() => set(firstOf(exhibit))}>
                Back<span class="wide-only"> to the first one</span>
              </button>
            )}
            {!hides(restrictions, "text") && (
              <AboutModel exhibit={exhibit} answer={answer} known={known} />
            )}
          </div>
        </Lockable>
      </Panel>
      <Notices notices={notices} />
    </section>
  );
}
