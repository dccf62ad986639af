/** Moves through the tokens of a text, and keeps former continuations. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Setter } from "../../../shared/room";
import { type Live, useClock } from "../../../shared/Transport";
import { useReducedMotion } from "../../../shared/useMedia";
import type { ReadAnswer } from "./messages";
import { line, type State } from "./state";
import type { Branch, LanguageWorkspace } from "./workspace";

/** How long each token is shown, in milliseconds. */
const pace = 320;
/** A continuation plays after this time without typing, in milliseconds. */
const patience = 900;
const mostBranches = 6;

interface Playing extends Pick<LanguageWorkspace, "rows" | "place" | "text"> {
  readonly state: State;
}

/** A clock that stops while the person types, so that a late frame does not move through another text. */
function useTokenClock(
  answer: ReadAnswer | null,
  { rows, place, text }: Playing,
  set: Setter<State>,
) {
  const played = useRef(text);
  const { start, count } = rows;
  const restart = (answer?.given ?? 1) - 1 - start;
  const go = (index: number) => {
    if (played.current === text) set({ place: start + index });
  };
  const index = place - start;
  const own = useClock({ count, index, go, pace, restart: restart < count ? restart : 0 });
  const clock: Live = {
    ...own,
    setPlaying(isPlaying) {
      if (isPlaying) played.current = text;
      own.setPlaying(isPlaying);
    },
  };
  return clock;
}

/** The clock over the tokens. It starts after each new text that the model continues, unless the system asks for reduced motion. */
export function usePlaying(answer: ReadAnswer | null, playing: Playing, set: Setter<State>) {
  const { state, rows, text } = playing;
  const count = answer?.ids.length ?? 1;
  const clock = useTokenClock(answer, playing, set);
  const isReduced = useReducedMotion();
  const latest = useRef(clock);
  latest.current = clock;
  const continues = answer !== null && count > answer.given;
  const isWaiting = continues && state.place === null && !isReduced;
  useEffect(() => {
    if (!isWaiting) return;
    latest.current.setPlaying(false);
    const timer = setTimeout(() => latest.current.setPlaying(true), patience);
    return () => clearTimeout(timer);
  }, [isWaiting, text]);
  const isGrowing = useRef(false);
  useEffect(() => {
    if (isGrowing.current) latest.current.setPlaying(true);
    isGrowing.current = false;
  }, [answer]);
  return {
    clock,
    /** Goes to a token and stays there. */
    go(place: number) {
      clock.setPlaying(false);
      const { start, count } = rows;
      set({ place: Math.max(start, Math.min(start + count - 1, place)), cell: null });
    },
    /** Writes more at the end, and plays it once it is there, or takes one step. */
    writeOn(how: "play" | "step") {
      clock.setPlaying(false);
      const length = count - (answer?.given ?? count) + line;
      // The tokens of an encoder's head are all there.
      const isEncoder = rows.start + rows.count < count;
      isGrowing.current = how === "play" && !isReduced && !isEncoder;
      set({ length, ...(!isEncoder && { place: how === "play" ? count - 1 : count }) });
    },
  };
}

/** Former continuations of the same text, in the same language. */
export function useBranches(
  answer: ReadAnswer | null,
  { state, place, text }: Playing,
  set: Setter<State>,
) {
  const owner = JSON.stringify([text, state.from, state.to]);
  const [kept, setKept] = useState<{ owner: string; branches: readonly Branch[] }>({
    ...{ owner, branches: [] },
  });
  const branches = kept.owner === owner ? kept.branches : [];
  const leave = (at: number, next: Partial<State>, taken: Branch | null) => {
    if (!answer) return;
    const former = {
      ...{ kept: answer.ids.slice(answer.given), place: at },
      pieces: answer.tokens.slice(at + 1).map(({ piece }) => piece),
    };
    const others = branches.filter((each) => each !== taken);
    setKept({ owner, branches: [former, ...others].slice(0, mostBranches) });
    set({ ...next, cell: null });
  };
  return {
    branches,
    take(id: number) {
      if (!answer || place < answer.given - 1) return;
      const next = { place: place + 1, cell: null };
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
