/** The room "Step by step": connects the link, the engine and the active cell to the parts of the page. */

import { useMemo, useRef, useState } from "preact/hooks";
import { explanationText } from "#parts";
import { Announced } from "../../shared/Announced";
import { Panel } from "../../shared/Panel";
import { shows } from "../../shared/restrictions";
import type { RoomProps } from "../../shared/room";
import { useFootnote, useShell } from "../../shared/shell";
import { TryNext } from "../../shared/TryNext";
import { Controls } from "./Controls";
import { Lines } from "./Lines";
import { type Loading, usePieces } from "./modelTokens";
import { Pipeline } from "./Pipeline";
import { QueryTable } from "./QueryTable";
import { Sentence } from "./Sentence";
import { Sharpness } from "./Sharpness";
import { StagePanel } from "./StagePanel";
import { SolutionProvider, type Solved } from "./solution";
import {
  initialState,
  lookOf,
  type SentenceAttention,
  type State,
  sentenceAttentionOf,
} from "./state";
import { suggestions } from "./suggestions";
import { noticeOfCut, tokenize } from "./tokens";
import { unfoldingOf } from "./unfolding";
import { usePointing } from "./usePointing";
import { type Told, useStory } from "./useStory";
import { WhyRoot } from "./WhyRoot";
import { type StepsWorkspace, StepsWorkspaceContext } from "./workspace";

/** With more tokens than this the room does not start to play automatically. */
const fewTokens = 32;

/** Memoises the attention, so that long sentences are tokenised and rendered only when they change. */
function useSentenceAttention(state: State, isReady: boolean): SentenceAttention {
  const { vectors, text, keyText, split, shuffle, heads, headSize, row, head } = state;
  const parts = [vectors, isReady, text, keyText, split, shuffle, heads, headSize, row, head];
  return useMemo(() => sentenceAttentionOf(state), parts);
}

/** Whether the room starts to play automatically: at its beginning, unless that would hide something. */
function useOpens({ state, notices }: RoomProps<State>): boolean {
  const { restrictions } = useShell();
  const { stage, time, cell } = state;
  const isBeginning = stage === initialState.stage && time === null && cell === null;
  // Messages about the link would disappear too early.
  const count = tokenize(state.text, state.split).tokens.length;
  const isPlain = notices.length === 0 && count <= fewTokens;
  return useRef(isBeginning && isPlain && shows(restrictions, "picture")).current;
}

export function View(props: RoomProps<State>) {
  const pieces = usePieces(props.state.vectors === "learned", props.state.text);
  const attention = useSentenceAttention(props.state, pieces.isReady);
  return (
    <SolutionProvider state={props.state} attention={attention}>
      {(solved) => <SolvedView {...props} {...{ attention, solved, pieces }} />}
    </SolutionProvider>
  );
}

/** The parts of the room that show the current stage and the selected query. */
function Work({
  look,
  told,
  explanation,
  listeners,
}: { look: string; told: Told } & Pick<
  ReturnType<typeof usePointing>,
  "explanation" | "listeners"
>) {
  return (
    <div class={`work ${look}`} {...listeners}>
      <Panel name="picture">
        <StagePanel explanation={explanation} told={told} />
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
  );
}

/** The pictures use the settings of the last answer, so that numbers and labels always match. */
function useShown({ state, solved: { answer }, pieces }: SolvedProps) {
  const shown: State = answer ? { ...answer.state, ...lookOf(state) } : state;
  const attention = useSentenceAttention(shown, pieces.isReady);
  return { shown, attention, solution: answer?.solution ?? null };
}

type SolvedProps = RoomProps<State> & {
  readonly attention: SentenceAttention;
  readonly solved: Solved;
  readonly pieces: Loading;
};

/** Gives all parts of the room the state, the active cell and the player. */
function useWorkspace(props: SolvedProps) {
  const { shown, attention, solution } = useShown(props);
  const { set: setState } = props;
  const opens = useOpens(props);
  const isReady = solution !== null;
  const told = useStory({ state: shown, attention, isReady, opens, setState });
  const { set, showStage, live } = told;
  // Before the first answer nothing plays yet, but the first moment is shown.
  const isFirst = live.isPlaying && shown.time === null && !solution;
  const moment: State = isFirst ? { ...shown, time: 0 } : shown;
  const unfolding = useMemo(
    () => unfoldingOf(moment, attention, solution),
    [moment.time, shown.stage, shown.vectors, shown.position, attention, solution],
  );
  const pointing = usePointing({ state: moment, attention, solution, unfolding, set });
  const { active, highlights, justLocked, point, lock } = pointing;
  const workspace: StepsWorkspace = {
    ...{ state: moment, attention, unfolding, set, showStage },
    ...{ active, highlights, justLocked, point, lock },
  };
  return { workspace, told, pointing, solution };
}

function SolvedView(props: SolvedProps) {
  const { state, attention, solved, pieces, notices: linkNotices } = props;
  const { isStale, failure } = solved;
  const [cutNotice, setCutNotice] = useState<string | null>(null);
  const { workspace, told, pointing, solution } = useWorkspace(props);
  const { explanation, byKeyboard, listeners } = pointing;
  useFootnote(solution && `all stages computed in ${solution.milliseconds.toFixed(1)} ms`);

  const { queries, keys } = attention;
  const isEmpty = queries.tokens.length === 0 || keys.tokens.length === 0;
  // Before the first answer there is nothing to show. Later the last pictures stay in their place, in grey.
  const look = isEmpty && !solution ? "no-tokens" : isStale && solution ? "stale" : "";
  const notices = [
    ...[failure ?? [], pieces.failure ?? []].flat(),
    ...(queries.cut || keys.cut ? [noticeOfCut] : []),
    ...linkNotices,
    ...(cutNotice && !queries.cut ? [cutNotice] : []),
  ];
  const isLoading = state.vectors === "learned" && solution?.problem.source.kind !== "learned";
  const shared = { state, attention, set: told.set };
  return (
    <StepsWorkspaceContext.Provider value={workspace}>
      <Sentence {...shared} {...{ isLoading, notices }} notify={setCutNotice} />
      <Panel name="pipeline">
        <Pipeline look={look} />
      </Panel>
      <Work look={look} told={told} explanation={explanation} listeners={listeners} />
      <Controls {...shared} />
      <TryNext suggestions={suggestions} />
      <Announced>
        {byKeyboard && !told.live.isPlaying && explanation ? explanationText(explanation) : ""}
      </Announced>
    </StepsWorkspaceContext.Provider>
  );
}
