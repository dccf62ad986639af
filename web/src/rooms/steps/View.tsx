/** The room "Step by step": connects the link, the engine and the active cell to the parts of the page. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Announced } from "../../shared/Announced";
import { explanationText } from "../../shared/explanation";
import { Panel } from "../../shared/Panel";
import type { RoomProps } from "../../shared/room";
import { useFootnote } from "../../shared/shell";
import { TryNext } from "../../shared/TryNext";
import { useEscape } from "../../shared/useEscape";
import { Controls } from "./Controls";
import { explainCell, type MatrixArea, sourcesOf } from "./explain";
import { Lines } from "./Lines";
import { kindOf, type MatrixName } from "./matrices";
import { Pipeline } from "./Pipeline";
import { QueryTable } from "./QueryTable";
import { Sentence } from "./Sentence";
import { StagePanel } from "./StagePanel";
import { SolutionProvider, type Solved } from "./solution";
import { stageNames } from "./stageNames";
import {
  lookOf,
  type MatrixCell,
  type SentenceAttention,
  type State,
  sentenceAttentionOf,
  toStage,
} from "./state";
import { suggestions } from "./suggestions";
import { noticeOfCut } from "./tokens";
import { explainMoment, highlightsOf, unfoldingOf } from "./unfolding";
import { type StepsWorkspace, StepsWorkspaceContext } from "./workspace";

function isSame(a: MatrixCell | null, b: MatrixCell | null): boolean {
  return a?.matrix === b?.matrix && a?.row === b?.row && a?.col === b?.col;
}

/** Messages about the person's input. */
function noticesOf(attention: SentenceAttention, failure: string | null): string[] {
  const notices: string[] = [];
  if (failure) notices.push(failure);
  if (attention.queries.tokens.length === 0) notices.push("Type a word: there is no query yet.");
  else if (attention.keys.tokens.length === 0)
    notices.push("Type a word into the second sentence: there is no key yet.");
  if (attention.queries.cut || attention.keys.cut) notices.push(noticeOfCut);
  return notices;
}

/** Memoises the attention, so that long sentences are tokenised and rendered only when they change. */
function useSentenceAttention(state: State): SentenceAttention {
  const { example, text, keyText, split, shuffle, heads, headSize, row, head } = state;
  const parts = [example, text, keyText, split, shuffle, heads, headSize, row, head];
  return useMemo(() => sentenceAttentionOf(state), parts);
}

export function View(props: RoomProps<State>) {
  const attention = useSentenceAttention(props.state);
  return (
    <SolutionProvider state={props.state} attention={attention}>
      {(solved) => <SolvedView {...props} attention={attention} {...solved} />}
    </SolutionProvider>
  );
}

function SolvedView({
  state,
  attention,
  answer,
  failure,
  set,
  notices: linkNotices,
}: RoomProps<State> & Solved & { readonly attention: SentenceAttention }) {
  const [hover, setHover] = useState<MatrixCell | null>(null);
  /** The matrices of the word that is pointed at, separated by spaces. */
  const [spoken, setSpoken] = useState("");
  const [byKeyboard, setByKeyboard] = useState(false);
  const [cutNotice, setCutNotice] = useState<string | null>(null);

  // The pictures use the settings of the last answer, so that numbers and labels always match.
  const shownState: State = answer ? { ...answer.state, ...lookOf(state) } : state;
  const shownAttention = useSentenceAttention(shownState);
  const milliseconds = answer?.solution.milliseconds;
  useFootnote(
    milliseconds === undefined ? null : `all stages computed in ${milliseconds.toFixed(1)} ms`,
  );
  const solution = answer?.solution ?? null;
  const unfolding = useMemo(
    () => unfoldingOf(shownState, shownAttention, solution),
    [
      shownState.time,
      shownState.stage,
      shownState.example,
      shownState.position,
      shownAttention,
      solution,
    ],
  );
  const pointed = state.cell ?? hover;
  const active = spoken ? null : (pointed ?? unfolding?.cell ?? null);
  const highlights: readonly MatrixArea[] = spoken
    ? spoken.split(" ").map((matrix) => ({ matrix: matrix as MatrixName }))
    : pointed
      ? sourcesOf(pointed, shownAttention, shownState)
      : unfolding
        ? highlightsOf(unfolding, shownAttention, shownState)
        : [];
  const explanation = pointed
    ? solution && explainCell(pointed, solution, shownState, shownAttention)
    : unfolding && solution && explainMoment(unfolding, solution, shownState, shownAttention);

  const point = useCallback<StepsWorkspace["point"]>(
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
  const lock = useCallback<StepsWorkspace["lock"]>(
    (cell) => {
      justLocked.current = true;
      set((now) => {
        if (isSame(now.cell, cell)) return { cell: null };
        // So that the cell's sources are in view, too.
        if (cell.matrix === "joined")
          return {
            cell,
            row: cell.row,
            head: Math.floor(cell.col / sentenceAttentionOf(now).headSize),
          };
        return kindOf(cell.matrix).rows === "query" ? { cell, row: cell.row } : { cell };
      });
    },
    [set],
  );

  useEscape(() => {
    set({ cell: null });
    setHover(null);
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
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

  const workspace: StepsWorkspace = {
    state: shownState,
    attention: shownAttention,
    active,
    highlights,
    unfolding,
    set,
    justLocked,
    point,
    lock,
  };
  const isEmpty = attention.queries.tokens.length === 0 || attention.keys.tokens.length === 0;
  const notices = [
    ...noticesOf(attention, failure),
    ...linkNotices,
    ...(cutNotice && !attention.queries.cut ? [cutNotice] : []),
  ];

  return (
    <StepsWorkspaceContext.Provider value={workspace}>
      <Sentence
        state={state}
        attention={attention}
        set={set}
        notify={setCutNotice}
        notices={notices}
      />
      <Panel name="pipeline">
        <Pipeline />
      </Panel>
      <Controls state={state} attention={attention} set={set} />
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
      <Announced>{byKeyboard && explanation ? explanationText(explanation) : ""}</Announced>
    </StepsWorkspaceContext.Provider>
  );
}
