/**
 * The model's answer in one sentence, and the head whose ablation changes it; or the reason why an input cannot be
 * read.
 */
import { format } from "heed/view/parts";
import { useShell } from "../../../shared/shell";
import {
  type AnswerSentence,
  answerSentenceOf,
  type HeadSelection,
  type NamedHead,
  withoutWords,
} from "./selection";
import { useHeadsWorkspace } from "./workspace";

function Probability({ of }: { of: AnswerSentence["now"] }) {
  if (of.probability === null) return null;
  return (
    <span class="faint number">
      {" "}
      <span class="wide-only">probability </span>
      {format(of.probability)}
    </span>
  );
}

function Sentence({ sentence }: { sentence: AnswerSentence | null }) {
  if (!sentence) return <p class="saying">The sentence has no pronoun, so nothing is asked.</p>;
  const { subject, now, whole } = sentence;
  const hasChanged = whole !== null && whole.text !== now.text;
  return (
    <p class="saying" role="status">
      {subject} <b class={hasChanged ? "changed" : undefined}>{now.text}</b>
      <Probability of={now} />
    </p>
  );
}

function AblateNeeded({ selection }: { selection: HeadSelection }) {
  const { state, ablate } = useHeadsWorkspace();
  const { restrictions } = useShell();
  const { needed, all } = selection;
  // A link may ablate heads that this model does not have.
  const ablated = state.ablated.filter((key) => all.some(({ head }) => head.key === key));
  if (restrictions.lock) return null;
  if (ablated.length > 0)
    return (
      <button type="button" class="ablate-needed" onClick={() => ablate(ablated, false)}>
        Restore all heads
      </button>
    );
  if (!needed) return null;
  return (
    <button type="button" class="ablate-needed" onClick={() => ablate([needed.head.key], true)}>
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

/**
 * The text next to the button: the effect of ablating the head, the answer with all heads, or why there is no button.
 */
function AnswerNote({ sentence }: { sentence: AnswerSentence | null }) {
  const { selection } = useHeadsWorkspace();
  const { answer, needed } = selection;
  const without = withoutWords(selection);
  return (
    <span class="faint">
      {sentence?.whole && (
        <>
          <span class="wide-only">{without}; </span>with all heads: <b>{sentence.whole.text}</b>
          <Probability of={sentence.whole} />{" "}
        </>
      )}
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
      <p class="answer-more">
        <AblateNeeded selection={selection} />
        <AnswerNote sentence={sentence} />
      </p>
    </section>
  );
}
