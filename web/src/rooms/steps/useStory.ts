/** The story of all stages with its player, and the steps of the person through it. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { indexAt, indexIn, type Pace, placeAt, playFrames, playFrom, type Story } from "#parts";
import type { Setter } from "../../shared/room";
import { useShell } from "../../shared/shell";
import type { Live } from "../../shared/Transport";
import { useReducedMotion } from "../../shared/useMedia";
import type { MatrixName } from "./matrices";
import type { State } from "./settings";
import type { StageName } from "./stageNames";
import { toStage, unlocked } from "./state";
import { playPaceOf, type Shown, storyOf } from "./unfolding";

export interface Told {
  readonly story: Story<StageName, MatrixName>;
  readonly index: number;
  /** How long playing shows each moment, in milliseconds. */
  readonly pace: Exclude<Pace, number>;
  readonly live: Live;
  /** Applies a change by the person, which ends playing. */
  set: Setter<State>;
  go(index: number): void;
  /** Shows a completed stage, as a new entry of the browser's history. */
  showStage(stage: StageName): void;
}

/** Steps through the moments with the arrow keys, unless another element handles them. */
function useArrowKeys(step: (by: 1 | -1) => void): void {
  const latest = useRef(step);
  latest.current = step;
  useEffect(() => {
    const onKeyDown = ({ key, target }: KeyboardEvent) => {
      const by = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : null;
      const wanted = (target as Element).closest?.("input, select, canvas, .scroll, summary");
      if (by && !wanted) latest.current(by);
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

interface PlayerOptions extends Pick<Told, "story" | "index" | "pace"> {
  /** The index from which playing starts, if it differs from `index`. */
  readonly from: number;
  go(index: number): void;
  /** Whether the first answer has arrived. */
  readonly isReady: boolean;
}

/**
 * Plays the story. The moment that is shown depends only on the time since playing started.
 *
 * @param opens whether playing starts automatically, once, when the room opens
 */
function usePlayer(options: PlayerOptions, opens: boolean): Live {
  const reduced = useReducedMotion();
  const [isPlaying, setPlaying] = useState(opens && !reduced);
  const isRunning = isPlaying && options.isReady;
  const latest = useRef({ ...options, isRunning });
  latest.current = { ...options, isRunning };

  useEffect(() => {
    if (!isRunning) return;
    const { from, index } = latest.current;
    let shown = index;
    return playFrames((elapsed) => {
      const { story, pace, go } = latest.current;
      // A person has stopped the player, and the effect has not been cleaned up yet.
      if (!latest.current.isRunning) return false;
      const next = indexAt(elapsed, from, story.count, pace);
      // A link has changed the moment.
      const isOver = latest.current.index !== shown || next >= story.count - 1;
      if (latest.current.index === shown && next !== shown) {
        shown = next;
        go(next);
      }
      if (isOver) setPlaying(false);
      return !isOver;
    });
  }, [isRunning]);
  return { isPlaying, setPlaying, isMotion: true };
}

/** @param opens whether playing starts automatically when the room opens */
export function useStory(
  { state, attention, solution }: Omit<Shown, "unfolding">,
  setState: Setter<State>,
  opens: boolean,
): Told {
  const { remember } = useShell();
  const { vectors, position, edits, mask, padFrom, window, hidden } = state;
  const story = useMemo(() => storyOf(state, attention), [vectors, position, edits, attention]);
  const pace = useMemo(
    () => playPaceOf(story, state, attention),
    [story, mask, padFrom, window, hidden],
  );
  const index = indexIn(story, state);
  const placeOf = (next: number) => ({ ...placeAt(story, next), ...unlocked });
  const from = playFrom(story, state);
  const go = (next: number) => setState(placeOf(next));
  const live = usePlayer({ story, index, pace, from, go, isReady: solution !== null }, opens);
  const { setPlaying } = live;
  const set = useCallback<Setter<State>>(
    (change) => {
      setPlaying(false);
      setState(change);
    },
    [setState, setPlaying],
  );
  const show = (place: Partial<State>) => {
    if (place.stage !== state.stage) remember();
    set(place);
  };
  const step = (next: number) => show(placeOf(next));
  useArrowKeys((by) => {
    if (index + by >= 0 && index + by < story.count) step(index + by);
  });
  return { story, index, pace, live, set, go: step, showStage: (stage) => show(toStage(stage)) };
}
