/** The sentence, or the two sentences of cross-attention. */

import type { ComponentChildren } from "preact";
import { Notices } from "../../shared/Notices";
import { Lockable, Panel } from "../../shared/Panel";
import type { Setter } from "../../shared/room";
import { Shuffled } from "./Shuffled";
import { initialState, type SentenceAttention, type State, withKeyText, withText } from "./state";
import { noticeOfCut, tokenize } from "./tokens";

// Functions, because a stored element would keep the earlier elements of the page in memory.
const given = () => <>· a worked example</>;

const untrained = () => (
  <>
    · random vectors, not trained
    <span class="wide-only">: they show how attention is computed, not what it learns</span>.{" "}
    <a href="#room=models&model=pronouns">Trained heads</a>
  </>
);

function TextField({
  id,
  label,
  note,
  isEmpty,
  value,
  onInput,
}: {
  id: string;
  label: string;
  /** A short note after the label, unless there is no token. */
  note?: ComponentChildren;
  isEmpty: boolean;
  value: string;
  /** Returns the part of the text that is used. */
  onInput(text: string): string;
}) {
  return (
    <div class="sentence-field">
      {/* Stays on one line, so that nothing moves while the person types. */}
      <p class="sentence-label">
        <label for={id}>{label}</label>{" "}
        <span class="faint">
          <span role="status">{isEmpty && "· empty: type a word"}</span>
          {!isEmpty && note}
        </span>
      </p>
      <input
        id={id}
        class="sentence"
        type="text"
        dir="auto"
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={({ currentTarget }) => {
          const kept = onInput(currentTarget.value);
          // Sets the value only if it differs, because that moves the caret to the end.
          if (kept !== currentTarget.value) currentTarget.value = kept;
        }}
      />
    </div>
  );
}

interface SentenceProps {
  state: State;
  attention: SentenceAttention;
  set: Setter<State>;
  /** Receives a message about the last typed text, or null. */
  notify(notice: string | null): void;
}

function Fields({ state, attention, set, notify }: SentenceProps) {
  /** Truncates typed or pasted text to the limit, and reports it. */
  const keep = (text: string, change: (now: State, kept: string) => Partial<State>): string => {
    const { kept, cut } = tokenize(text, state.split);
    notify(cut ? noticeOfCut : null);
    set((now) => change(now, kept));
    return kept;
  };
  return (
    <>
      <TextField
        id="text"
        label={attention.cross ? "This sentence attends (queries)" : "Sentence"}
        note={state.example ? given() : untrained()}
        isEmpty={attention.queries.tokens.length === 0}
        value={state.text}
        onInput={(text) => keep(text, withText)}
      />
      {state.keyText !== null && (
        <TextField
          id="key-text"
          label="This sentence is attended to (keys and values)"
          isEmpty={attention.keys.tokens.length === 0}
          value={state.keyText}
          onInput={(text) => keep(text, withKeyText)}
        />
      )}
    </>
  );
}

export function Sentence({
  notices,
  ...props
}: SentenceProps & {
  notices: readonly string[];
}) {
  const { state, set, notify } = props;
  const goBack = () => {
    notify(null);
    const { stage, range, curve } = state;
    set({ ...initialState, stage, range, curve });
  };
  return (
    <section class="sentences" aria-label="Sentence">
      <Panel name="sentence">
        <Lockable>
          <Fields {...props} />
          {!state.example && (
            <button type="button" class="link back-to-example" onClick={goBack}>
              Back<span class="wide-only"> to the worked example</span>
            </button>
          )}
        </Lockable>
      </Panel>
      <Shuffled />
      <Notices notices={notices} />
    </section>
  );
}
