/** The view of task models: connects the link, the trained model and the active cell to the parts of the page. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Cell, explanationText } from "#parts";
import { Announced } from "../../../shared/Announced";
import { HeadLook } from "../../../shared/HeadLook";
import { type HeadKey, missingHeads } from "../../../shared/layerHeads";
import { Panel } from "../../../shared/Panel";
import { shows } from "../../../shared/restrictions";
import type { RoomProps, Setter } from "../../../shared/room";
import { SettingsPanel } from "../../../shared/SettingsPanel";
import { Stale } from "../../../shared/Stale";
import { useFootnote, useShell } from "../../../shared/shell";
import { TryNext } from "../../../shared/TryNext";
import { UnreadText } from "../../../shared/UnreadText";
import { useCells } from "../../../shared/useCells";
import { useAnswer, useEngine } from "../../../worker/engineClient";
import { AnswerPanel } from "./AnswerPanel";
import { AnswersPanel } from "./AnswersPanel";
import type { HeadsAnswer, HeadsRequest } from "./answer";
import { explainHeadWeight } from "./explain";
import { ComparePanel } from "./HeadMap";
import { HeadPanel } from "./HeadPanel";
import { HeadsPanel } from "./HeadsPanel";
import { InputPanel } from "./InputPanel";
import { measureNames, measures } from "./measures";
import { selectionOf } from "./selection";
import { firstOf, type State, settings, withInput } from "./state";
import { suggestions } from "./suggestions";
import { type HeadsWorkspace, HeadsWorkspaceContext } from "./workspace";

const lock = (cell: Cell) => ({ cell, row: cell.row });

const isSameInput = (a: HeadsRequest, b: HeadsRequest) =>
  a.exhibit === b.exhibit && a.text === b.text && a.seed === b.seed;

/** The last answer, which stays in grey until the answer to the present input arrives. */
function useLastAnswer(state: State) {
  const { exhibit, text, seed, ablated, ablation } = state;
  const engine = useEngine();
  const request = useMemo<HeadsRequest>(() => {
    const base = new URL("./", document.baseURI).href;
    return { kind: "ask", base, exhibit, text, seed, ablated, ablation };
  }, [exhibit, text, seed, ablated.join(), ablation]);
  const { answer, request: answered, failure } = useAnswer("tasks", request);
  const last = useRef<HeadsAnswer | null>(null);
  if (answer?.kind === "answer") last.current = answer;
  useEffect(() => () => void engine.ask("tasks", { kind: "leave" }).catch(() => {}), [engine]);
  const isPresent = answered?.kind === "ask" && isSameInput(answered, request);
  const unread = isPresent && answer?.kind === "unread" ? answer : null;
  return {
    answer: last.current,
    isStale: !isPresent || unread !== null,
    unread,
    known: answer?.known ?? [],
    notices: failure ? [failure] : [],
  };
}

function Controls({ state, set }: { state: State; set: Setter<State> }) {
  const look = <HeadLook {...{ state, set, settings, measures }} names={measureNames} />;
  return <SettingsPanel look={look} folded="Measures and colours" />;
}

export function View({ state, set, notices: linkNotices }: RoomProps<State>) {
  const { restrictions } = useShell();
  const { answer, isStale, unread, known, notices } = useLastAnswer(state);
  const selection = useMemo(() => answer && selectionOf(answer, state), [answer, state]);
  const { rows = [], columns = [] } = selection?.shown.attention ?? {};
  const size = { rows: rows.length, columns: columns.length };
  const { active, byKeyboard, point, press } = useCells(state, set, size, lock);
  useFootnote(
    answer && `all heads and the answer computed in ${answer.milliseconds.toFixed(1)} ms`,
  );
  const { head, other: compare, ablated: ablate } = state;
  const has = (key: HeadKey) => selection?.all.some(({ head }) => head.key === key) ?? false;
  const missing = selection && !isStale ? missingHeads({ head, compare, ablate }, has) : [];
  const explanation = active && selection && explainHeadWeight(active, selection);

  const workspace: HeadsWorkspace | null = selection && {
    ...{ state, selection, active, explanation, set, point, press },
  };
  return (
    <HeadsWorkspaceContext.Provider value={workspace}>
      <InputPanel
        state={state}
        set={set}
        answer={answer}
        known={known}
        notices={[...notices, ...linkNotices, ...missing]}
      />
      <div class="work">
        <div class="heads-said">
          {unread && (
            <UnreadText
              unread={unread}
              instead={firstOf(state.exhibit).text}
              onUse={(text) => set(withInput({ text }))}
            />
          )}
          {!unread && workspace && (
            <Panel name="answer">
              <Stale isStale={isStale} isUnread={false}>
                <AnswerPanel />
              </Stale>
            </Panel>
          )}
        </div>
        <Stale class="heads-seen column" isStale={isStale} isUnread={unread !== null}>
          {workspace && (
            <>
              <Panel name="head">
                <HeadPanel />
              </Panel>
              <Panel name="heads">
                <HeadsPanel />
              </Panel>
              {!shows(restrictions, "head") && (
                <Panel name="compare">
                  <ComparePanel />
                </Panel>
              )}
              <Controls state={state} set={set} />
              <Panel name="answer">
                <AnswersPanel />
              </Panel>
            </>
          )}
        </Stale>
      </div>
      <TryNext suggestions={suggestions} />
      <Announced>{byKeyboard && explanation ? explanationText(explanation) : ""}</Announced>
    </HeadsWorkspaceContext.Provider>
  );
}
