/** The model's answers with their probabilities, with all heads and without the dropped ones. */
import { format } from "../../shared/format";
import type { LikelyToken } from "../../shared/likelyToken";
import { hides } from "../../shared/restrictions";
import { useShell } from "../../shared/shell";
import type { AnsweredQuestion } from "./answer";
import { storyOf } from "./selection";
import { useHeadsWorkspace } from "./workspace";

/** Up to this many answers are shown with their alternatives. */
const fewAnswers = 3;

function Bar({ share }: { share: number }) {
  return (
    <span class="share-bar" aria-hidden="true">
      <span style={{ width: `${100 * share}%` }} />
    </span>
  );
}

/** The `most` most likely answers. */
function LikelyTokensCell({
  said,
  most,
  isNew = false,
}: {
  said: readonly LikelyToken[];
  most: number;
  /** Whether it differs from the answer with all heads. */
  isNew?: boolean;
}) {
  return (
    <td class={isNew ? "changed" : undefined}>
      {said.slice(0, most).map(({ token, probability }, i) => (
        <span key={token} class={i === 0 ? "said likeliest" : "said"}>
          <span>{token}</span> <span class="number">{format(probability)}</span>
          <Bar share={probability} />
        </span>
      ))}
    </td>
  );
}

/** Without the dropped heads: the most likely answer and, if it differs, the probability of the original one. */
function InsteadCell({ asked, isMany }: { asked: AnsweredQuestion; isMany: boolean }) {
  const { says, instead, kept } = asked;
  const [first] = instead ?? [];
  const [old] = says;
  if (!instead || !first || !old) return <td class="faint">–</td>;
  const hasChanged = first.token !== old.token;
  const said = hasChanged && isMany ? [first, { ...old, probability: kept ?? 0 }] : instead;
  return (
    <LikelyTokensCell
      said={said}
      most={isMany ? (hasChanged ? 2 : 1) : fewAnswers}
      isNew={hasChanged}
    />
  );
}

/** The heading of the answers without the dropped heads, and the button that restores them. */
function useDroppedHeads() {
  const { selection, state, drop } = useHeadsWorkspace();
  const { restrictions } = useShell();
  const { length } = selection.all.filter(({ head }) => state.dropped.includes(head.key));
  const heads = length === 0 ? "a head" : `${length} ${length === 1 ? "head" : "heads"}`;
  const giveBack = length > 0 && !restrictions.lock && (
    <button type="button" class="link" onClick={() => drop(state.dropped, false)}>
      restore
    </button>
  );
  return { without: `without ${heads}`, giveBack };
}

/** Few answers, below one another, with alternatives. */
function FewAnswers({ asked }: { asked: readonly AnsweredQuestion[] }) {
  const { without, giveBack } = useDroppedHeads();
  const isRightKnown = asked.some(({ right }) => right !== null);
  return (
    <table class="answers">
      <thead>
        <tr>
          <th scope="col">asked</th>
          <th scope="col">with all heads</th>
          <th scope="col">
            {without} {giveBack}
          </th>
          {isRightKnown && <th scope="col">right</th>}
        </tr>
      </thead>
      <tbody>
        {asked.map((each) => (
          <tr key={each.row}>
            <th scope="row">{each.name}</th>
            <LikelyTokensCell said={each.says} most={fewAnswers} />
            <InsteadCell asked={each} isMany={false} />
            {isRightKnown && <td>{each.right ?? "–"}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Many answers, side by side. */
function ManyAnswers({ asked }: { asked: readonly AnsweredQuestion[] }) {
  const { without, giveBack } = useDroppedHeads();
  const isRightKnown = asked.some(({ right }) => right !== null);
  return (
    <table class="answers many">
      <tbody>
        <tr>
          <th scope="row">asked</th>
          {asked.map(({ row, name }) => (
            <th key={row} scope="col">
              {name}
            </th>
          ))}
        </tr>
        <tr>
          <th scope="row">with all heads</th>
          {asked.map(({ row, says }) => (
            <LikelyTokensCell key={row} said={says} most={1} />
          ))}
        </tr>
        <tr class="without">
          <th scope="row">
            {without} {giveBack}
          </th>
          {asked.map((each) => (
            <InsteadCell key={each.row} asked={each} isMany />
          ))}
        </tr>
        {isRightKnown && (
          <tr>
            <th scope="row">right</th>
            {asked.map(({ row, right }) => (
              <td key={row}>{right ?? "–"}</td>
            ))}
          </tr>
        )}
      </tbody>
    </table>
  );
}

/** The text that the model generates, token by token. */
function Written() {
  const { selection } = useHeadsWorkspace();
  const { without } = useDroppedHeads();
  const { written } = selection.answer;
  if (!written) return null;
  const quoted = (text: string) => <b>{text === "" ? "nothing" : text}</b>;
  return (
    <p class="written" role="status">
      By itself it writes {quoted(written.whole)}
      {written.without !== null && (
        <>
          , {without} {quoted(written.without)}
        </>
      )}
      .
    </p>
  );
}

export function AnswerPanel() {
  const { selection } = useHeadsWorkspace();
  const { restrictions } = useShell();
  const { asked } = selection.answer;
  return (
    <section class="answer" aria-labelledby="answer-title">
      <h2 id="answer-title">What the model says</h2>
      {!hides(restrictions, "text") && <p class="story">{storyOf(selection, format).join(" ")}</p>}
      <Written />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label="Answers">
        {asked.length > fewAnswers ? <ManyAnswers asked={asked} /> : <FewAnswers asked={asked} />}
      </section>
    </section>
  );
}
