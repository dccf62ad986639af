/** Controls to train, pause, make one step or start again, and to replay the training without losing any of it. */

import type { Setter } from "../../shared/room";
import { Transport } from "../../shared/Transport";
import type { State } from "./state";
import type { LessonControls } from "./useLesson";

/** How long a replay shows each snapshot, in milliseconds. */
const pace = 100;

/** The current status of the training. */
function statusOf({ lesson, isTraining, isBeginning, failure }: LessonControls): string {
  if (failure !== null) return "Stopped";
  if (!lesson) return "The engine is starting";
  if (isBeginning) return "Another training begins";
  if (lesson.stop === "nan") return "Stopped at NaN: lower the learning rate";
  if (lesson.stop === "finished") return "The training is complete";
  if (isTraining) return "Training";
  return lesson.step === 0 ? "Not trained yet" : "Paused";
}

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
  const { lesson, isTraining, isBeginning, setTraining, trainOnce, trainAgain } = controls;
  const past = lesson?.past ?? [];
  const total = lesson?.setups[0]?.recipe.steps ?? 0;
  const isOver = !isBeginning && (lesson?.stop === "finished" || lesson?.stop === "nan");
  const isBehind = state.at !== null && index < past.length - 1;
  const follow = () => set({ at: null });
  return (
    <div class="learn-player">
      <fieldset class="learn-train" aria-label="Training">
        <button
          type="button"
          class="train"
          disabled={isOver}
          onClick={() => {
            follow();
            setTraining(!isTraining);
          }}
        >
          {isTraining ? "Pause training" : "Train"}
        </button>
        <button
          type="button"
          disabled={isOver}
          onClick={() => {
            follow();
            trainOnce();
          }}
        >
          One step
        </button>
        <button
          type="button"
          onClick={() => {
            set({ at: null, cell: null });
            trainAgain();
          }}
        >
          Train again
        </button>
      </fieldset>
      <Transport
        count={Math.max(1, past.length)}
        index={Math.max(0, index)}
        go={(to) => set({ at: to >= past.length - 1 ? null : (past[to]?.step ?? null) })}
        label="Replay"
        unit="Snapshot"
        pace={pace}
        title={
          <span class="number">
            step {past[index]?.step ?? 0} of {total}
          </span>
        }
      />
      <p class="learn-place number" data-step={lesson?.step ?? 0}>
        <span>
          <span role="status">{statusOf(controls)}</span>
          {/* Hidden from screen readers, because it changes several times a second. */}
          {isBehind && isTraining && <span aria-hidden="true">, now at step {lesson?.step}</span>}
        </span>
        {isBehind && (
          <button type="button" class="link" onClick={follow}>
            Show the newest<span class="wide-only"> snapshot</span>
          </button>
        )}
      </p>
    </div>
  );
}
