/** The one place to go through steps: back, play and pause, next, a scrub slider, and where one is. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { indexAt, type Pace } from "./play";
import { useReducedMotion } from "./useReducedMotion";

/** Something that goes on by itself, such as training or sound, and makes steps or moves among them. */
export interface Live {
  readonly isPlaying: boolean;
  setPlaying(isPlaying: boolean): void;
  /** One more step when the last one is shown, if there can be one. */
  next?: (() => void) | undefined;
  /** Whether it goes on while what was before is looked at. */
  goesOn?: boolean;
}

export interface TransportProps {
  /** Steps from 0 to count - 1. */
  count: number;
  index: number;
  go(index: number): void;
  title?: ComponentChildren;
  /** What is stepped through, for a screen reader. */
  label?: string;
  /** What one step is called. */
  unit?: string;
  /** How long each step is shown while playing. The same function until it says otherwise. */
  pace?: Pace;
  /** Steps at which playing stops and waits for the person. */
  stops?: readonly number[];
  /** Where it is not the clock that plays. */
  live?: Live;
}

const usualPace = 1500;

/** Plays by the clock. What is shown depends on the time since the start alone, and nothing runs while it stands. */
function useClock({ count, index, go, pace = usualPace, stops = [] }: TransportProps): Live {
  const [isPlaying, setPlaying] = useState(false);
  const latest = useRef({ count, index, go, stops });
  latest.current = { count, index, go, stops };
  useEffect(() => {
    if (!isPlaying) return;
    const from = latest.current.index;
    let start: number | null = null;
    let shown = from;
    let frame = requestAnimationFrame(function draw(now) {
      start ??= now;
      const { count, go, stops } = latest.current;
      // Not even a frame that comes late passes a stop.
      const stop = stops.find((stop) => stop > from) ?? count - 1;
      const next = Math.min(stop, indexAt(now - start, from, count, pace));
      if (next !== shown) {
        shown = next;
        go(next);
      }
      if (next >= Math.min(stop, count - 1)) setPlaying(false);
      else frame = requestAnimationFrame(draw);
    });
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, pace]);
  return {
    isPlaying,
    setPlaying(wanted) {
      // From the end it plays again from the start.
      if (wanted && index >= count - 1) {
        latest.current.index = 0;
        go(0);
      }
      setPlaying(wanted);
    },
  };
}

export function Transport(props: TransportProps) {
  const { count, index, go, title, label = "Steps", unit = "Step", live } = props;
  const clock = useClock(props);
  const { isPlaying, setPlaying, next } = live ?? clock;
  const reduced = useReducedMotion();
  const isLast = index >= count - 1;
  /** Whoever takes a step wants to stay there. */
  const step = (to: number) => {
    if (!live?.goesOn) setPlaying(false);
    go(to);
  };
  return (
    <fieldset class="transport" aria-label={label}>
      <span class="transport-buttons">
        <button type="button" disabled={index <= 0} onClick={() => step(index - 1)}>
          ← Back
        </button>
        {/* What plays by itself is left out for those who asked for that; training is no motion. */}
        {(live || !reduced) && (
          <button
            type="button"
            class="play"
            disabled={count < 2 && !live}
            onClick={() => setPlaying(!isPlaying)}
          >
            {isPlaying ? "Pause" : "Play"}
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
          Next →
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
      <span class="transport-place">
        <span class="faint">
          {unit} <span class="number">{index + 1}</span> of <span class="number">{count}</span>
        </span>{" "}
        {title !== undefined && <b>{title}</b>}
      </span>
    </fieldset>
  );
}
