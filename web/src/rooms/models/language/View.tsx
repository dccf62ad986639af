/** The room "Write": connects the link, the language model and the clock to the parts of the page. */

import { type Cell, explanationText } from "heed/view/parts";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Announced } from "../../../shared/Announced";
import { Panel } from "../../../shared/Panel";
import type { RoomProps, Setter } from "../../../shared/room";
import { useFootnote } from "../../../shared/shell";
import { type Live, useClock } from "../../../shared/Transport";
import { TryNext } from "../../../shared/TryNext";
import { useCells } from "../../../shared/useCells";
import { useReducedMotion } from "../../../shared/useMedia";
import { CachePanel } from "./CachePanel";
import { Controls } from "./Controls";
import { explainWeight } from "./explain";
import { HeadPanel } from "./HeadPanel";
import { HeadsPanel } from "./HeadsPanel";
import { InputPanel } from "./InputPanel";
import type { WriteAnswer } from "./messages";
import { NetworkPanel } from "./NetworkPanel";
import { NextToken } from "./NextToken";
import { line, type State } from "./state";
import { suggestions } from "./suggestions";
import { useWriting } from "./useWriting";
import { WrittenText } from "./WrittenText";
import { type Branch, type WriteWorkspace, WriteWorkspaceContext } from "./workspace";

/** How long each token is shown, in milliseconds. */
const pace = 320;
/** The model starts to write after this time without typing, in milliseconds. */
const patience = 900;
const mostBranches = 6;

const lock = (cell: Cell) => ({ cell });

/** The clock over the tokens. It starts automatically after each new text, unless the person prefers reduced motion. */
function usePlaying(answer: WriteAnswer | null, state: State, set: Setter<State>) {
  const count = answer?.ids.length ?? 1;
  const given = answer?.given ?? 1;
  const place = Math.min(state.place ?? given - 1, count - 1);
  /** The text that was played last. Typing stops the clock, and a late frame must not advance another text. */
  const played = useRef(state.text);
  const advance = (place: number) => {
    if (played.current === state.text) set({ place });
  };
  const own = useClock({ count, index: place, go: advance, pace, restart: given - 1 });
  const clock: Live = {
    ...own,
    setPlaying(isPlaying) {
      if (isPlaying) played.current = state.text;
      own.setPlaying(isPlaying);
    },
  };
  const isReduced = useReducedMotion();
  const latest = useRef(clock);
  latest.current = clock;
  const isWaiting = answer !== null && state.place === null && !isReduced;
  useEffect(() => {
    if (!isWaiting) return;
    latest.current.setPlaying(false);
    const timer = setTimeout(() => latest.current.setPlaying(true), patience);
    return () => clearTimeout(timer);
  }, [isWaiting, state.text]);
  /** Goes to a token and stays there. */
  const go = (place: number) => {
    clock.setPlaying(false);
    set({ place: Math.max(0, Math.min(count - 1, place)) });
  };
  const isGrowing = useRef(false);
  useEffect(() => {
    if (isGrowing.current) latest.current.setPlaying(true);
    isGrowing.current = false;
  }, [answer]);
  /** Writes more at the end, and plays it once it is there, or takes one step. */
  const writeOn = (how: "play" | "step") => {
    clock.setPlaying(false);
    isGrowing.current = how === "play" && !isReduced;
    set({ length: state.length + line, place: how === "play" ? count - 1 : count });
  };
  return { place, clock, go, writeOn };
}

/** Former continuations of the same text. */
function useBranches(state: State, set: Setter<State>, answer: WriteAnswer | null, place: number) {
  const [kept, setKept] = useState<{ text: string; branches: readonly Branch[] }>({
    ...{ text: state.text, branches: [] },
  });
  const branches = kept.text === state.text ? kept.branches : [];
  const leave = (at: number, next: Partial<State>, taken: Branch | null) => {
    if (!answer) return;
    const former = {
      ...{ kept: answer.ids.slice(answer.given), place: at },
      pieces: answer.pieces.slice(at + 1),
    };
    const others = branches.filter((each) => each !== taken);
    setKept({ text: state.text, branches: [former, ...others].slice(0, mostBranches) });
    set({ ...next, cell: null });
  };
  return {
    branches,
    take: (id: number) => {
      if (!answer || place < answer.given - 1) return;
      const next = { place: place + 1 };
      if (answer.ids[place + 1] === id) return set(next);
      const before = answer.ids.slice(answer.given, place + 1);
      if (place === answer.ids.length - 1)
        return set({ ...next, kept: [...before, id], length: before.length + 1 });
      leave(place, { ...next, kept: [...before, id] }, null);
    },
    takeAgain: (branch: Branch) =>
      leave(
        branch.place,
        {
          ...{ kept: branch.kept, place: branch.place + 1 },
          length: Math.max(state.length, branch.kept.length),
        },
        branch,
      ),
  };
}

export function View({ state, set, notices: linkNotices }: RoomProps<State>) {
  const { opened, loading, retry, answer, head, shown, dropped, isStale, failure } =
    useWriting(state);
  const { place, clock, go, writeOn } = usePlaying(answer, state, set);
  const { branches, take, takeAgain } = useBranches(state, set, answer, place);
  const count = answer?.ids.length ?? 0;
  useFootnote(
    answer &&
      `${count - answer.given} tokens written and ${count} read in ${answer.milliseconds.toFixed(0)} ms`,
  );
  const size = { rows: count, columns: count };
  const { active, byKeyboard, point, press } = useCells(state, set, size, lock);
  const explanation = useMemo(
    () => (active && shown ? explainWeight(active, shown, place) : null),
    [active, shown, place],
  );

  const drop = useCallback<WriteWorkspace["drop"]>(
    (key, isDropped) =>
      set(({ dropped }) => {
        const others = dropped.filter((other) => other !== key);
        return { dropped: isDropped ? [...others, key] : others };
      }),
    [set],
  );

  const workspace: WriteWorkspace | null =
    opened && answer && head !== null
      ? {
          ...{
            state: { ...state, dropped },
            opened,
            answer,
            place,
            head,
            shown,
            clock,
            active,
            branches,
            set,
            point,
            press,
            drop,
          },
          ...{ go, writeOn },
          take(id) {
            clock.setPlaying(false);
            take(id);
          },
          takeAgain(branch) {
            clock.setPlaying(false);
            takeAgain(branch);
          },
        }
      : null;
  const isDone = answer !== null && !clock.isPlaying && place === count - 1;
  return (
    <WriteWorkspaceContext.Provider value={workspace}>
      <InputPanel
        {...{ state, set, opened, loading, retry }}
        hasFailed={failure !== null}
        notices={[...(failure ? [failure] : []), ...(answer?.notices ?? []), ...linkNotices]}
      />
      <Controls state={state} set={set} answer={answer} place={place} />
      <div class={`work${workspace ? "" : " waiting"}${isStale ? " stale" : ""}`}>
        {workspace && (
          <>
            <Panel name="text">
              <WrittenText />
            </Panel>
            <Panel name="next">
              <NextToken />
            </Panel>
            <Panel name="cache">
              <CachePanel />
            </Panel>
            <Panel name="heads">
              <HeadsPanel />
            </Panel>
            <Panel name="head">
              <HeadPanel explanation={explanation} />
            </Panel>
            <Panel name="network">
              <NetworkPanel />
            </Panel>
          </>
        )}
      </div>
      <TryNext suggestions={suggestions} />
      <Announced>
        {byKeyboard && explanation ? explanationText(explanation) : isDone ? answer.text : ""}
      </Announced>
    </WriteWorkspaceContext.Provider>
  );
}
