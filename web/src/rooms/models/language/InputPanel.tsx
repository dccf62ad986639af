/** The text that the model continues, and a description of the model. */
import { formatShort } from "heed/view/parts";
import { Notices } from "../../../shared/Notices";
import { Lockable, Panel } from "../../../shared/Panel";
import { hides } from "../../../shared/restrictions";
import type { Setter } from "../../../shared/room";
import { SentenceArea } from "../../../shared/SentenceArea";
import { useShell } from "../../../shared/shell";
import type { LoadingNews, OpenAnswer } from "./messages";
import { maxCharacters, type State, withText } from "./state";

const field = "write-text";

/** Of the smallest GPT-2 (Radford et al., 2019): weights of 12 layers, 768 wide, of 50,257 tokens and 1,024 positions. */
const gpt2Parameters = 124_439_808;

const megabytes = (bytes: number) => formatShort(bytes / 1e6);

function aboutOf(
  opened: OpenAnswer | null,
  loading: LoadingNews | null,
  hasFailed: boolean,
): string {
  if (opened) {
    const { parameters, perplexity } = opened;
    const times = Math.round(gpt2Parameters / parameters);
    return `${parameters.toLocaleString("en")} parameters (the smallest GPT-2: ${times} times as many). Its English is of earlier centuries and rarely makes sense. Perplexity ${perplexity.toFixed(1)} on unseen texts.`;
  }
  if (hasFailed) return "The model did not load.";
  if (!loading) return "The engine is starting.";
  const { loaded, total } = loading;
  return `The model is loading: ${megabytes(loaded)} of ${megabytes(total)} MB.`;
}

export function InputPanel({
  state,
  set,
  opened,
  loading,
  retry,
  hasFailed,
  notices,
}: {
  state: State;
  set: Setter<State>;
  opened: OpenAnswer | null;
  loading: LoadingNews | null;
  /** Loads the model once more. */
  retry(): void;
  hasFailed: boolean;
  notices: readonly string[];
}) {
  const { restrictions } = useShell();
  return (
    <section class="input" aria-label="Text to continue">
      <Panel name="input">
        <Lockable>
          <SentenceArea
            id={field}
            label="Type anything, in any script"
            value={state.text}
            maxLength={maxCharacters}
            onInput={(text) => set(withText(text))}
          />
        </Lockable>
        {!hides(restrictions, "text") && (
          <p class="faint about-model" role={opened ? undefined : "status"}>
            {aboutOf(opened, loading, hasFailed)}
          </p>
        )}
      </Panel>
      <Notices notices={notices} />
      {hasFailed && !opened && (
        <div class="row-of-buttons">
          <button
            type="button"
            onClick={() => {
              // This button goes away, and must not take the focus with it.
              document.getElementById(field)?.focus();
              retry();
            }}
          >
            Try again
          </button>
        </div>
      )}
    </section>
  );
}
