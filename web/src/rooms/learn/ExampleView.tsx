/** The example whose weights are shown, which is held out or typed, and the model's answer to it. */
import { useId } from "preact/hooks";
import { plain } from "../../shared/attended";
import { Lockable, Prose } from "../../shared/Panel";
import type { Setter } from "../../shared/room";
import { Term } from "../../shared/Term";
import { UnreadText } from "../../shared/UnreadText";
import { type AnswerPart, type CourseSnapshot, held, type ShownExample } from "./messages";
import { type State, tasks } from "./state";
import type { Lesson } from "./useLesson";
import { hopeOf } from "./words";

const withText = (text: string | null) => ({ text, cell: null, row: null });

interface ExampleProps {
  lesson: Lesson | null;
  /** The example of the shown step. */
  showing: ShownExample | null;
  /** The reason why it cannot be shown at this step; null if it can. */
  note: string | null;
  state: State;
  set: Setter<State>;
}

function TextField({ showing, state: { task, text, length }, set }: ExampleProps) {
  const id = useId();
  return (
    <div class="sentence-field">
      <label for={id}>
        Type your own <span class="field-limits small faint">{tasks[task].limits(length)}</span>
      </label>
      <input
        id={id}
        type="text"
        class="sentence"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={text ?? showing?.text ?? ""}
        onInput={({ currentTarget }) => set(withText(currentTarget.value))}
      />
    </div>
  );
}

export function ExampleView(props: ExampleProps) {
  const { lesson, note, state, set } = props;
  const { task, text, length } = state;
  const unread = lesson && lesson.text === text ? lesson.unread : null;
  return (
    <div class="learn-example">
      <p>
        <b>{lesson?.begun.about ?? "The engine is starting."}</b>
      </p>
      <Prose class="learn-hope">{hopeOf(state)}</Prose>
      <Lockable>
        <TextField {...props} />
      </Lockable>
      <div class="learn-about-example line">
        {unread ? (
          <UnreadText
            unread={unread}
            instead={tasks[task].such(length)}
            onUse={(text) => set(withText(text))}
          />
        ) : (
          <p class="faint">{note ?? (text === null && "Training never sees it.")}</p>
        )}
        {text !== null && (
          <button type="button" class="link" onClick={() => set(withText(null))}>
            Back<span class="wide-only"> to the unseen example</span>
          </button>
        )}
      </div>
    </div>
  );
}

function AnswerWord({ of, token, isRight }: AnswerPart) {
  const mark = isRight ? "right" : "wrong";
  return (
    <li class={isRight === null ? undefined : mark}>
      <span class="token truncated">
        {of !== null && <span class="faint">{of} = </span>}
        <bdi>{plain(token)}</bdi>
      </span>
      {isRight !== null && (
        <span class="token-number faint" role="img" aria-label={mark}>
          {isRight ? "✓" : "✗"}
        </span>
      )}
    </li>
  );
}

export function AnswerView({ snapshot: { exact, answer } }: { snapshot: CourseSnapshot }) {
  return (
    <div class="learn-answer">
      <p class="faint">
        Its answer <span class="number">{`· ${Math.round(held * exact)} of ${held} `}</span>
        <Term name="unseen examples" /> right
      </p>
      <ol class="tokens line">
        {answer.map((said, i) => (
          <AnswerWord key={i} {...said} />
        ))}
      </ol>
    </div>
  );
}
