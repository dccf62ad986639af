/** Tokens with their probabilities, as numbers and as bars. */
import type { ComponentChildren } from "preact";
import type { Candidates } from "./candidates";
import { percent } from "./format";
import { visible } from "./pieces";

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
            after temperature and top-p
          </th>
        )}
      </tr>
    </thead>
  );
}

/** The probability of all other tokens. */
export function restOf(shares: Float32Array): number {
  return Math.max(0, 1 - shares.reduce((sum, share) => sum + share, 0));
}

/** The probability that the drawn token is not one of the candidates. */
export function restOfDrawn({ ids, drawn, choices }: Candidates): number {
  return choices <= ids.length ? 0 : restOf(drawn);
}

/** A candidate: its name, which is a button if it can be chosen, and the cells of its probabilities. */
export function CandidateRow({
  id,
  piece,
  isTaken,
  onTake,
  children,
}: {
  id: number;
  piece: string;
  isTaken: boolean;
  /** Null if it cannot be chosen now. */
  onTake: (() => void) | null;
  children: ComponentChildren;
}) {
  return (
    <tr class={isTaken ? "taken" : undefined} data-token={id}>
      <th scope="row">
        <button
          type="button"
          disabled={!onTake}
          aria-pressed={isTaken}
          aria-label={`${visible(piece)}${isTaken ? ", in the text" : ""}`}
          onClick={() => onTake?.()}
        >
          <bdi>{visible(piece)}</bdi>
        </button>
      </th>
      {children}
    </tr>
  );
}

/** The prediction without the ablated heads. */
export function InsteadWords({
  piece,
  probability,
  count,
  onRestore,
}: {
  /** The most likely token of that prediction. */
  piece: string;
  probability: number;
  /** The number of ablated heads. */
  count: number;
  /** Null if they cannot be restored. */
  onRestore: (() => void) | null;
}) {
  return (
    <p class="instead">
      Without the ablated heads the likeliest is <b>{visible(piece)}</b>{" "}
      <span class="number">{shareWords(probability)}</span>.{" "}
      {onRestore && (
        <button type="button" class="link" onClick={onRestore}>
          restore {count === 1 ? "it" : "them"}
        </button>
      )}
    </p>
  );
}
