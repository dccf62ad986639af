/** The room "Step by step": connects the link, the engine and the active cell to the parts of the page. */

import type { ComponentChildren } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { explanationText } from "#parts";
import { Announced } from "../../shared/Announced";
import type { News } from "../../shared/loading";
import { Panel } from "../../shared/Panel";
import { shows } from "../../shared/restrictions";
import type { RoomProps } from "../../shared/room";
import { useFootnote, useShell } from "../../shared/shell";
import { TryNext } from "../../shared/TryNext";
import { useModule } from "../../shared/useModule";
import { Controls } from "./Controls";
import { Lines } from "./Lines";
import { type Loading, usePieces } from "./modelTokens";
import { Pipeline } from "./Pipeline";
import { QueryTable } from "./QueryTable";
import { Sentence } from "./Sentence";
import { Sharpness } from "./Sharpness";
import { StagePanel } from "./StagePanel";
import { initialState, lookOf, type State } from "./settings";
import { type Solved, useSolved } from "./solution";
import {
  noticesOfHeads,
  type SentenceAttention,
  sentenceAttentionOf,
  withOwnStage,
  withRandom,
} from "./state";
import { noticeOfCut, tokenize } from "./tokens";
import { unfoldingOf } from "./unfolding";
import { usePointing } from "./usePointing";
import { useStory } from "./useStory";
import { useWalk, type Walk } from "./useWalk";
import { type StepsWorkspace, StepsWorkspaceContext, useStepsWorkspace } from "./workspace";

/** With more tokens than this the room does not start to play automatically. */
const fewTokens = 32;

/** Memoises the attention, so that long sentences are tokenised and rendered only when they change. */
function useSentenceAttention(
  state: State,
  { isReady, walked }: Pick<ViewParts, "isReady" | "walked">,
): SentenceAttention {
  const { vectors, model, layer, keyText, split, shuffle, heads, headSize, row, head } = state;
  // The tokens of another model come after the text.
  const text = walked ? null : state.text;
  const parts = [isReady, walked, vectors, model, layer, text, keyText, split, shuffle, heads];
  return useMemo(() => sentenceAttentionOf(state, walked), [...parts, headSize, row, head]);
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

export function View({ state, ...room }: RoomProps<State>) {
  const [notice, notify] = useState<string | null>(null);
  const walk = useWalk(state, room.set, notify);
  const { layers } = walk.walked?.shape ?? {};
  const own = useMemo(() => withOwnStage(state, layers), [state, layers]);
  const isOurs = own.vectors === "learned" && own.model === null;
  const pieces = usePieces(isOurs, own.text);
  const failure = pieces.failure ?? walk.failure;
  const parts = { ...pieces, ...walk, failure, notice, notify };
  const attention = useSentenceAttention(own, parts);
  const solved = useSolved(own, attention);
  return <SolvedView {...room} state={own} {...{ attention, solved, parts }} />;
}

/** Why scores are divided by √d. It is far down in the room, so it is loaded after the rest. */
function Root() {
  const { state, attention, set } = useStepsWorkspace();
  const { module } = useModule(() => import("./WhyRoot"));
  return module ? (
    <module.WhyRoot {...{ state, attention, set }} />
  ) : (
    <div class="why-root column" />
  );
}

/** The parts of the room that show the current stage and the selected query. */
function Work({ look, progress }: { look: string; progress: ComponentChildren }) {
  const { listeners } = useStepsWorkspace();
  return (
    <div class={`work ${look}`} {...listeners}>
      <Panel name="picture">
        <StagePanel progress={progress} />
      </Panel>
      <div class="row-and-lines column">
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
        <Root />
      </Panel>
    </div>
  );
}

/** The pictures use the settings of the last answer, so that numbers and labels always match. */
function useShown({ state: latest, solved: { answer }, parts }: SolvedProps) {
  const state = withOwnStage(answer ? { ...answer.state, ...lookOf(latest) } : latest);
  const walked = answer ? answer.attention.walked : parts.walked;
  const attention = useSentenceAttention(state, { isReady: parts.isReady, walked });
  return { state, attention, solution: answer?.solution ?? null };
}

function LaterProgress(props: { news: News; cancel(): void }) {
  const { module } = useModule(() => import("./ModelProgress"));
  return module && <module.ModelProgress {...props} />;
}

/** The tokens of our model or of the person's, and the message about the last text or model. */
type ViewParts = Loading &
  Walk & { readonly notice: string | null; notify(notice: string | null): void };

type SolvedProps = RoomProps<State> & {
  readonly attention: SentenceAttention;
  readonly solved: Solved;
  readonly parts: ViewParts;
};

/** Gives all parts of the room the state, the active cell and the player. */
function useWorkspace(props: SolvedProps): StepsWorkspace {
  const solved = useShown(props);
  const { attention, solution } = solved;
  const told = useStory(solved, props.set, useOpens(props));
  const { isPrinting } = useShell();
  // Before the first answer nothing plays yet, but the first moment is shown.
  const isFirst = told.live.isPlaying && solved.state.time === null && !solution;
  // Paper does not play, so it shows the whole stage.
  const time = isPrinting ? null : isFirst ? 0 : solved.state.time;
  const state = useMemo(() => ({ ...solved.state, time }), [solved.state, time]);
  const unfolding = useMemo(
    () => unfoldingOf(state, attention, solution),
    [state.time, state.stage, state.vectors, state.position, attention, solution],
  );
  const shown = { state, attention, solution, unfolding };
  return { ...shown, ...told, ...usePointing(shown, told.set) };
}

function SolvedView(props: SolvedProps) {
  const { state, attention, solved, parts, notices: linkNotices } = props;
  const { isStale, failure, news, cancel } = solved;
  const { module: later } = useModule(() => import("./suggestions"));
  const workspace = useWorkspace(props);
  const { solution, explanation, byKeyboard, live, set } = workspace;
  useFootnote(solution && `all stages computed in ${solution.milliseconds.toFixed(1)} ms`);

  const { queries, keys } = attention;
  const isEmpty = queries.tokens.length === 0 || keys.tokens.length === 0;
  // Before the first answer there is nothing to show. Later the last pictures stay in their place, in grey.
  const look = isEmpty && !solution ? "no-tokens" : isStale && solution ? "stale" : "";
  const isUnknown = state.model !== null && parts.walked === null;
  const notices = [
    ...[failure ?? [], parts.failure ?? []].flat(),
    ...(queries.cut || keys.cut ? [noticeOfCut(queries.most)] : []),
    ...(queries.why ? [queries.why] : []),
    ...linkNotices,
    ...(isUnknown ? [] : noticesOfHeads(state, attention)),
    ...(parts.notice && !(queries.cut && parts.notice === noticeOfCut()) ? [parts.notice] : []),
  ];
  const isUnsolved = solution?.problem.source.kind !== "learned";
  const isLoading = attention.model !== null && (isUnknown || (isUnsolved && !queries.why));
  const stop = () => {
    cancel();
    set(withRandom());
  };
  const waits = isLoading && state.model === null && !failure;
  const progress = waits && <LaterProgress {...{ news, cancel: stop }} />;
  const shared = { state, attention, set };
  return (
    <StepsWorkspaceContext.Provider value={workspace}>
      <Sentence {...shared} {...{ isLoading, notices }} notify={parts.notify} />
      <Panel name="pipeline">
        <Pipeline look={look} />
      </Panel>
      <Work {...{ look, progress }} />
      <Controls {...shared} others={parts.others} />
      {later && <TryNext suggestions={later.suggestions} />}
      <Announced>
        {byKeyboard && !live.isPlaying && explanation ? explanationText(explanation) : ""}
      </Announced>
    </StepsWorkspaceContext.Provider>
  );
}
