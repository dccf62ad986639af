/**
 * The model's answer in one sentence, and the head whose ablation changes it; or the reason why an input cannot be
 * read.
 */
import { format } from "#parts";
import { useShell } from "../../../shared/shell";
import {
  type AnswerSentence,
  answerSentenceOf,
  type HeadSelection,
  type NamedHead,
  withoutWords,
} from "./selection";
import { useHeadsWorkspace } from "./workspace";

function Said({ answer: { text, probability } }: { answer: AnswerSentence["now"] }) {
  return (
    <>
      <b>{text}</b>
      {probability !== null && (
        <span class="faint number">
          {" "}
          <span class="wide-only">probability </span>
          {format(probability)}
        </span>
      )}
    </>
  );
}

/** The answer with all heads and, next to it, the answer without the ablated ones. */
function Sentence({ sentence }: { sentence: AnswerSentence | null }) {
  if (!sentence) return <p class="saying">The sentence has no pronoun, so nothing is asked.</p>;
  const { subject, now, whole } = sentence;
  return (
    <p class="saying" role="status">
      {subject} {whole && <Said answer={whole} />}
      {whole && <span class="faint"> → </span>}
      <span class={whole && whole.text !== now.text ? "changed" : undefined}>
        <Said answer={now} />
      </span>
    </p>
  );
}

function AblateNeeded({ selection }: { selection: HeadSelection }) {
  const { state, set } = useHeadsWorkspace();
  const { restrictions } = useShell();
  const { needed, all } = selection;
  // A link may ablate heads that this model does not have.
  const isAblated = all.some(({ head }) => state.ablated.includes(head.key));
  if (restrictions.lock) return null;
  if (isAblated)
    return (
      <button type="button" class="ablate-needed" onClick={() => set({ ablated: [] })}>
        Restore all heads
      </button>
    );
  if (!needed) return null;
  return (
    <button type="button" class="ablate-needed" onClick={() => set({ ablated: [needed.head.key] })}>
      Ablate {needed.name}
    </button>
  );
}

/** Ends the sentence that starts with the button. Without the button it is the whole sentence. */
function Changes({ name }: NamedHead) {
  const { restrictions } = useShell();
  return (
    <>
      <span class={restrictions.lock ? undefined : "on-paper"}>Ablating {name} </span>changes the
      answer.{" "}
    </>
  );
}

/** The text next to the button: the effect of ablating the head, the names of the two answers, or why there is no button. */
function AnswerNote({ sentence }: { sentence: AnswerSentence | null }) {
  const { selection } = useHeadsWorkspace();
  const { answer, needed } = selection;
  const without = withoutWords(selection);
  return (
    <span class="faint">
      {sentence?.whole && `with all heads → ${without}. `}
      {sentence && !without && (needed ? <Changes {...needed} /> : "No single head changes it. ")}
      {answer.note}
    </span>
  );
}

export function AnswerPanel() {
  const { selection } = useHeadsWorkspace();
  const sentence = answerSentenceOf(selection);
  return (
    <section class="answer" aria-label="What the model says">
      <Sentence sentence={sentence} />
      <p class="answer-more line">
        <AblateNeeded selection={selection} />
        <AnswerNote sentence={sentence} />
      </p>
    </section>
  );
}
