/** The sentence, or the two sentences of cross-attention, and how they are split. */

import type { ComponentChildren } from "preact";
import { Choice } from "../../shared/Fields";
import { Notices } from "../../shared/Notices";
import { Lockable, Panel } from "../../shared/Panel";
import type { Setter } from "../../shared/room";
import { Shuffled } from "./Shuffled";
import {
  type AttentionKind,
  attentionKindOf,
  initialState,
  otherCells,
  type SentenceAttention,
  type State,
  withKind,
  withText,
} from "./state";
import { noticeOfCut, tokenize } from "./tokens";

const kinds: readonly (readonly [AttentionKind, string])[] = [
  ["encoder", "encoder: all see all"],
  ["decoder", "decoder: causal"],
  ["cross", "encoder-decoder: two sentences"],
];

const untrained = (
  <>
    · its vectors are made from a seed, not learned, so what a word attends to is random.{" "}
    <a href="#room=heads">Trained heads</a>
  </>
);

function TextField({
  id,
  label,
  note,
  value,
  onInput,
}: {
  id: string;
  label: string;
  /** A few words after the label. */
  note?: ComponentChildren;
  value: string;
  /** Returns the part of the text that is used. */
  onInput(text: string): string;
}) {
  return (
    <div class="sentence-field">
      <label for={id}>{label}</label> {note && <span class="faint">{note}</span>}
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
          // Only if it differs, because setting the value moves the caret to the end.
          if (kept !== currentTarget.value) currentTarget.value = kept;
        }}
      />
    </div>
  );
}

export function Sentence({
  state,
  attention,
  set,
  notify,
  notices,
}: {
  state: State;
  attention: SentenceAttention;
  set: Setter<State>;
  /** Receives a message about the last typed text, or null. */
  notify(notice: string | null): void;
  notices: readonly string[];
}) {
  /** Truncates typed or pasted text to the limit, and reports it. */
  const keep = (text: string, change: (kept: string) => Partial<State>): string => {
    const { kept, cut } = tokenize(text, state.split);
    notify(cut ? noticeOfCut : null);
    set(change(kept));
    return kept;
  };
  return (
    <section class="sentences" aria-label="Sentence">
      <Panel name="sentence">
        <Lockable>
          <TextField
            id="text"
            label={attention.cross ? "This sentence attends (queries)" : "Sentence"}
            note={!state.example && untrained}
            value={state.text}
            onInput={(text) => keep(text, withText)}
          />
          {state.keyText !== null && (
            <TextField
              id="key-text"
              label="This sentence is attended to (keys and values)"
              value={state.keyText}
              onInput={(text) => keep(text, (keyText) => ({ ...otherCells, keyText }))}
            />
          )}
          <div class="sentence-options">
            <Choice
              label="Attention"
              value={attentionKindOf(state)}
              choices={kinds}
              onChange={(kind) => set((now) => withKind(now, kind))}
            />
            <Choice
              label="Cut into"
              value={state.split}
              choices={[
                ["words", "words"],
                ["characters", "characters"],
              ]}
              onChange={(split) => set({ ...otherCells, split, example: false })}
            />
            <span class="row-of-buttons">
              <button
                type="button"
                disabled={attention.queries.tokens.length < 2}
                onClick={() =>
                  set((now) => ({ ...otherCells, shuffle: ((now.shuffle ?? 0) % 999) + 1 }))
                }
              >
                Shuffle the words
              </button>
              {state.shuffle !== null && (
                <button type="button" onClick={() => set({ ...otherCells, shuffle: null })}>
                  Back in order
                </button>
              )}
            </span>
          </div>
          {!state.example && (
            <button
              type="button"
              class="link back-to-example"
              onClick={() => {
                notify(null);
                const { stage, range, curve } = state;
                set({ ...initialState, stage, range, curve });
              }}
            >
              Back to the worked example
            </button>
          )}
        </Lockable>
      </Panel>
      <Shuffled />
      <Notices notices={notices} />
    </section>
  );
}
