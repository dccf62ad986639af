/** The text that the model reads, with its continuation, token by token. */
import { Announced } from "../../../shared/Announced";
import { Notices } from "../../../shared/Notices";
import { Lockable } from "../../../shared/Panel";
import type { Setter } from "../../../shared/room";
import { SentenceArea } from "../../../shared/SentenceArea";
import type { Card } from "./messages";
import { type State, withText } from "./state";
import { WrittenText } from "./WrittenText";

function labelOf({ predicts, mask }: Card): string {
  if (predicts === "causal") return "Type any text, in any script: the model continues it";
  return `Type any text${mask ? `; ${mask.text} hides a word` : ""}`;
}

/** The field is there as soon as a model is, so that a text that it cannot read can be changed. */
export function TextPanel({
  text,
  card,
  set,
  written,
  notices,
}: {
  text: string;
  card: Card;
  set: Setter<State>;
  /** The text that the model wrote; null if it has read no text. */
  written: string | null;
  notices: readonly string[];
}) {
  return (
    <section class="text" aria-labelledby="text-title">
      <h2 id="text-title" class="wide-only">
        The text
      </h2>
      <Lockable>
        <SentenceArea
          id="language-text"
          label={labelOf(card)}
          value={text}
          onInput={(text) => set(withText(text))}
        />
      </Lockable>
      <Notices notices={notices} />
      {written !== null && <WrittenText />}
      <Announced>{written && `The model writes: ${written}`}</Announced>
    </section>
  );
}
