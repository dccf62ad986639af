/** Every answer of the model with its probabilities, with all heads and without the ablated ones. */
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
  const { exhibit } = useHeadsWorkspace().selection.answer;
  return asked.map(({ row, name, candidates, right }) => (
    <div key={row}>
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
          {exhibit === "brackets" && ", if one closes"}
        </p>
      )}
    </div>
  ));
}

/** The answer of the model, the right one, and the answer without the ablated heads, where they differ. */
function Said({ asked }: { asked: AnsweredQuestion }) {
  const [said, instead] = [saidTo(asked), saidTo(asked, "without")];
  const isWrong = asked.right !== null && asked.right !== said?.token;
  return (
    <th scope="row">
      <span class="faint">{asked.name}</span> {said?.token}
      {isWrong && <span class="faint"> (right: {asked.right})</span>}
      {said?.without !== null && instead !== said && (
        <>
          {" → "}
          <b class="changed">{instead?.token}</b>
        </>
      )}
    </th>
  );
}

/** The most likely one of each of many answers. */
function ManyAnswers({ asked, without }: AnswersProps) {
  return (
    <table class="candidates answers">
      <CandidateHead token="answer" without={without} isDrawn={false} />
      <tbody>
        {asked.map((each) => {
          const { probability = 0, without = null } = saidTo(each) ?? {};
          return (
            <tr key={each.row}>
              <Said asked={each} />
              <ShareCells model={probability} without={without} drawn={null} />
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

export function AnswersPanel() {
  const { selection } = useHeadsWorkspace();
  const { asked } = selection.answer;
  if (asked.length === 0) return null;
  const Answers = asked.length > fewAnswers ? ManyAnswers : FewAnswers;
  return (
    <section class="all-answers" aria-labelledby="answers-title">
      <h2 id="answers-title">All answers</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label="Answers">
        <Answers asked={asked} without={withoutWords(selection)} />
      </section>
    </section>
  );
}
