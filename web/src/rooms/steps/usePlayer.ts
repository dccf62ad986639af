/** Plays the story. The moment that is shown depends only on the time since playing started. */

import { useEffect, useRef, useState } from "preact/hooks";
import { indexAt, playFrames } from "#parts";
import type { Live } from "../../shared/Transport";
import { useReducedMotion } from "../../shared/useMedia";

interface PlayerOptions {
  readonly count: number;
  readonly index: number;
  /** The index from which playing starts, if it differs from `index`. */
  readonly from: number;
  pace(index: number): number;
  go(index: number): void;
  /** Whether the first answer has arrived. */
  readonly isReady: boolean;
  /** Whether playing starts automatically, once, when the room opens. */
  readonly opens: boolean;
}

export function usePlayer(options: PlayerOptions): Live {
  const reduced = useReducedMotion();
  const [isPlaying, setPlaying] = useState(options.opens && !reduced);
  const isRunning = isPlaying && options.isReady;
  const latest = useRef({ ...options, isRunning });
  latest.current = { ...options, isRunning };

  useEffect(() => {
    if (!isRunning) return;
    const { from, index } = latest.current;
    let shown = index;
    return playFrames((elapsed) => {
      const { count, pace, go } = latest.current;
      // A person has stopped the player, and the effect has not been cleaned up yet.
      if (!latest.current.isRunning) return false;
      // A link has changed the moment.
      if (latest.current.index !== shown) {
        setPlaying(false);
        return false;
      }
      const next = indexAt(elapsed, from, count, pace);
      if (next !== shown) {
        shown = next;
        go(next);
      }
      if (next >= count - 1) setPlaying(false);
      return next < count - 1;
    });
  }, [isRunning]);
  return { isPlaying, setPlaying, isMotion: true };
}
