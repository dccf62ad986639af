/** The selected row of an attention as a collapsible table: every key with its score and its weight. */

import { useState } from "preact/hooks";
import { at, format } from "#parts";
import { type Attention, type Shares, scoresOf, weightsOf } from "./attended";
import { RowTable } from "./RowTable";
import { Term } from "./Term";

/** One head of an attention, and its name. */
export interface OneHead {
  readonly name: string;
  readonly attention: Attention;
  readonly shares: Shares;
  readonly head: number;
}

interface RowDetailsProps {
  of: OneHead;
  /** A head over the same tokens to compare with. */
  other?: OneHead | null;
  row: number;
}

export function RowDetails({ of, other = null, row }: RowDetailsProps) {
  const [isOpen, setIsOpen] = useState(false);
  const token = of.attention.rows[row];
  return (
    <details
      class="row-details"
      onToggle={({ currentTarget }) => setIsOpen((currentTarget as HTMLDetailsElement).open)}
    >
      <summary>“{token}” as a table</summary>
      {isOpen && <Keys of={of} other={other} row={row} />}
    </details>
  );
}

function Keys({ of, other, row }: { of: OneHead; other: OneHead | null; row: number }) {
  const { attention, shares, head } = of;
  const { rows, columns, isCausal } = attention;
  const weights = weightsOf(attention, shares, head);
  const scores = scoresOf(attention, shares, head);
  const theirs = other && weightsOf(other.attention, other.shares, other.head);
  const last = other ? [of.name, other.name, "difference"] : [<Term name="weight" />];
  const heads = ["", <Term name="key" />, <Term name="score" />, ...last];
  return (
    <RowTable title={`What “${rows[row]}” attends to`} note={of.name} columns={heads}>
      <tbody>
        {columns.map((key, col) => {
          const weight = at(weights, row, col);
          const second = theirs && at(theirs, row, col);
          return (
            <tr key={col}>
              <td>{col + 1}</td>
              <th scope="row">{key}</th>
              <td data-column="score">
                {isCausal && col > row ? "hidden" : format(at(scores, row, col))}
              </td>
              <td data-column="weight">{format(weight)}</td>
              {second !== null && (
                <>
                  <td data-column="other">{format(second)}</td>
                  <td data-column="less">{format(weight - second)}</td>
                </>
              )}
            </tr>
          );
        })}
      </tbody>
    </RowTable>
  );
}
