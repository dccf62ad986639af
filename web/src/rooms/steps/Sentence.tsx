/** The sentence, or the two sentences of cross-attention. */

import type { ComponentChildren } from "preact";
import { shorten } from "#parts";
import { Notices } from "../../shared/Notices";
import { Lockable, Panel } from "../../shared/Panel";
import { isFree } from "../../shared/restrictions";
import type { Setter } from "../../shared/room";
import { useShell } from "../../shared/shell";
import { initialState, type State } from "./settings";
import { type SentenceAttention, splitOf, withKeyText, withText, withVectors } from "./state";
import { noticeOfCut, tokenize } from "./tokens";
import { useStepsWorkspace } from "./workspace";

const longestName = 24;

/** A link to the whole model, unless a teacher keeps the class in this room. */
function WholeModel({ state: { model, text } }: { state: State }) {
  const { restrictions } = useShell();
  if (!isFree(restrictions)) return null;
  const own = model === null ? { length: "0" } : { model };
  const address = new URLSearchParams({ room: "models", text, ...own });
  return <a href={`#${address}`}>All its layers</a>;
}

function VectorsButton({ set, to }: Pick<SentenceProps, "set"> & { to: "learned" | "random" }) {
  return (
    <button type="button" class="link" onClick={() => set(withVectors(to))}>
      Take {to} ones
    </button>
  );
}

/** The origin of the vectors. */
function Origin({ state, attention, isLoading, set }: Omit<SentenceProps, "notify">) {
  if (state.vectors === "example") return <>· a worked example</>;
  if (isLoading)
    return (
      <>
        · learned vectors are loading. <VectorsButton set={set} to="random" />
      </>
    );
  if (state.vectors === "learned")
    return (
      <>
        · <span class="wide-only">read by </span>layer {state.layer + 1} of{" "}
        {state.model === null ? (
          <>
            our <span class="wide-only">language </span>model
          </>
        ) : (
          <b>{shorten(attention.model?.name ?? "", longestName)}</b>
        )}
        <span class="wide-only">, which has learned its numbers</span>. <WholeModel state={state} />
      </>
    );
  return (
    <>
      · random vectors, not trained
      <span class="wide-only">: they show how attention is computed, not what it learns</span>.{" "}
      {!attention.cross && <VectorsButton set={set} to="learned" />}
    </>
  );
}

interface TextFieldProps {
  id: string;
  label: string;
  /** A short note after the label, unless there is no token. */
  note?: ComponentChildren;
  isEmpty: boolean;
  value: string;
  /** Returns the part of the text that is used. */
  onInput(text: string): string;
}

function TextField({ id, label, note, isEmpty, value, onInput }: TextFieldProps) {
  return (
    <div class="sentence-field">
      {/* Stays on one line, so that nothing moves while the person types. */}
      <p class="sentence-label truncated">
        <label for={id}>{label}</label>{" "}
        <span class="faint small">
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
  /** Whether the trained model has not answered yet. */
  isLoading: boolean;
  set: Setter<State>;
  /** Receives a message about the last typed text, or null. */
  notify(notice: string | null): void;
}

function Fields({ notify, ...props }: SentenceProps) {
  const { state, attention, set } = props;
  const { tokens, why } = attention.queries;
  /** Truncates typed or pasted text to the limit, and reports it. */
  const keep = (text: string, change: (now: State, kept: string) => Partial<State>): string => {
    const { kept, cut } = tokenize(text, splitOf(state));
    notify(cut ? noticeOfCut() : null);
    set((now) => change(now, kept));
    return kept;
  };
  return (
    <>
      <TextField
        id="text"
        label={attention.cross ? "This sentence attends (queries)" : "Sentence"}
        note={<Origin {...props} />}
        isEmpty={!props.isLoading && tokens.length === 0 && !why}
        value={state.text}
        onInput={(text) => keep(text, withText)}
      />
      {attention.cross && state.keyText !== null && (
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

/** Small differences are shown by their order of magnitude. */
function Size({ of }: { of: number }) {
  const [digits, power] = of.toExponential(1).split("e-");
  const isSmall = of > 0 && of < 0.001;
  return (
    <b class="number">
      {isSmall ? (
        <>
          {digits} × 10<sup>−{power}</sup>
        </>
      ) : (
        of.toFixed(of === 0 ? 0 : 3)
      )}
    </b>
  );
}

/** The effect of shuffling the words on the outputs. */
function Shuffled() {
  const { state, attention, solution } = useStepsWorkspace();
  if (!attention.order || !solution || solution.shift === null) return null;
  // Only the first sentence is shuffled, and the padding is at the end of the second.
  const goesByPlace = state.mask !== "none" && !(state.mask === "padding" && attention.cross);
  const words = state.position
    ? "With positions, another order gives other outputs"
    : goesByPlace
      ? "The mask depends on positions"
      : "Without positions the outputs only change places with their words";
  return (
    <p class="shuffled" role="status">
      Shuffled: “{attention.queries.tokens.join(" ")}”. {words}: put back in order, the outputs
      differ from those before by up to <Size of={solution.shift} />
      {!state.position && !goesByPlace && ", which is rounding"}.
    </p>
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
          {state.vectors !== "example" && (
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
