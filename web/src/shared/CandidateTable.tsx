/** Tokens with their probabilities, as numbers and as bars. */
import type { ComponentChildren } from "preact";
import type { Candidates } from "./candidates";
import { percent } from "./format";
import { visible } from "./pieces";

/** A probability as a number and a bar. */
export function Share({ name, share, of }: { name: string; share: number | null; of: string }) {
  return (
    <td data-column={name}>
      {share === null || (name === "drawn" && share === 0) ? (
        <span class="faint">–</span>
      ) : (
        <span class="share">
          <span class={`share-bar ${of}`} aria-hidden="true">
            <span style={{ width: `${100 * share}%` }} />
          </span>
          <span class="number" data-share={share}>
            {share < 0.0005 ? "< 0.1 %" : percent(share, 1)}
          </span>
        </span>
      )}
    </td>
  );
}

/** The probability of all other tokens. */
export function restOf(shares: Float32Array): number {
  return Math.max(0, 1 - shares.reduce((sum, share) => sum + share, 0));
}

/** The probability that another token than the candidates is drawn. */
export function restOfDrawn({ ids, drawn, choices }: Candidates): number {
  return choices <= ids.length ? 0 : restOf(drawn);
}

/** A candidate: its name, a button if it can be taken, and the cells of its probabilities. */
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
  /** Null if it cannot be taken now. */
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
