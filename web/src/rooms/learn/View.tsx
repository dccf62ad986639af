/** The room "Learn": a training in its own worker. A person can watch it while it runs, and replay it. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import { nearest } from "../../picture/scale";
import { Announced } from "../../shared/Announced";
import { percent } from "../../shared/format";
import { Notices } from "../../shared/Notices";
import { Panel } from "../../shared/Panel";
import type { RoomProps } from "../../shared/room";
import { Stale } from "../../shared/Stale";
import { useFootnote } from "../../shared/shell";
import { TryNext } from "../../shared/TryNext";
import { useEscape } from "../../shared/useEscape";
import { Controls } from "./Controls";
import { CourseView } from "./CourseView";
import { Curves } from "./Curves";
import { ExampleView } from "./ExampleView";
import type { CourseSnapshot, ShownExample, Snapshot } from "./messages";
import { Player } from "./Player";
import { mostKept, pastBytesOf } from "./past";
import { type State, setupsOf } from "./state";
import { type Lesson, type LessonControls, useLesson } from "./useLesson";
import { bestMass, headsWords, suggestions } from "./words";

/** The index of the snapshot nearest to the requested step, or of the last one. */
function indexOf({ past }: Lesson, at: number | null): number {
  if (at === null) return past.length - 1;
  return nearest(
    past.map(({ step }) => step),
    at,
  );
}

/** The number of snapshots that determine the best head, so that it does not change with each snapshot. */
const recentCount = 10;

/** The text for screen readers, announced after each tenth of the steps and when training stops. */
function useHeard(lesson: Lesson | null): string {
  const last = lesson?.past.at(-1);
  const total = lesson?.setups[0]?.recipe.steps ?? 1;
  const tenth = last ? Math.floor((10 * last.step) / total) : 0;
  return useMemo(() => {
    if (!lesson || !last || last.step === 0) return "";
    const words = last.courses.map(
      (snapshot, i) =>
        `${headsWords(lesson.begun.courses[i]?.heads ?? 0)}: ${percent(snapshot.exact)} of the held-out examples right, ${percent(bestMass(snapshot))} of the best head's weight on the right places`,
    );
    return `Step ${last.step}. ${words.join("; ")}.`;
  }, [tenth, lesson?.stop, lesson?.setups]);
}

interface Shown {
  readonly snapshot: Snapshot;
  readonly showing: ShownExample;
}

/**
 * The snapshot at an index, with the present example. A snapshot of another example is computed again; until then the
 * last one stays.
 */
function useShown({ lesson, look }: LessonControls, index: number) {
  const snapshot = lesson?.past[index] ?? null;
  const present = lesson?.showings.at(-1) ?? null;
  const isForgotten = snapshot !== null && (lesson?.forgotten.has(snapshot.step) ?? false);
  const isPresent = snapshot !== null && snapshot.showing === present?.id;
  const last = useRef<Shown | null>(null);
  if (isPresent && present) last.current = { snapshot, showing: present };
  const shouldLook = snapshot !== null && !isPresent && !isForgotten;
  useEffect(() => {
    if (shouldLook) look(snapshot.step);
  }, [shouldLook, snapshot?.step, present?.id]);
  const former = lesson?.showings.find(({ id }) => id === snapshot?.showing);
  if (last.current?.showing.id !== present?.id) last.current = null;
  const own = snapshot && former ? { snapshot, showing: former } : null;
  return { shown: last.current ?? own, isPresent, isForgotten };
}

export function View({ state, set, notices }: RoomProps<State>) {
  const key = JSON.stringify(setupsOf(state));
  const setups = useMemo(() => setupsOf(state), [key]);
  const controls = useLesson(setups, state.text, state.starts);
  const { lesson } = controls;
  const heard = useHeard(lesson);
  const index = lesson ? indexOf(lesson, state.at) : 0;
  const { shown, isPresent, isForgotten } = useShown(controls, index);
  const isAnswered = lesson !== null && lesson.setups === setups && lesson.text === state.text;
  const isUnread = isForgotten || (isAnswered && lesson.unread !== null);

  const speed = lesson?.millisecondsPerStep;
  const bytes = lesson ? pastBytesOf(lesson.begun.first) : 0;
  useFootnote(
    lesson &&
      [
        speed === null || speed === undefined
          ? ""
          : `training on one thread, ${speed.toFixed(1)} ms a step · `,
        `the past is kept at up to ${mostKept} steps, ${(bytes / 2 ** 20).toFixed(1)} MB`,
      ].join(""),
  );

  useEscape(() => set({ cell: null }));

  const isPair = (lesson?.begun.courses.length ?? 1) > 1;

  const curves = (
    <Panel name="curves">{lesson && <Curves lesson={lesson} index={index} set={set} />}</Panel>
  );

  return (
    <>
      <Panel name="play">
        <Player state={state} set={set} controls={controls} index={index} />
      </Panel>
      <Controls state={state} set={set} />
      <div class="work" data-example={isPresent && !isUnread ? shown?.showing.text : undefined}>
        <Notices notices={controls.failure === null ? notices : [controls.failure, ...notices]} />
        <Panel name="example">
          <ExampleView
            lesson={lesson}
            showing={shown?.showing ?? null}
            note={isForgotten ? "What the model did with it at this step is not kept." : null}
            state={state}
            set={set}
          />
        </Panel>
        <div class={isPair ? "learn-pictures pair" : "learn-pictures"}>
          {isPair && curves}
          <Panel name="heads">
            <Stale class="learn-courses" isStale={!isAnswered || !isPresent} isUnread={isUnread}>
              {lesson?.begun.courses.map((course, i) => (
                <CourseView
                  key={`${shown?.showing.id} ${i}`}
                  course={course}
                  attentions={shown?.showing.attentions[i] ?? []}
                  snapshot={shown?.snapshot.courses[i] as CourseSnapshot}
                  recent={lesson.past
                    .slice(Math.max(0, index - recentCount), index + 1)
                    .map(({ courses }) => courses[i] as CourseSnapshot)}
                  step={shown?.snapshot.step ?? 0}
                  past={() =>
                    lesson.past
                      .slice(0, index + 1)
                      .filter(({ showing }) => showing === shown?.showing.id)
                      .map(({ step, courses }) => [step, courses[i] as CourseSnapshot] as const)
                  }
                  isPair={isPair}
                  held={lesson.begun.held}
                  weighed={lesson.begun.weighed}
                  layers={lesson.setups[0]?.options.layers ?? 1}
                  state={state}
                  set={set}
                />
              ))}
            </Stale>
          </Panel>
          {!isPair && curves}
        </div>
      </div>
      <TryNext suggestions={suggestions} />
      <Announced>{heard}</Announced>
    </>
  );
}
