/** The room "Heads": connects the link, the trained model and the active cell to the parts of the page. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Cell } from "../../picture/layout";
import { Announced } from "../../shared/Announced";
import { explanationText } from "../../shared/explanation";
import { Panel } from "../../shared/Panel";
import type { RoomProps } from "../../shared/room";
import { useFootnote } from "../../shared/shell";
import { TryNext } from "../../shared/TryNext";
import { useEscape } from "../../shared/useEscape";
import { useAnswer, useEngine } from "../../worker/engineClient";
import { AnswerPanel } from "./AnswerPanel";
import type { HeadsAnswer, HeadsRequest } from "./answer";
import { ComparePanel } from "./ComparePanel";
import { Controls } from "./Controls";
import { explainHeadWeight } from "./explain";
import { HeadPanel } from "./HeadPanel";
import { HeadsPanel } from "./HeadsPanel";
import { InputPanel } from "./InputPanel";
import { selectionOf } from "./selection";
import type { State } from "./state";
import { suggestions } from "./suggestions";
import { type HeadsWorkspace, HeadsWorkspaceContext } from "./workspace";

function isSame(a: Cell | null, b: Cell | null): boolean {
  return a?.row === b?.row && a?.col === b?.col;
}

/** The last answer stays in view while an input cannot be read. */
function useLastAnswer(state: State) {
  const { exhibit, text, seed, dropped } = state;
  const engine = useEngine();
  const request = useMemo<HeadsRequest>(() => {
    const base = new URL("./", document.baseURI).href;
    return { kind: "ask", base, exhibit, text, seed, dropped };
  }, [exhibit, text, seed, dropped.join()]);
  const { answer, failure } = useAnswer("heads", request);
  const last = useRef<HeadsAnswer | null>(null);
  if (answer?.kind === "answer") last.current = answer;
  useEffect(() => () => void engine.ask("heads", { kind: "leave" }).catch(() => {}), [engine]);
  const why = answer?.kind === "unread" ? answer.why : null;
  const words = [failure, why, ...(answer?.kind === "answer" ? answer.notices : [])];
  return {
    answer: last.current,
    known: answer?.known ?? [],
    notices: words.filter((each) => each !== null),
  };
}

export function View({ state, set, notices: linkNotices }: RoomProps<State>) {
  const { answer, known, notices } = useLastAnswer(state);
  const selection = useMemo(() => answer && selectionOf(answer, state), [answer, state]);
  const [hover, setHover] = useState<Cell | null>(null);
  const [byKeyboard, setByKeyboard] = useState(false);
  useFootnote(
    answer && `all heads and the answer computed in ${answer.milliseconds.toFixed(1)} ms`,
  );
  const active = selection?.cell ?? hover;
  const explanation = active && selection && explainHeadWeight(active, selection);

  const point = useCallback<HeadsWorkspace["point"]>(
    (cell, by) => {
      setByKeyboard(by === "keyboard");
      setHover((now) => (isSame(now, cell) ? now : cell));
      // Moving the cursor by keyboard moves the locked cell.
      if (by === "keyboard" && cell) set((now) => (now.cell ? { cell } : {}));
    },
    [set],
  );
  const press = useCallback<HeadsWorkspace["press"]>(
    (cell) => set((now) => (isSame(now.cell, cell) ? { cell: null } : { cell, row: cell.row })),
    [set],
  );
  const drop = useCallback<HeadsWorkspace["drop"]>(
    (heads, isDropped) =>
      set(({ dropped }) => {
        const others = dropped.filter((key) => !heads.includes(key));
        return { dropped: isDropped ? [...others, ...heads] : others };
      }),
    [set],
  );
  useEscape(() => {
    set({ cell: null });
    setHover(null);
  });

  const workspace: HeadsWorkspace | null = selection && {
    state,
    selection,
    active,
    set,
    point,
    press,
    drop,
  };
  return (
    <HeadsWorkspaceContext.Provider value={workspace}>
      <InputPanel
        state={state}
        set={set}
        answer={answer}
        known={known}
        notices={[...notices, ...linkNotices]}
      />
      <Controls state={state} set={set} />
      <div class={workspace ? "work" : "work waiting"}>
        {workspace && (
          <>
            <Panel name="answer">
              <AnswerPanel />
            </Panel>
            <Panel name="heads">
              <HeadsPanel />
            </Panel>
            <Panel name="head">
              <HeadPanel explanation={explanation} />
            </Panel>
            <Panel name="compare">
              <ComparePanel />
            </Panel>
          </>
        )}
      </div>
      <TryNext suggestions={suggestions} />
      <Announced>{byKeyboard && explanation ? explanationText(explanation) : ""}</Announced>
    </HeadsWorkspaceContext.Provider>
  );
}
