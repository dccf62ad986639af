/** The one player: it trains while the newest snapshot is shown, and replays earlier ones without losing any. */
import { useCallback, useRef } from "preact/hooks";
import { Switch } from "../../shared/Fields";
import type { Setter } from "../../shared/room";
import { fieldsOf } from "../../shared/settings";
import { type Live, Transport, useClock } from "../../shared/Transport";
import { useReducedMotion } from "../../shared/useMedia";
import { slowPace, slowSteps, spacingAt, stepAt } from "./past";
import { type State, settings } from "./state";
import { isOver, type LessonControls } from "./useLesson";

/** How long a replay shows a snapshot, in milliseconds; the first ones longer if the training is slow too. */
const pace = 100;
const firstPace = slowPace * spacingAt(0);

const trainingNames = { play: "Train", pause: "Pause training", next: "One step" };

function statusOf({ lesson, isTraining, isBeginning, failure }: LessonControls): string {
  if (failure !== null) return "Stopped";
  if (!lesson) return "The engine is starting";
  if (isBeginning) return "Another training begins";
  if (lesson.stop === "nan") return "Stopped at NaN: lower the learning rate";
  if (lesson.stop === "finished") return "The training is complete";
  if (isTraining) return "Training";
  return lesson.step === 0 ? "Not trained yet" : "Paused";
}

interface PlayerProps {
  state: State;
  set: Setter<State>;
  controls: LessonControls;
  index: number;
}

/** The clock of a replay, which also shows the first snapshots slowly if `state.slow`. */
function useReplay({ state, controls: { lesson }, index }: PlayerProps, go: (to: number) => void) {
  const past = lesson?.past ?? [];
  const latest = useRef(past);
  latest.current = past;
  const paceAt = useCallback(
    (at: number) => (state.slow && (latest.current[at]?.step ?? 0) < slowSteps ? firstPace : pace),
    [state.slow],
  );
  return useClock({ count: Math.max(1, past.length), index, go, pace: paceAt });
}

export function Player(props: PlayerProps) {
  const { state, set, controls, index } = props;
  const { client, lesson, isTraining } = controls;
  const past = lesson?.past ?? [];
  const total = lesson?.setups[0]?.recipe.steps ?? 0;
  const isBehind = state.at !== null && index < past.length - 1;
  const go = (to: number) => set({ at: stepAt(past, to) });
  const replay = useReplay(props, go);
  const isReplaying = replay.isPlaying || isBehind || isOver(controls);
  const live: Live = isReplaying
    ? { ...replay, goesOn: true, isMotion: true }
    : {
        ...{ isPlaying: isTraining, goesOn: true, names: trainingNames },
        setPlaying: (isPlaying) => client.setTraining(isPlaying),
        next: () => client.trainOnce(),
      };
  return (
    <div class="learn-player">
      <Transport
        count={Math.max(1, past.length)}
        index={Math.max(0, index)}
        go={go}
        label="Training"
        unit="Snapshot"
        live={live}
        title={
          <span class="number">
            step {past[index]?.step ?? 0} of {total}
          </span>
        }
      />
      <p class="learn-place faint number" data-step={lesson?.step ?? 0}>
        <span class="truncated">
          <span role="status">{statusOf(controls)}</span>
          {/* Hidden from screen readers, because it changes several times a second. */}
          {isBehind && isTraining && <span aria-hidden="true">, now at step {lesson?.step}</span>}
        </span>
        {isBehind && (
          <button type="button" class="link" onClick={() => set({ at: null })}>
            Show the newest<span class="wide-only"> snapshot</span>
          </button>
        )}
      </p>
      <Again
        {...props}
        watch={() => {
          go(0);
          replay.setPlaying(true);
        }}
        canWatch={past.length > 1 && !replay.isPlaying}
      />
    </div>
  );
}

/** Controls to watch the training again, to repeat it, and to slow its beginning. */
function Again(props: PlayerProps & { watch(): void; canWatch: boolean }) {
  const { state, set, controls, watch, canWatch } = props;
  const reduced = useReducedMotion();
  return (
    <div class="learn-again line">
      <Switch
        label={
          <>
            Slow start<span class="wide-only">, {slowSteps} steps</span>
          </>
        }
        {...fieldsOf(settings, { state, set })("slow")}
      />
      {!reduced && (
        <button type="button" disabled={!canWatch} onClick={watch}>
          Watch again
        </button>
      )}
      <button
        type="button"
        onClick={() => {
          set({ at: null, cell: null });
          controls.client.trainAgain();
        }}
      >
        Train again
      </button>
    </div>
  );
}
