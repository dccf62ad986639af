/** The room "Step by step": connects the link, the engine and the active cell to the parts of the page. */

import { explanationText, indexIn, paceOf, placeAt, playFrom } from "heed/view/parts";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Announced } from "../../shared/Announced";
import { Panel } from "../../shared/Panel";
import { shows } from "../../shared/restrictions";
import type { RoomProps, Setter } from "../../shared/room";
import { useFootnote, useShell } from "../../shared/shell";
import { TryNext } from "../../shared/TryNext";
import { useEscape } from "../../shared/useEscape";
import { Controls } from "./Controls";
import { explainCell, type MatrixArea, sourcesOf } from "./explain";
import { Lines } from "./Lines";
import { kindOf, type MatrixName } from "./matrices";
import { Pipeline } from "./Pipeline";
import { Player } from "./Player";
import { QueryTable } from "./QueryTable";
import { Sentence } from "./Sentence";
import { Sharpness } from "./Sharpness";
import { StagePanel } from "./StagePanel";
import { SolutionProvider, type Solved } from "./solution";
import {
  initialState,
  lookOf,
  type MatrixCell,
  type SentenceAttention,
  type State,
  sentenceAttentionOf,
} from "./state";
import { storyOf } from "./story";
import { suggestions } from "./suggestions";
import { noticeOfCut } from "./tokens";
import { explainMoment, highlightsOf, unfoldingOf } from "./unfolding";
import { usePlayer } from "./usePlayer";
import { WhyRoot } from "./WhyRoot";
import { type StepsWorkspace, StepsWorkspaceContext } from "./workspace";

function isSame(a: MatrixCell | null, b: MatrixCell | null): boolean {
  return a?.matrix === b?.matrix && a?.row === b?.row && a?.col === b?.col;
}

/** With more tokens than this the room does not start to play automatically. */
const fewTokens = 32;

/** Whether a link leads to the beginning, from which the room starts to play automatically. */
function isBeginning({ stage, time, cell }: State): boolean {
  return stage === initialState.stage && time === null && cell === null;
}

/** Messages about the person's input. */
function noticesOf(attention: SentenceAttention, failure: string | null): string[] {
  const notices: string[] = [];
  if (failure) notices.push(failure);
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
  isStale,
  failure,
  set: setState,
  notices: linkNotices,
}: RoomProps<State> & Solved & { readonly attention: SentenceAttention }) {
  const [hover, setHover] = useState<MatrixCell | null>(null);
  /** The matrices of the word that the person points at, separated by spaces. */
  const [namedMatrices, setNamedMatrices] = useState("");
  const { restrictions } = useShell();
  const [byKeyboard, setByKeyboard] = useState(false);
  const [cutNotice, setCutNotice] = useState<string | null>(null);

  // The pictures use the settings of the last answer, so that numbers and labels always match.
  const answered: State = answer ? { ...answer.state, ...lookOf(state) } : state;
  const shownAttention = useSentenceAttention(answered);
  const solution = answer?.solution ?? null;
  const milliseconds = solution?.milliseconds;
  useFootnote(
    milliseconds === undefined ? null : `all stages computed in ${milliseconds.toFixed(1)} ms`,
  );

  const { stage, example, position, edits } = answered;
  const story = useMemo(
    () => storyOf(answered, shownAttention),
    [example, position, edits, shownAttention],
  );
  const pace = useMemo(() => paceOf(story), [story]);
  // The room does not play if there are messages about the link, which would disappear too early, or if its buttons are
  // not visible.
  const isPlain =
    linkNotices.length === 0 &&
    attention.queries.tokens.length <= fewTokens &&
    shows(restrictions, "picture");
  const opens = useRef(isBeginning(state) && isPlain);
  const index = indexIn(story, answered);
  const live = usePlayer({
    count: story.count,
    index,
    from: playFrom(story, answered),
    pace,
    go: (next) => setState({ ...placeAt(story, next), cell: null }),
    isReady: solution !== null,
    opens: opens.current,
  });
  const { isPlaying, setPlaying } = live;
  // Before the first answer nothing plays yet, but the first moment is shown.
  const shownState: State =
    isPlaying && answered.time === null && !solution ? { ...answered, time: 0 } : answered;
  /** Applies a change by the person, which ends playing. */
  const set = useCallback<Setter<State>>(
    (change) => {
      setPlaying(false);
      setState(change);
    },
    [setState, setPlaying],
  );
  const go = (next: number) => set({ ...placeAt(story, next), cell: null });

  const unfolding = useMemo(
    () => unfoldingOf(shownState, shownAttention, solution),
    [shownState.time, stage, example, position, shownAttention, solution],
  );
  const pointed = state.cell ?? hover;
  const active = namedMatrices ? null : (pointed ?? unfolding?.cell ?? null);
  const highlights: readonly MatrixArea[] = namedMatrices
    ? namedMatrices.split(" ").map((matrix) => ({ matrix: matrix as MatrixName }))
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
        // Also selects the row and head of the cell, so that its sources are visible.
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
  const goTo = useRef((_: number) => {});
  goTo.current = (step) => {
    const next = index + step;
    if (next >= 0 && next < story.count) go(next);
  };
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      // The arrow keys step through the moments unless another element handles them.
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const wanted = (event.target as Element).closest?.("input, select, canvas, .scroll, summary");
      if (step && !wanted) goTo.current(step);
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);

  const hear = ({ target }: Event) => {
    const word = (target as Element).closest("[data-highlights]");
    setNamedMatrices(word?.getAttribute("data-highlights") ?? "");
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
  // Before the first answer there is nothing to show. Later the last pictures stay in their place, in grey.
  const look = isEmpty && !solution ? "no-tokens" : isStale && solution ? "stale" : "";
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
        <Pipeline look={look} />
      </Panel>
      <div
        class={`work ${look}`}
        onPointerOver={hear}
        onPointerLeave={() => setNamedMatrices("")}
        onFocusIn={hear}
        onFocusOut={() => setNamedMatrices("")}
      >
        <Panel name="picture">
          <StagePanel
            explanation={explanation}
            player={<Player story={story} index={index} go={go} live={live} />}
            pace={pace(index)}
          />
        </Panel>
        <div class="row-and-lines">
          <Panel name="table">
            <div class="of-query">
              <QueryTable />
              <Sharpness />
            </div>
          </Panel>
          <Panel name="lines">
            <Lines />
          </Panel>
        </div>
        <Panel name="root">
          <WhyRoot />
        </Panel>
      </div>
      <Controls state={state} attention={attention} set={set} />
      <TryNext suggestions={suggestions} />
      <Announced>
        {byKeyboard && !isPlaying && explanation ? explanationText(explanation) : ""}
      </Announced>
    </StepsWorkspaceContext.Provider>
  );
}
