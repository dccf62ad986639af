/** Every answer of the model with its probabilities, with all heads and without the ablated ones. */
import { format } from "heed/view/parts";
import type { LikelyToken } from "../../../shared/likelyToken";
import type { AnsweredQuestion } from "./answer";
import { withoutWords } from "./selection";
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
  tokens,
  most,
  isNew = false,
}: {
  tokens: readonly LikelyToken[];
  most: number;
  /** Whether it differs from the answer with all heads. */
  isNew?: boolean;
}) {
  return (
    <td class={isNew ? "changed" : undefined}>
      {tokens.slice(0, most).map(({ token, probability }, i) => (
        <span key={token} class={i === 0 ? "said likeliest" : "said"}>
          <span>{token}</span> <span class="number">{format(probability)}</span>
          <Bar share={probability} />
        </span>
      ))}
    </td>
  );
}

/** Without the ablated heads: the most likely answer and, if it differs, the probability of the original one. */
function InsteadCell({ asked, isMany }: { asked: AnsweredQuestion; isMany: boolean }) {
  const { answers, instead, kept } = asked;
  const [first] = instead ?? [];
  const [old] = answers;
  if (!instead || !first || !old) return <td class="faint">–</td>;
  const hasChanged = first.token !== old.token;
  const tokens = hasChanged && isMany ? [first, { ...old, probability: kept ?? 0 }] : instead;
  return (
    <LikelyTokensCell
      tokens={tokens}
      most={isMany ? (hasChanged ? 2 : 1) : fewAnswers}
      isNew={hasChanged}
    />
  );
}

interface AnswersProps {
  asked: readonly AnsweredQuestion[];
  /** The heading of the answers without the ablated heads. */
  without: string;
}

/** A few answers, below one another, with alternatives. */
function FewAnswers({ asked, without }: AnswersProps) {
  const isRightKnown = asked.some(({ right }) => right !== null);
  return (
    <table class="answers">
      <thead>
        <tr>
          <th scope="col">asked</th>
          <th scope="col">with all heads</th>
          <th scope="col">{without}</th>
          {isRightKnown && <th scope="col">right</th>}
        </tr>
      </thead>
      <tbody>
        {asked.map((each) => (
          <tr key={each.row}>
            <th scope="row">{each.name}</th>
            <LikelyTokensCell tokens={each.answers} most={fewAnswers} />
            <InsteadCell asked={each} isMany={false} />
            {isRightKnown && <td>{each.right ?? "–"}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Many answers, side by side. */
function ManyAnswers({ asked, without }: AnswersProps) {
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
          {asked.map(({ row, answers }) => (
            <LikelyTokensCell key={row} tokens={answers} most={1} />
          ))}
        </tr>
        <tr class="without">
          <th scope="row">{without}</th>
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

export function AnswersPanel() {
  const { selection } = useHeadsWorkspace();
  const { asked } = selection.answer;
  const without = withoutWords(selection) ?? "without a head";
  if (asked.length === 0) return null;
  return (
    <section class="all-answers" aria-labelledby="answers-title">
      <h2 id="answers-title">All answers</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label="Answers">
        {asked.length > fewAnswers ? (
          <ManyAnswers asked={asked} without={without} />
        ) : (
          <FewAnswers asked={asked} without={without} />
        )}
      </section>
    </section>
  );
}
