/** The room "Learn": a training in its own worker. A person can watch it while it runs, and replay it. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import { nearest } from "../../picture/scale";
import { Announced } from "../../shared/Announced";
import { percent } from "../../shared/format";
import { refusalOf } from "../../shared/linkReaders";
import { Notices } from "../../shared/Notices";
import { Panel } from "../../shared/Panel";
import type { RoomProps } from "../../shared/room";
import { Stale } from "../../shared/Stale";
import { useFootnote } from "../../shared/shell";
import { TryNext } from "../../shared/TryNext";
import { useReducedMotion } from "../../shared/useMedia";
import { Controls } from "./Controls";
import { CourseView } from "./CourseView";
import { Curves } from "./Curves";
import { courseOf, type Shown } from "./course";
import { ExampleView } from "./ExampleView";
import { Player } from "./Player";
import { mostKept, pastBytesOf } from "./past";
import { type State, setupsOf } from "./state";
import { type Lesson, type LessonControls, useLesson } from "./useLesson";
import { bestMass, headsWords, suggestions } from "./words";

/** The notice about a head of the link that no model of the lesson has. */
function missingHead({ showings }: Lesson, { head }: State): string[] {
  const models = showings.at(-1)?.attentions ?? [];
  if (!head || models.some((all) => head.head < (all[head.attention]?.heads ?? 0))) return [];
  return [refusalOf("head", `${head.attention + 1}.${head.head + 1}`, "a head of this model")];
}

/** The index of the snapshot nearest to the requested step, or of the last one. */
function indexOf({ past }: Lesson, at: number | null): number {
  const steps = past.map(({ step }) => step);
  return at === null ? steps.length - 1 : nearest(steps, at);
}

/** The text for screen readers, announced after each tenth of the steps and when training stops. */
function useHeard(lesson: Lesson | null): string {
  const last = lesson?.past.at(-1);
  const total = lesson?.setups[0]?.recipe.steps ?? 1;
  const tenth = last ? Math.floor((10 * last.step) / total) : 0;
  return useMemo(() => {
    if (!lesson || !last || last.step === 0) return "";
    const words = last.courses.map(
      (snapshot, i) =>
        `${headsWords(lesson.begun.courses[i]?.heads ?? 0)}: ${percent(snapshot.exact)} of the unseen examples right, best head ${percent(bestMass(snapshot))} on the answer positions`,
    );
    return `Step ${last.step}. ${words.join("; ")}.`;
  }, [tenth, lesson?.stop, lesson?.setups]);
}

function useFacts(lesson: Lesson | null): void {
  const speed = lesson?.millisecondsPerStep ?? null;
  const training = speed === null ? "" : `training on one thread, ${speed.toFixed(1)} ms a step · `;
  const megabytes = lesson ? (pastBytesOf(lesson.begun.first) / 2 ** 20).toFixed(1) : "";
  useFootnote(lesson && `${training}the past is kept at up to ${mostKept} steps, ${megabytes} MB`);
}

/** The snapshot at an index with the present example. Until it is computed for that, the last one stays. */
function useShown({ lesson, client }: LessonControls, index: number) {
  const snapshot = lesson?.past[index] ?? null;
  const present = lesson?.showings.at(-1) ?? null;
  const isForgotten = snapshot !== null && (lesson?.forgotten.has(snapshot.step) ?? false);
  const isPresent = snapshot !== null && snapshot.showing === present?.id;
  const last = useRef<Shown | null>(null);
  if (isPresent && present) last.current = { snapshot, showing: present };
  const shouldLook = snapshot !== null && !isPresent && !isForgotten;
  useEffect(() => {
    if (shouldLook) void client.look(snapshot.step);
  }, [shouldLook, snapshot?.step, present?.id]);
  const former = lesson?.showings.find(({ id }) => id === snapshot?.showing);
  if (last.current?.showing.id !== present?.id) last.current = null;
  const own = snapshot && former ? { snapshot, showing: former } : null;
  return { shown: last.current ?? own, isPresent, isForgotten };
}

export function View({ state, set, notices }: RoomProps<State>) {
  const key = JSON.stringify(setupsOf(state));
  const setups = useMemo(() => setupsOf(state), [key]);
  const starts = !useReducedMotion() && state.starts;
  const controls = useLesson(setups, state.text, { starts, slow: state.slow });
  const { lesson, failure } = controls;
  const heard = useHeard(lesson);
  const index = lesson ? indexOf(lesson, state.at) : 0;
  const { shown, isPresent, isForgotten } = useShown(controls, index);
  const isAnswered = lesson !== null && lesson.setups === setups && lesson.text === state.text;
  const isUnread = isForgotten || (isAnswered && lesson.unread !== null);
  useFacts(lesson);
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
        <Notices
          notices={[
            ...(failure === null ? [] : [failure]),
            ...notices,
            ...(isAnswered ? missingHead(lesson, state) : []),
          ]}
        />
        <Panel name="example">
          <ExampleView
            {...{ lesson, state, set, showing: shown?.showing ?? null }}
            note={isForgotten ? "What the model did with it then is not kept." : null}
          />
        </Panel>
        <div class={isPair ? "learn-pictures column pair" : "learn-pictures column"}>
          {isPair && curves}
          <Panel name="heads">
            <Stale
              class="learn-courses column"
              isStale={!isAnswered || !isPresent}
              isUnread={isUnread}
            >
              {shown &&
                lesson?.begun.courses.map((_, i) => (
                  <CourseView
                    key={`${shown.showing.id} ${i}`}
                    {...{ ...courseOf(lesson, shown, index, i), state, set }}
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
