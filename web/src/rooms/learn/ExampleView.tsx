/** The example whose weights are shown, held out or typed, and the model's answer to it. */
import { useId } from "preact/hooks";
import { Notices } from "../../shared/Notices";
import { Lockable } from "../../shared/Panel";
import type { Setter } from "../../shared/room";
import { TokenRow } from "../../shared/TokenRow";
import type { AnswerPart, CourseSnapshot, ShownExample } from "./messages";
import { maxCharacters, type State, tasks } from "./state";
import type { Lesson } from "./useLesson";

function OwnField({ state, set }: { state: State; set: Setter<State> }) {
  const id = useId();
  const { task, text } = state;
  return (
    <Lockable>
      <div class="learn-own">
        <label for={id}>Type your own</label>
        <input
          id={id}
          type="text"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          maxLength={maxCharacters}
          placeholder={tasks[task].such}
          value={text ?? ""}
          onInput={({ currentTarget }) =>
            set({ text: currentTarget.value || null, cell: null, row: null })
          }
        />
        {text !== null && (
          <button
            type="button"
            class="link"
            onClick={() => set({ text: null, cell: null, row: null })}
          >
            Back to the held-out example
          </button>
        )}
      </div>
    </Lockable>
  );
}

export function ExampleView({
  lesson,
  showing,
  state,
  set,
}: {
  lesson: Lesson | null;
  /** The example of the shown step, which may differ from the current one. */
  showing: ShownExample | null;
  state: State;
  set: Setter<State>;
}) {
  return (
    <div class={`learn-example ${state.task}`}>
      <p>
        <b>{lesson?.begun.about ?? "The engine is starting."}</b>{" "}
        {showing && (
          <span class="faint">
            {showing.isOwn
              ? "Your own example; training may meet it by chance:"
              : "An example that training never sees:"}
          </span>
        )}
      </p>
      <TokenRow tokens={(showing?.source ?? []).map((token) => (token === " " ? "␣" : token))} />
      <OwnField state={state} set={set} />
      <Notices notices={lesson?.why ? [lesson.why] : []} />
    </div>
  );
}

function RightMark({ isRight }: { isRight: boolean }) {
  return (
    <span class="token-number" role="img" aria-label={isRight ? "right" : "wrong"}>
      {isRight ? "✓" : "✗"}
    </span>
  );
}

function AnswerWord({ of, token, isRight }: AnswerPart) {
  const marked = isRight ? "right" : "wrong";
  return (
    <li class={isRight === null ? undefined : marked}>
      <span class="token">
        {of !== null && <span class="faint">{of} = </span>}
        <bdi>{token === "<end>" ? "end" : token}</bdi>
      </span>
      {isRight !== null && <RightMark isRight={isRight} />}
    </li>
  );
}

export function AnswerView({ snapshot, held }: { snapshot: CourseSnapshot; held: number }) {
  const answer = snapshot.answer;
  return (
    <div class="learn-answer">
      <p class="faint">
        Its answer{" "}
        <span class="number">
          {`· ${Math.round(held * snapshot.exact)} of ${held} held-out examples answered correctly`}
        </span>
      </p>
      <ol class="tokens">
        {answer.map((said, i) => (
          <AnswerWord key={i} {...said} />
        ))}
      </ol>
    </div>
  );
}
