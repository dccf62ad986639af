/** Every answer of the model with its probabilities, with all heads and without the ablated ones. */
import { format } from "heed/view/parts";
import { CandidateHead, ShareCells } from "../../../shared/CandidateTable";
import type { AnsweredQuestion } from "./answer";
import { saidTo } from "./asking";
import { withoutWords } from "./selection";
import { useHeadsWorkspace } from "./workspace";

/** Up to this many answers are shown with their alternatives. */
const fewAnswers = 3;

interface AnswersProps {
  asked: readonly AnsweredQuestion[];
  /** The heading of the answers without the ablated heads; null if none are ablated. */
  without: string | null;
}

/** A table of candidates for each of a few answers. */
function FewAnswers({ asked, without }: AnswersProps) {
  return asked.map(({ row, name, candidates, right }) => (
    <div key={row} class="one-answer">
      <table class="candidates" data-asked={name}>
        <CandidateHead token={name} without={without} isDrawn={false} />
        <tbody>
          {candidates.map(({ token, probability, without }) => (
            <tr key={token} data-token={token}>
              <th scope="row">{token}</th>
              <ShareCells model={probability} without={without} drawn={null} />
            </tr>
          ))}
        </tbody>
      </table>
      {right !== null && (
        <p>
          <span class="faint">right:</span> {right}
        </p>
      )}
    </div>
  ));
}

function Said({ token, share, isOld = false }: { token: string; share: number; isOld?: boolean }) {
  return (
    <span class={isOld ? "said" : "said likeliest"}>
      <span>{token}</span> <span class="number">{format(share)}</span>
    </span>
  );
}

/** The most likely answer and, if it is not the one with all heads, the probability of that one. */
function InsteadCell({ asked }: { asked: AnsweredQuestion }) {
  const [old, now] = [saidTo(asked), saidTo(asked, "without")];
  if (!old || !now || now.without === null) return <td class="faint">–</td>;
  return (
    <td class={now === old ? undefined : "changed"}>
      <Said token={now.token} share={now.without} />
      {now !== old && <Said token={old.token} share={old.without ?? 0} isOld />}
    </td>
  );
}

/** Many answers, side by side. */
function ManyAnswers({ asked, without }: AnswersProps) {
  const isRightKnown = asked.some(({ right }) => right !== null);
  return (
    <table class="answers">
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
          {asked.map((each) => {
            const said = saidTo(each);
            return <td key={each.row}>{said && <Said {...said} share={said.probability} />}</td>;
          })}
        </tr>
        <tr class="without">
          <th scope="row">{without ?? "without a head"}</th>
          {asked.map((each) => (
            <InsteadCell key={each.row} asked={each} />
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
  if (asked.length === 0) return null;
  const props = { asked, without: withoutWords(selection) };
  return (
    <section class="all-answers" aria-labelledby="answers-title">
      <h2 id="answers-title">All answers</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label="Answers">
        {asked.length > fewAnswers ? <ManyAnswers {...props} /> : <FewAnswers {...props} />}
      </section>
    </section>
  );
}
