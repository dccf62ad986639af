/** The date: typed in any form, or selected from examples. */
import { Notices } from "../../shared/Notices";
import { Lockable, Panel } from "../../shared/Panel";
import type { Setter } from "../../shared/room";
import { maxCharacters } from "./problem";
import { forms, type State } from "./state";

function Forms({ kind, set }: { kind: keyof typeof forms; set: Setter<State> }) {
  return (
    <p class="forms">
      <span class="faint">{kind}</span>
      {forms[kind].map((text) => (
        <button key={text} type="button" onClick={() => set({ text, slip: null })}>
          {text}
        </button>
      ))}
    </p>
  );
}

export function DateField({
  state,
  set,
  notices,
}: {
  state: State;
  set: Setter<State>;
  notices: readonly string[];
}) {
  return (
    <section class="sentences" aria-label="Date">
      <Panel name="date">
        <Lockable>
          <div class="sentence-field">
            <label for="date">A date, as people write it</label>
            <input
              id="date"
              class="sentence"
              type="text"
              autocomplete="off"
              spellcheck={false}
              maxLength={maxCharacters}
              value={state.text}
              onInput={({ currentTarget }) => set({ text: currentTarget.value })}
            />
          </div>
          {Object.keys(forms).map((kind) => (
            <Forms key={kind} kind={kind as keyof typeof forms} set={set} />
          ))}
        </Lockable>
      </Panel>
      <Notices notices={notices} />
    </section>
  );
}
