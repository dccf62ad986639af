/** The room "Step by step": connects the link, the engine and the active cell to the parts of the page. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { textOf } from "../../shared/explanation";
import { Panel } from "../../shared/Panel";
import type { RoomProps } from "../../shared/room";
import { useFootnote } from "../../shared/shell";
import { TryNext } from "../../shared/TryNext";
import { Controls } from "./Controls";
import { explain, type MatrixArea, sourcesOf } from "./explain";
import { Lines } from "./Lines";
import { kindOf, type MatrixName } from "./matrices";
import { Pipeline } from "./Pipeline";
import { type Page, PageContext } from "./page";
import { QueryTable } from "./QueryTable";
import { Sentence } from "./Sentence";
import { StagePanel } from "./StagePanel";
import { SolutionProvider, useSolved } from "./solution";
import { stageNames } from "./stageNames";
import { type CellRef, lookOf, type Scene, type State, sceneOf, toStage } from "./state";
import { suggestions } from "./suggestions";
import { noticeOfCut } from "./tokens";
import { explainMoment, highlightsOf, unfoldingOf } from "./unfolding";

function isSame(a: CellRef | null, b: CellRef | null): boolean {
  return a?.matrix === b?.matrix && a?.row === b?.row && a?.col === b?.col;
}

/** Messages about the person's input. */
function noticesOf(scene: Scene, failure: string | null): string[] {
  const notices: string[] = [];
  if (failure) notices.push(failure);
  if (scene.queries.tokens.length === 0) notices.push("Type a word: there is no query yet.");
  else if (scene.keys.tokens.length === 0)
    notices.push("Type a word into the second sentence: there is no key yet.");
  if (scene.queries.cut || scene.keys.cut) notices.push(noticeOfCut);
  return notices;
}

/** Memoises the scene, so that long sentences are tokenised and rendered only when they change. */
function useScene(state: State): Scene {
  const { example, text, keyText, split, shuffle, heads, headSize, row, head } = state;
  const parts = [example, text, keyText, split, shuffle, heads, headSize, row, head];
  return useMemo(() => sceneOf(state), parts);
}

export function View(props: RoomProps<State>) {
  const scene = useScene(props.state);
  return (
    <SolutionProvider state={props.state} scene={scene}>
      <Work {...props} scene={scene} />
    </SolutionProvider>
  );
}

function Work({
  state,
  scene,
  set,
  notices: linkNotices,
}: RoomProps<State> & { readonly scene: Scene }) {
  const { answer, failure } = useSolved();
  const [hover, setHover] = useState<CellRef | null>(null);
  /** The matrices of the word that is pointed at, separated by spaces. */
  const [spoken, setSpoken] = useState("");
  const [byKeyboard, setByKeyboard] = useState(false);
  const [cutNotice, setCutNotice] = useState<string | null>(null);

  // The pictures use the settings of the last answer, so that numbers and labels always match.
  const shownState: State = answer ? { ...answer.state, ...lookOf(state) } : state;
  const shownScene = useScene(shownState);
  const milliseconds = answer?.solution.milliseconds;
  useFootnote(
    milliseconds === undefined ? null : `all stages computed in ${milliseconds.toFixed(1)} ms`,
  );
  const solution = answer?.solution ?? null;
  const unfolding = useMemo(
    () => unfoldingOf(shownState, shownScene, solution),
    [
      shownState.time,
      shownState.stage,
      shownState.example,
      shownState.position,
      shownScene,
      solution,
    ],
  );
  const pointed = state.cell ?? hover;
  const active = spoken ? null : (pointed ?? unfolding?.cell ?? null);
  const highlights: readonly MatrixArea[] = spoken
    ? spoken.split(" ").map((matrix) => ({ matrix: matrix as MatrixName }))
    : pointed
      ? sourcesOf(pointed, shownScene, shownState)
      : unfolding
        ? highlightsOf(unfolding, shownScene, shownState)
        : [];
  const explanation = pointed
    ? solution && explain(pointed, solution, shownState, shownScene)
    : unfolding && solution && explainMoment(unfolding, solution, shownState, shownScene);

  const point = useCallback<Page["point"]>(
    (cell, by) => {
      setByKeyboard(by === "keyboard");
      setHover((now) => (isSame(now, cell) ? now : cell));
      // Moving the cursor by keyboard moves the locked cell, within its matrix.
      if (by === "keyboard" && cell)
        set((now) => (now.cell?.matrix === cell.matrix ? { cell } : {}));
    },
    [set],
  );
  const justLocked = useRef(false);
  const lock = useCallback<Page["lock"]>(
    (cell) => {
      justLocked.current = true;
      set((now) => {
        if (isSame(now.cell, cell)) return { cell: null };
        // So that the cell's sources are in view, too.
        if (cell.matrix === "joined")
          return { cell, row: cell.row, head: Math.floor(cell.col / sceneOf(now).headSize) };
        return kindOf(cell.matrix).rows === "query" ? { cell, row: cell.row } : { cell };
      });
    },
    [set],
  );

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === "Escape") {
        set({ cell: null });
        setHover(null);
      }
      // The arrow keys step through the stages unless another element handles them.
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const wanted = (event.target as Element).closest?.("input, select, canvas, .scroll");
      if (step && !wanted) {
        set((now) => {
          const next = stageNames[stageNames.indexOf(now.stage) + step];
          return next ? toStage(next) : {};
        });
      }
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [set]);

  const hear = ({ target }: Event) => {
    const word = (target as Element).closest("[data-highlights]");
    setSpoken(word?.getAttribute("data-highlights") ?? "");
  };

  const page: Page = {
    state: shownState,
    scene: shownScene,
    active,
    highlights,
    unfolding,
    set,
    justLocked,
    point,
    lock,
  };
  const isEmpty = scene.queries.tokens.length === 0 || scene.keys.tokens.length === 0;
  const notices = [
    ...noticesOf(scene, failure),
    ...linkNotices,
    ...(cutNotice && !scene.queries.cut ? [cutNotice] : []),
  ];

  return (
    <PageContext.Provider value={page}>
      <Sentence state={state} scene={scene} set={set} notify={setCutNotice} notices={notices} />
      <Panel name="pipeline">
        <Pipeline />
      </Panel>
      <Controls state={state} scene={scene} set={set} />
      <div
        class={isEmpty ? "work no-tokens" : "work"}
        onPointerOver={hear}
        onPointerLeave={() => setSpoken("")}
        onFocusIn={hear}
        onFocusOut={() => setSpoken("")}
      >
        <Panel name="picture">
          <StagePanel explanation={explanation} />
        </Panel>
        <div class="row-and-lines">
          <Panel name="table">
            <QueryTable />
          </Panel>
          <Panel name="lines">
            <Lines />
          </Panel>
        </div>
      </div>
      <TryNext suggestions={suggestions} />
      <div class="only-heard" aria-live="polite">
        {byKeyboard && explanation ? textOf(explanation) : ""}
      </div>
    </PageContext.Provider>
  );
}
