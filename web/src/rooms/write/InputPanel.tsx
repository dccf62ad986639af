/** The text that the model continues, and what the model is. */
import { formatShort } from "../../shared/format";
import { Notices } from "../../shared/Notices";
import { Lockable, Panel } from "../../shared/Panel";
import { hides } from "../../shared/restrictions";
import type { Setter } from "../../shared/room";
import { SentenceArea } from "../../shared/SentenceArea";
import { useShell } from "../../shared/shell";
import type { LoadingNews, OpenAnswer } from "./messages";
import { maxCharacters, type State, withText } from "./state";

const megabytes = (bytes: number) => formatShort(bytes / 1e6);

function aboutOf(
  opened: OpenAnswer | null,
  loading: LoadingNews | null,
  hasFailed: boolean,
): string {
  if (opened) {
    const { parameters, layers, heads, context, perplexity, vocabulary } = opened;
    return `The model: ${layers} layers of ${heads} heads, ${parameters.toLocaleString("en")} parameters, ${vocabulary.length.toLocaleString("en")} tokens, at most ${context} at a time. Trained by Heed on English of earlier centuries; perplexity ${perplexity.toFixed(1)} on texts that it had not seen.`;
  }
  if (hasFailed) return "The model did not load. Reload the page to try again.";
  if (!loading) return "The engine is starting.";
  const { loaded, total } = loading;
  return `The model is loading: ${megabytes(loaded)} of ${megabytes(total)} MB.`;
}

export function InputPanel({
  state,
  set,
  opened,
  loading,
  hasFailed,
  notices,
}: {
  state: State;
  set: Setter<State>;
  opened: OpenAnswer | null;
  loading: LoadingNews | null;
  hasFailed: boolean;
  notices: readonly string[];
}) {
  const { restrictions } = useShell();
  return (
    <section class="input" aria-label="Text to continue">
      <Panel name="input">
        <Lockable>
          <SentenceArea
            id="write-text"
            label="Type anything, in any script: the model continues it"
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
    </section>
  );
}
