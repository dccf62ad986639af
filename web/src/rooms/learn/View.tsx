/** The room "Learn": a training in its own worker, which can be watched while it runs and replayed. */
import { useMemo } from "preact/hooks";
import { nearest } from "../../picture/scale";
import { Announced } from "../../shared/Announced";
import { percent } from "../../shared/format";
import { Notices } from "../../shared/Notices";
import { Panel } from "../../shared/Panel";
import { hides } from "../../shared/restrictions";
import type { RoomProps } from "../../shared/room";
import { useFootnote, useShell } from "../../shared/shell";
import { TryNext } from "../../shared/TryNext";
import { useEscape } from "../../shared/useEscape";
import { Controls } from "./Controls";
import { CourseView } from "./CourseView";
import { Curves } from "./Curves";
import { ExampleView } from "./ExampleView";
import type { CourseSnapshot } from "./messages";
import { Player } from "./Player";
import { mostKept, pastBytesOf } from "./past";
import { type State, setupsOf } from "./state";
import { type Lesson, useLesson } from "./useLesson";
import { bestMass, hopeOf, suggestions } from "./words";

/** The index of the snapshot nearest to the requested step, or of the last one. */
function indexOf({ past }: Lesson, at: number | null): number {
  if (at === null) return past.length - 1;
  return nearest(
    past.map(({ step }) => step),
    at,
  );
}

/** The best head is that of several snapshots, so that it does not change with each. */
const recentCount = 10;

const stops: Readonly<Record<string, string>> = {
  nan: "Training has stopped: the numbers grew until they became NaN. A smaller learning rate keeps them small; Reset starts again.",
};

/** For screen readers: announced after each tenth of the steps, and when training stops. */
function useHeard(lesson: Lesson | null): string {
  const last = lesson?.past.at(-1);
  const total = lesson?.setups[0]?.recipe.steps ?? 1;
  const tenth = last ? Math.floor((10 * last.step) / total) : 0;
  return useMemo(() => {
    if (!lesson || !last || last.step === 0) return "";
    const words = last.courses.map(
      (snapshot, i) =>
        `${lesson.begun.courses[i]?.heads ?? 0} heads: ${percent(snapshot.exact)} of the held-out examples right, ${percent(bestMass(snapshot))} of the best head's weight on the right places`,
    );
    return `Step ${last.step}. ${words.join("; ")}.`;
  }, [tenth, lesson?.stop, lesson?.setups]);
}

export function View({ state, set, notices: linkNotices }: RoomProps<State>) {
  const { restrictions } = useShell();
  const key = JSON.stringify(setupsOf(state));
  const setups = useMemo(() => setupsOf(state), [key]);
  const controls = useLesson(setups, state.text);
  const { lesson, failure } = controls;
  const heard = useHeard(lesson);
  const index = lesson ? indexOf(lesson, state.at) : 0;
  const snapshot = lesson?.past[index] ?? null;
  const showing = lesson?.showings.find(({ id }) => id === snapshot?.showing) ?? null;

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

  const notices = [
    ...(failure ? [failure] : []),
    ...(lesson?.stop && stops[lesson.stop] ? [stops[lesson.stop] as string] : []),
    ...linkNotices,
  ];
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
      <div class="work">
        <Notices notices={notices} />
        <Panel name="example">
          <ExampleView lesson={lesson} showing={showing} state={state} set={set} />
        </Panel>
        <Panel name="heads">
          {!hides(restrictions, "text") && (
            <p class="learn-words">
              {hopeOf(state.task)} Training only ever sees inputs and right answers.
            </p>
          )}
        </Panel>
        <div class={isPair ? "learn-pictures pair" : "learn-pictures"}>
          {isPair && curves}
          <Panel name="heads">
            {lesson?.begun.courses.map((course, i) => (
              <CourseView
                key={`${showing?.id} ${i}`}
                course={course}
                attentions={showing?.attentions[i] ?? []}
                snapshot={snapshot?.courses[i] as CourseSnapshot}
                recent={lesson.past
                  .slice(Math.max(0, index - recentCount), index + 1)
                  .map(({ courses }) => courses[i] as CourseSnapshot)}
                step={snapshot?.step ?? 0}
                isPair={isPair}
                held={lesson.begun.held}
                weighed={lesson.begun.weighed}
                layers={lesson.setups[0]?.options.layers ?? 1}
                state={state}
                set={set}
              />
            ))}
          </Panel>
          {!isPair && curves}
        </div>
      </div>
      <TryNext suggestions={suggestions} />
      <Announced>{heard}</Announced>
    </>
  );
}
