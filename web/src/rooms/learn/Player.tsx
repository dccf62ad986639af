/** Play, step, scrub and reset, and the current step. */

import type { Setter } from "../../shared/room";
import { Transport } from "../../shared/Transport";
import type { State } from "./state";
import type { LessonControls } from "./useLesson";

export function Player({
  state,
  set,
  controls,
  index,
}: {
  state: State;
  set: Setter<State>;
  controls: LessonControls;
  index: number;
}) {
  const { lesson, isPlaying, setPlaying, stepOnce, reset } = controls;
  const past = lesson?.past ?? [];
  const total = lesson?.setups[0]?.recipe.steps ?? 0;
  const isLast = index >= past.length - 1;
  const isOver = lesson?.stop === "finished" || lesson?.stop === "nan";
  return (
    <div class="learn-player">
      <Transport
        count={Math.max(1, past.length)}
        index={Math.max(0, index)}
        go={(to) => set({ at: to >= past.length - 1 ? null : (past[to]?.step ?? null) })}
        label="Training"
        unit="Snapshot"
        title={<span class="number">after step {past[index]?.step ?? 0}</span>}
        live={{ isPlaying, setPlaying, next: isOver ? undefined : stepOnce, goesOn: true }}
      />
      <button
        type="button"
        onClick={() => {
          set({ at: null, cell: null });
          reset();
        }}
      >
        Reset
      </button>
      <p class="learn-place number">
        Training is at step <b data-step={lesson?.step ?? 0}>{lesson?.step ?? 0}</b> of {total}
        {lesson?.stop === "finished" && ", its end: Play starts again"}.{" "}
        {state.at !== null && !isLast && (
          <button type="button" class="link" onClick={() => set({ at: null })}>
            Show the current step
          </button>
        )}
      </p>
    </div>
  );
}
