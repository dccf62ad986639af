/**
 * The room "RNN, Bahdanau, self-attention": connects the link, the engine and the active cell to the parts of the page.
 */
import { useMemo, useRef } from "preact/hooks";
import { Panel } from "../../shared/Panel";
import { shows } from "../../shared/restrictions";
import type { RoomProps } from "../../shared/room";
import { useFootnote, useShell } from "../../shared/shell";
import { TryNext } from "../../shared/TryNext";
import { useAnswer } from "../../worker/engineClient";
import { AlignmentMaps } from "./AlignmentMaps";
import { Answers } from "./Answers";
import { Controls } from "./Controls";
import { DateField } from "./DateField";
import { Decoding } from "./Decoding";
import { Paths } from "./Paths";
import { Pointable } from "./Pointable";
import type { DateQuestion, DateSolution } from "./problem";
import { Scores } from "./Scores";
import { StepBar } from "./StepBar";
import { questionOf, type State } from "./state";
import { suggestions } from "./suggestions";
import { type RecurrentWorkspace, RecurrentWorkspaceContext } from "./workspace";

interface SolvedQuestion {
  readonly solution: DateSolution;
  readonly question: DateQuestion;
}

export function View({ state, set, notices: linkNotices }: RoomProps<State>) {
  const { restrictions } = useShell();
  const { text, between, slip } = state;
  const question = useMemo(() => questionOf(state), [text, between, slip]);
  const { answer, request, failure } = useAnswer("recurrent", question);

  // The last date stays in view while the input cannot be read.
  const solved = useRef<SolvedQuestion | null>(null);
  if (answer?.kind === "solution" && request)
    solved.current = { solution: answer, question: request };
  const { solution = null, question: shown = question } = solved.current ?? {};
  const why = answer?.kind === "unread" ? answer.why : null;
  useFootnote(
    solution && `three models answered and were taught in ${solution.milliseconds.toFixed(0)} ms`,
  );

  const source = useMemo(() => solution?.source ?? [...text], [solution, text]);
  const workspace: RecurrentWorkspace = {
    state: { ...state, text: shown.text, between: shown.between, slip: shown.slip },
    ...{ solution, source, set },
  };
  const notices = [...(failure ? [failure] : []), ...(why ? [why] : []), ...linkNotices];

  return (
    <RecurrentWorkspaceContext.Provider value={workspace}>
      <Pointable>
        <DateField state={state} set={set} notices={notices} />
        <Panel name="answers">
          <Answers />
        </Panel>
        <Controls state={state} />
        <div class="work">
          <div class="stepped">
            {(shows(restrictions, "maps") || shows(restrictions, "decoding")) && <StepBar />}
            <Panel name="maps">
              <AlignmentMaps />
            </Panel>
            <Panel name="decoding">
              <Decoding />
            </Panel>
          </div>
          <Panel name="paths">
            <Paths />
          </Panel>
          <Panel name="scores">
            <Scores />
          </Panel>
        </div>
        <TryNext suggestions={suggestions} />
      </Pointable>
    </RecurrentWorkspaceContext.Provider>
  );
}
