/** What the model says, with how much probability, and what it would say without the heads that are dropped. */
import { format } from "../../format";
import { hides, useShell } from "../../shell";
import { usePage } from "./page";
import { storyOf } from "./scene";
import type { Asked, Said } from "./seen";

/** Up to so many answers show what else the model might have said. */
const fewAnswers = 3;

function Bar({ share }: { share: number }) {
  return (
    <span class="share-bar" aria-hidden="true">
      <span style={{ width: `${100 * share}%` }} />
    </span>
  );
}

function SaidCell({ said, isMany }: { said: readonly Said[]; isMany: boolean }) {
  return (
    <td>
      {said.slice(0, isMany ? 1 : fewAnswers).map(({ token, probability }, i) => (
        <span key={token} class={i === 0 ? "said likeliest" : "said"}>
          <span>{token}</span> <span class="number">{format(probability)}</span>
          <Bar share={probability} />
        </span>
      ))}
    </td>
  );
}

/** Without some heads: the same answer's probability, or the answer that comes instead. */
function InsteadCell({ asked, isMany }: { asked: Asked; isMany: boolean }) {
  const { says, instead, kept } = asked;
  if (!instead || kept === null) return <td class="faint">–</td>;
  const hasChanged = instead[0]?.token !== says[0]?.token;
  if (!isMany) return <SaidCell said={instead} isMany={false} />;
  return (
    <td class={hasChanged ? "changed" : undefined}>
      <span class="said likeliest">
        <span>{instead[0]?.token}</span>{" "}
        <span class="number">{format(instead[0]?.probability ?? 0)}</span>
        <Bar share={instead[0]?.probability ?? 0} />
      </span>
      {hasChanged && (
        <span class="said">
          <span>{says[0]?.token}</span> <span class="number">{format(kept)}</span>
          <Bar share={kept} />
        </span>
      )}
    </td>
  );
}

export function AnswerPanel() {
  const { scene, state, drop } = usePage();
  const { wishes } = useShell();
  const { seen, all } = scene;
  const { asked, written } = seen;
  const dropped = all.filter(({ head }) => state.dropped.includes(head.key));
  const isMany = asked.length > fewAnswers;
  const isRightKnown = asked.some(({ right }) => right !== null);
  const heads = `${dropped.length} ${dropped.length === 1 ? "head" : "heads"}`;
  return (
    <section class="answer" aria-labelledby="answer-title">
      <h2 id="answer-title">What the model says</h2>
      {!hides(wishes, "text") &&
        storyOf(scene, (share) => format(share)).map((words) => <p key={words}>{words}</p>)}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-labelledby="answer-title">
        <table class={isMany ? "answers many" : "answers"}>
          <tbody>
            <tr>
              <th scope="row">asked</th>
              {asked.map(({ row, name }) => (
                <th key={row} scope="col">
                  {name}
                </th>
              ))}
            </tr>
            <tr data-row="all">
              <th scope="row">with all heads</th>
              {asked.map(({ row, says }) => (
                <SaidCell key={row} said={says} isMany={isMany} />
              ))}
            </tr>
            <tr data-row="without">
              <th scope="row">{dropped.length > 0 ? `without ${heads}` : "without a head"}</th>
              {asked.map((each) => (
                <InsteadCell key={each.row} asked={each} isMany={isMany} />
              ))}
            </tr>
            {isRightKnown && (
              <tr data-row="right">
                <th scope="row">right</th>
                {asked.map(({ row, right }) => (
                  <td key={row}>{right ?? "–"}</td>
                ))}
              </tr>
            )}
          </tbody>
        </table>
      </section>
      <div class="answer-foot" role="status">
        <p>
          {written && (
            <>
              By itself it writes <b>{written.whole || "nothing"}</b>
              {written.without !== null && (
                <>
                  ; without {heads} <b>{written.without || "nothing"}</b>
                </>
              )}
              .{" "}
            </>
          )}
          {dropped.length > 0 && `Dropped: ${dropped.map(({ name }) => name).join("; ")}. `}
          {dropped.length > 0 && !wishes.lock && (
            <button type="button" class="link" onClick={() => drop(state.dropped, false)}>
              Give all back
            </button>
          )}
        </p>
      </div>
    </section>
  );
}
