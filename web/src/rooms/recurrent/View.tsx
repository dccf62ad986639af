/** The room "RNN, Bahdanau, self-attention": connects the link, the engine and the parts of the page. */
import { useMemo, useRef } from "preact/hooks";
import { Fold } from "../../shared/Fold";
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
import { NetworkPanel } from "./network/NetworkPanel";
import { Paths } from "./Paths";
import { Pointable } from "./Pointable";
import type { DateQuestion } from "./problem";
import { Scores } from "./Scores";
import { StepBar } from "./StepBar";
import type { DateSolution } from "./solve";
import { questionOf, type State } from "./state";
import { suggestions } from "./suggestions";
import { type RecurrentWorkspace, RecurrentWorkspaceContext } from "./workspace";

/** Until the answer to the typed text arrives, the last answer stays in its place, in grey. */
function useSolved(state: State) {
  const { text, between, slip } = state;
  const question = useMemo(() => questionOf(state), [text, between, slip]);
  const { answer, request, failure } = useAnswer("recurrent", question);
  const solved = useRef<{ solution: DateSolution; question: DateQuestion } | null>(null);
  if (answer?.kind === "solution" && request)
    solved.current = { solution: answer, question: request };
  const { solution = null, question: shown = question } = solved.current ?? {};
  const isStale = solution !== null && shown.text !== text;
  const unread = answer?.kind === "unread" && request?.text === text ? answer : null;
  const untaught = unread ?? (isStale ? null : (solution?.untaught ?? null));
  return { solution, shown, isStale, untaught, failure };
}

export function View({ state, set, notices }: RoomProps<State>) {
  const { restrictions } = useShell();
  const { solution, shown, isStale, untaught, failure } = useSolved(state);
  const { text, slip } = state;
  useFootnote(solution && `three models answered in ${solution.milliseconds.toFixed(0)} ms`);

  const source = useMemo(() => solution?.source ?? [...text], [solution, text]);
  const workspace: RecurrentWorkspace = {
    state: { ...state, text: shown.text, between: shown.between, slip: shown.slip },
    ...{ solution, source, set },
  };
  const isAlone = (panel: string) => restrictions.embed === panel;

  return (
    <RecurrentWorkspaceContext.Provider value={workspace}>
      <Pointable>
        <DateField
          {...{ state, set, untaught }}
          notices={failure ? [...notices, failure] : notices}
        />
        <Panel name="answers">
          <div class={isStale ? "stale" : undefined}>
            <Answers />
          </div>
        </Panel>
        <Controls state={state} />
        <div class={isStale ? "work column stale" : "work column"}>
          <div class="stepped column">
            {(shows(restrictions, "maps") || shows(restrictions, "decoding")) && <StepBar />}
            <Panel name="maps">
              <AlignmentMaps />
            </Panel>
            <Panel name="decoding">
              <Fold title="After a wrong character" isWanted={slip !== null || isAlone("decoding")}>
                <Decoding />
              </Fold>
            </Panel>
          </div>
          <Panel name="paths">
            <Paths />
          </Panel>
          <Panel name="scores">
            <Fold title="Unseen dates" isWanted={isAlone("scores")}>
              <Scores />
            </Fold>
          </Panel>
          <Panel name="network">
            <NetworkPanel isAlone={isAlone("network")} />
          </Panel>
        </div>
        <TryNext suggestions={suggestions} />
      </Pointable>
    </RecurrentWorkspaceContext.Provider>
  );
}
