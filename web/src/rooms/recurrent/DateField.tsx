/** The date: typed in any form, or selected from examples. */
import { Notices } from "../../shared/Notices";
import { Lockable, Panel } from "../../shared/Panel";
import type { Setter } from "../../shared/room";
import { maxCharacters } from "./problem";
import { examples, type State } from "./state";
import type { Untaught } from "./untaught";

/** A message below the field. Its space is reserved, so that nothing moves when it appears. */
function Message({ untaught, set }: { untaught: Untaught | null; set: Setter<State> }) {
  const { why, instead = null } = untaught ?? {};
  return (
    <p class="date-message" role="status">
      {why}
      {instead !== null && (
        <>
          {" "}
          <button type="button" class="link" onClick={() => set({ text: instead, slip: null })}>
            Try {instead}
          </button>
        </>
      )}
    </p>
  );
}

interface DateFieldProps {
  state: State;
  set: Setter<State>;
  untaught: Untaught | null;
  notices: readonly string[];
}

export function DateField({ state, set, untaught, notices }: DateFieldProps) {
  return (
    <section class="sentences" aria-label="Date">
      <Panel name="date">
        <Lockable>
          <div class="sentence-field">
            <label for="date">A date, up to {maxCharacters} characters</label>
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
          <p class="forms line">
            {examples.map((text) => (
              <button key={text} type="button" onClick={() => set({ text, slip: null })}>
                {text}
              </button>
            ))}
          </p>
        </Lockable>
        <Message untaught={untaught} set={set} />
      </Panel>
      <Notices notices={notices} />
    </section>
  );
}
