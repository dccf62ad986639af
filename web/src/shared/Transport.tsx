/** Controls to step through a sequence: back, play or pause, next, a slider, and the current step. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { indexAt, type Pace } from "#parts";
import { useReducedMotion } from "./useMedia";

/** An activity that runs on its clock, such as training or sound, and produces steps or moves through them. */
export interface Live {
  readonly isPlaying: boolean;
  setPlaying(isPlaying: boolean): void;
  /** Makes one more step, if possible, when the last one is shown. */
  next?: (() => void) | undefined;
  /** Whether it continues while an earlier step is shown. */
  goesOn?: boolean;
  /** Whether it is pure animation, which some people do not want. */
  isMotion?: boolean;
  /** The names of the buttons; `next` while the last step is shown. */
  names?: { readonly play: string; readonly pause: string; readonly next: string };
}

interface TransportProps {
  /** Steps from 0 to count - 1. */
  count: number;
  index: number;
  go(index: number): void;
  title?: ComponentChildren;
  /** More words about the current step, always on the line of its number. */
  note?: ComponentChildren;
  /** The name of the sequence, for screen readers. */
  label?: string;
  /** The name of one step. */
  unit?: string;
  /** How long each step is shown while playing. A function must be memoised. */
  pace?: Pace;
  /** The step from which playing starts again after the end; 0 by default. */
  restart?: number;
  /** Replaces the built-in clock. */
  live?: Live;
}

const usualPace = 1500;

/**
 * Plays by the clock: the step shown depends only on the time since the start, and nothing runs while paused. Playing
 * ends when another step is chosen elsewhere, because the person wants to stay there.
 */
export function useClock(props: TransportProps): Live {
  const { count, index, go, pace = usualPace, restart = 0 } = props;
  const [isPlaying, setPlaying] = useState(false);
  const latest = useRef({ count, index, go });
  latest.current = { count, index, go };
  useEffect(() => {
    if (!isPlaying) return;
    let from = latest.current.index;
    let start: number | null = null;
    let [shown, counted] = [from, latest.current.count];
    /** Whether `index` has followed the step that was shown last. */
    let hasCome = true;
    let frame = requestAnimationFrame(function draw(now) {
      const { count, index, go } = latest.current;
      if (hasCome && index !== shown) {
        if (count === counted) return setPlaying(false);
        // The steps were renumbered: playing continues from the same step.
        from = shown = index;
        start = null;
      }
      hasCome ||= index === shown;
      counted = count;
      start ??= now;
      const next = Math.min(count - 1, indexAt(now - start, from, count, pace));
      if (next !== shown) {
        shown = next;
        hasCome = false;
        go(next);
      }
      if (next >= count - 1) setPlaying(false);
      else frame = requestAnimationFrame(draw);
    });
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, pace]);
  return {
    isPlaying,
    setPlaying(wanted) {
      // After the end, playing starts again.
      if (wanted && index >= count - 1) {
        latest.current.index = restart;
        go(restart);
      }
      setPlaying(wanted);
    },
  };
}

export function Transport(props: TransportProps) {
  const { count, index, go, title, note, label = "Steps", unit = "Step", live } = props;
  const clock = useClock(props);
  const { isPlaying, setPlaying, next, names } = live ?? clock;
  const reduced = useReducedMotion();
  const isLast = index >= count - 1;
  /** A manual step pauses, because the person wants to stay there. */
  const step = (to: number) => {
    if (!live?.goesOn) setPlaying(false);
    go(to);
  };
  return (
    <fieldset class="transport line" aria-label={label}>
      <span class="transport-buttons">
        <button type="button" disabled={index <= 0} onClick={() => step(index - 1)}>
          ← Back
        </button>
        {/* With reduced motion there is no animation to play; training is not an animation. */}
        {((live && !live.isMotion) || !reduced) && (
          <button
            type="button"
            class="play"
            disabled={count < 2 && !live}
            onClick={() => setPlaying(!isPlaying)}
          >
            {isPlaying ? (names?.pause ?? "Pause") : (names?.play ?? "Play")}
          </button>
        )}
        <button
          type="button"
          disabled={isLast && !next}
          onClick={() => {
            if (!isLast) return step(index + 1);
            setPlaying(false);
            next?.();
          }}
        >
          {names && isLast ? names.next : "Next →"}
        </button>
      </span>
      <input
        type="range"
        class="scrub"
        aria-label={`${unit} shown`}
        aria-valuetext={`${unit} ${index + 1} of ${count}`}
        min={0}
        max={Math.max(0, count - 1)}
        value={index}
        disabled={count < 2}
        onInput={({ currentTarget }) => step(Number(currentTarget.value))}
      />
      <span class="transport-end">
        <span class="transport-place">
          <span class="faint">
            <span class="transport-unit">{unit} </span>
            <span class="number">{index + 1}</span> of <span class="number">{count}</span>
          </span>{" "}
          {title !== undefined && <b>{title}</b>}
        </span>
        {note}
      </span>
    </fieldset>
  );
}
