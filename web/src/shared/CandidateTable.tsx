/** Tokens with their probabilities, as numbers and as bars. */
import { percent } from "./format";

/** A probability in words; a small one is not shown as 0. */
export function shareWords(share: number): string {
  return share < 0.0005 ? "< 0.1 %" : percent(share, 1);
}

/** A probability as a number and a bar. */
function Share({ name, share }: { name: string; share: number }) {
  return (
    <td data-column={name}>
      {name === "drawn" && share === 0 ? (
        <span class="faint">–</span>
      ) : (
        <span class="share">
          <span class={`share-bar of-${name}`} aria-hidden="true">
            <span style={{ width: `${100 * share}%` }} />
          </span>
          <span class="number" data-share={share}>
            {shareWords(share)}
          </span>
        </span>
      )}
    </td>
  );
}

/** A signed difference of two probabilities in percentage points. */
function changeWords(change: number): string {
  const points = (100 * Math.abs(change)).toFixed(1);
  return points === "0.0" ? points : `${change < 0 ? "−" : "+"}${points}`;
}

/** The probabilities of a token: by the model, without the ablated heads, and of its drawing. */
interface Probabilities {
  readonly model: number;
  readonly without: number | null;
  readonly drawn: number | null;
}

export function ShareCells({ model, without, drawn }: Probabilities) {
  return (
    <>
      <Share name="model" share={model} />
      {without !== null && (
        <>
          <Share name="instead" share={without} />
          <td class="number" data-column="change" data-change={without - model}>
            {changeWords(without - model)}
          </td>
        </>
      )}
      {drawn !== null && <Share name="drawn" share={drawn} />}
    </>
  );
}

/** The heading of the probabilities from which a token is drawn. */
export const afterSampling = "after temperature, top-k and top-p";

/** @param without the heading of the probabilities without the ablated heads; null if none are ablated */
export function CandidateHead({
  token,
  without,
  isDrawn,
}: {
  token: string;
  without: string | null;
  isDrawn: boolean;
}) {
  return (
    <thead>
      <tr>
        <th scope="col">{token}</th>
        <th scope="col">{without ? "with all heads" : "probability"}</th>
        {without && (
          <>
            <th scope="col">{without}</th>
            <th scope="col">change, % points</th>
          </>
        )}
        {isDrawn && (
          <th scope="col" data-column="drawn">
            {without && "all heads, "}
            {afterSampling}
          </th>
        )}
      </tr>
    </thead>
  );
}
