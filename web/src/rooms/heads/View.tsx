/** The room "Heads": connects the link, the trained model and the active cell to the parts of the page. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { textOf } from "../../shared/explanation";
import { Panel } from "../../shared/Panel";
import type { RoomProps } from "../../shared/room";
import { useFootnote } from "../../shared/shell";
import { TryNext } from "../../shared/TryNext";
import { useAnswer, useEngine } from "../../worker/engineClient";
import { AnswerPanel } from "./AnswerPanel";
import { ComparePanel } from "./ComparePanel";
import { Controls } from "./Controls";
import { explain } from "./explain";
import { HeadPanel } from "./HeadPanel";
import { HeadsPanel } from "./HeadsPanel";
import { InputPanel } from "./InputPanel";
import { type Page, PageContext } from "./page";
import { sceneOf } from "./scene";
import type { Look, Seen } from "./seen";
import type { CellAt, State } from "./state";
import { suggestions } from "./suggestions";

function isSame(a: CellAt | null, b: CellAt | null): boolean {
  return a?.row === b?.row && a?.col === b?.col;
}

/** The last answer stays in view while an input cannot be read. */
function useSeen(state: State) {
  const { exhibit, text, seed, dropped } = state;
  const engine = useEngine();
  const request = useMemo<Look>(() => {
    const base = new URL("./", document.baseURI).href;
    return { kind: "look", base, exhibit, text, seed, dropped };
  }, [exhibit, text, seed, dropped.join()]);
  const { answer, failure } = useAnswer("heads", request);
  const last = useRef<Seen | null>(null);
  if (answer?.kind === "seen") last.current = answer;
  useEffect(() => () => void engine.ask("heads", { kind: "leave" }).catch(() => {}), [engine]);
  const why = answer?.kind === "unread" ? answer.why : null;
  const words = [failure, why, ...(answer?.kind === "seen" ? answer.notices : [])];
  return {
    seen: last.current,
    known: answer?.known ?? [],
    notices: words.filter((each) => each !== null),
  };
}

export function View({ state, set, notices: linkNotices }: RoomProps<State>) {
  const { seen, known, notices } = useSeen(state);
  const scene = useMemo(() => seen && sceneOf(seen, state), [seen, state]);
  const [hover, setHover] = useState<CellAt | null>(null);
  const [byKeyboard, setByKeyboard] = useState(false);
  useFootnote(seen && `all heads and the answer computed in ${seen.milliseconds.toFixed(1)} ms`);
  const active = scene?.cell ?? hover;
  const explanation = active && scene && explain(active, scene);

  const point = useCallback<Page["point"]>(
    (cell, by) => {
      setByKeyboard(by === "keyboard");
      setHover((now) => (isSame(now, cell) ? now : cell));
      // Moving the cursor by keyboard moves the locked cell.
      if (by === "keyboard" && cell) set((now) => (now.cell ? { cell } : {}));
    },
    [set],
  );
  const press = useCallback<Page["press"]>(
    (cell) => set((now) => (isSame(now.cell, cell) ? { cell: null } : { cell, row: cell.row })),
    [set],
  );
  const drop = useCallback<Page["drop"]>(
    (heads, isDropped) =>
      set(({ dropped }) => {
        const others = dropped.filter((key) => !heads.includes(key));
        return { dropped: isDropped ? [...others, ...heads] : others };
      }),
    [set],
  );
  useEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent) => {
      if (key !== "Escape") return;
      set({ cell: null });
      setHover(null);
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [set]);

  const page: Page | null = scene && { state, scene, active, set, point, press, drop };
  return (
    <PageContext.Provider value={page}>
      <InputPanel
        state={state}
        set={set}
        seen={seen}
        known={known}
        notices={[...notices, ...linkNotices]}
      />
      <Controls state={state} set={set} />
      <div class={page ? "work" : "work waiting"}>
        {page && (
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
      <div class="only-heard" aria-live="polite">
        {byKeyboard && explanation ? textOf(explanation) : ""}
      </div>
    </PageContext.Provider>
  );
}
