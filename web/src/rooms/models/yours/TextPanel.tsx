/** The text that the model reads, its tokens, and the continuation that the model writes. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Announced } from "../../../shared/Announced";
import { Notices } from "../../../shared/Notices";
import { Lockable } from "../../../shared/Panel";
import { label } from "../../../shared/pieces";
import { hides } from "../../../shared/restrictions";
import type { Setter } from "../../../shared/room";
import { SentenceArea } from "../../../shared/SentenceArea";
import { useShell } from "../../../shared/shell";
import { TokenRow } from "../../../shared/TokenRow";
import type { Card } from "./messages";
import { line, maxCharacters, mostTokens, type State, withText } from "./state";
import { useYoursWorkspace } from "./workspace";

/** Up to this many tokens are chips; longer texts scroll. */
const fewTokens = 60;

function About() {
  const { answer, place } = useYoursWorkspace();
  const { id, piece, raw } = answer.tokens[place] as (typeof answer.tokens)[number];
  return (
    <p class="faint text-about">
      Token {place + 1} of {answer.ids.length}: “{label(piece)}”, number {id}
      {raw !== piece && <span class="wide-only">, written {raw}</span>}.
    </p>
  );
}

function Writing() {
  const { state, card, answer, isBusy, set } = useYoursWorkspace();
  const { restrictions } = useShell();
  const most = Math.min(card.context, mostTokens);
  const canGrow = answer.ids.length < most && !answer.hasEnded && !restrictions.lock;
  const count = answer.ids.length - answer.given;
  return (
    <Lockable>
      <div class="row-of-buttons">
        <button
          type="button"
          disabled={!canGrow || isBusy}
          onClick={() => set({ length: count + line, place: null, cell: null })}
        >
          {isBusy && state.length > 0 ? "Writing …" : `Write ${line} tokens`}
        </button>
        {state.length > 0 && (
          <button
            type="button"
            class="link"
            onClick={() => set({ length: 0, kept: [], place: null, cell: null })}
          >
            Remove what was written
          </button>
        )}
        {answer.hasEnded && <span class="faint">The model has ended its text.</span>}
      </div>
    </Lockable>
  );
}

function Tokens() {
  const { card, answer, place, set } = useYoursWorkspace();
  const { restrictions } = useShell();
  const tokens = useMemo(() => answer.tokens.map(({ piece }) => label(piece)), [answer]);
  const chips = useRef<HTMLDivElement>(null);
  // On a telephone they are one row that scrolls.
  useEffect(() => {
    const token = chips.current?.querySelector<HTMLElement>("[aria-pressed=true]");
    if (!chips.current || !token) return;
    chips.current.scrollLeft = token.offsetLeft + token.offsetWidth - chips.current.clientWidth;
  }, [place, tokens]);
  return (
    <>
      <div ref={chips} class={tokens.length > fewTokens ? "chips many" : "chips"}>
        <TokenRow
          tokens={tokens}
          selected={place}
          written={answer.given}
          onSelect={(place) => set({ place, cell: null })}
        />
      </div>
      {!hides(restrictions, "text") && <About />}
      {card.predicts === "causal" && <Writing />}
      <Announced>{answer.written && `The model writes: ${answer.written}`}</Announced>
    </>
  );
}

/** The field is there as soon as a model is, so that a text that it cannot read can be changed. */
export function TextPanel({
  text,
  card: { predicts, mask },
  set,
  isRead,
  notices,
}: {
  text: string;
  card: Card;
  set: Setter<State>;
  /** Whether the model has read a text. */
  isRead: boolean;
  notices: readonly string[];
}) {
  return (
    <section class="text" aria-labelledby="text-title">
      <h2 id="text-title" class="wide-only">
        The text
      </h2>
      <Lockable>
        <SentenceArea
          id="yours-text"
          label={
            predicts === "causal"
              ? "Type any text: the model continues it"
              : `Type any text${mask ? `; ${mask.text} hides a word` : ""}`
          }
          value={text}
          maxLength={maxCharacters}
          onInput={(text) => set(withText(text))}
        />
      </Lockable>
      <Notices notices={notices} />
      {isRead && <Tokens />}
    </section>
  );
}
