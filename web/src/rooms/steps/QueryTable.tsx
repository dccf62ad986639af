/** The four steps of one query as a table: every number from its scores to its output. */

import { at, format, type MatrixView, shorten, viewOn } from "#parts";
import { RowTable, TokenSelect, Vector } from "../../shared/RowTable";
import { Steady } from "../../shared/Steady";
import type { MatrixName } from "./matrices";
import type { Solution } from "./problem";
import { viewOf } from "./viewOf";
import { useStepsWorkspace } from "./workspace";

/** With more keys than this, only the keys with the largest weights are listed. */
const mostKeys = 64;

/** The keys to list, in sentence order. */
function strongest(weights: MatrixView, row: number): number[] {
  const all = Array.from({ length: weights.cols }, (_, j) => j);
  if (all.length <= mostKeys) return all;
  all.sort((a, b) => at(weights, row, b) - at(weights, row, a));
  return all.slice(0, mostKeys).sort((a, b) => a - b);
}

/** The columns with one number of each pair, and their matrices. */
const ofPairs = { score: "scores", scaled: "scaled", masked: "masked", weight: "weights" } as const;

/** Keys and their numbers, for the row and head of the solution's contributions. */
function Rows({ solution }: { solution: Solution }) {
  const { row, head, queryTokens, keyTokens } = solution.problem;
  const keys = keyTokens ?? queryTokens;
  const view = (name: MatrixName) => viewOf(solution, name, head) as MatrixView;
  const isHidden = (key: number) => at(view("masked"), row, key) === Number.NEGATIVE_INFINITY;
  const contributions = viewOn(solution.arrays.contributions, solution.dims.S, solution.dims.D);
  const total = solution.arrays.sums[head * solution.dims.L + row] as number;
  return (
    <>
      <tbody>
        {strongest(view("weights"), row).map((j) => (
          <tr key={j} class={isHidden(j) ? "is-hidden" : undefined}>
            <th scope="row">
              <bdi>{shorten(keys[j] as string, 16)}</bdi>
            </th>
            {Object.entries(ofPairs).map(([id, name]) => (
              <td key={id} data-column={id}>
                {format(at(view(name), row, j))}
              </td>
            ))}
            <td data-column="value">
              <Vector view={view("v")} row={j} />
            </td>
            <td data-column="contribution">
              <Vector view={contributions} row={j} />
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row" colSpan={4}>
            {keys.every((_, j) => isHidden(j))
              ? `“${shorten(queryTokens[row] as string, 16)}” may see no key: its weights and its output are zeros.`
              : solution.dims.H > 1
                ? `Sum, the output of head ${head + 1}`
                : "Sum, the output"}
          </th>
          <td data-column="weight">{format(total)}</td>
          <td />
          <td data-column="output">
            <Vector view={view("output")} row={row} />
          </td>
        </tr>
      </tfoot>
    </>
  );
}

function Letter({ of, children }: { of: "q" | "k" | "v"; children: string }) {
  return (
    <span class={`role-${of}`} data-highlights={of}>
      {children}
    </span>
  );
}

// A function, because a stored element would keep the earlier elements of the page in memory.
const columns = () => [
  "key",
  [<Letter of="q">q</Letter>, "·", <Letter of="k">k</Letter>],
  ...["scaled", "masked", "weight"],
  <Letter of="v">value</Letter>,
  ["weight × ", <Letter of="v">value</Letter>],
];

export function QueryTable() {
  const { attention, set, solution } = useStepsWorkspace();
  return (
    <RowTable
      title={
        <>
          How{" "}
          <TokenSelect
            label="Query shown in the table"
            tokens={attention.queries.tokens}
            index={attention.row}
            onSelect={(row) => set({ row })}
          />{" "}
          gets its output
        </>
      }
      columns={columns()}
      note={
        attention.keys.tokens.length > mostKeys &&
        `The ${mostKeys} keys with the most weight, of ${attention.keys.tokens.length}; the sums are over all keys.`
      }
    >
      {/* Steady, so that pointing at a cell does not rebuild many rows of numbers. */}
      <Steady by={[solution, attention]}>
        {() =>
          solution ? (
            <Rows solution={solution} />
          ) : (
            <tbody>
              {attention.keys.tokens.slice(0, mostKeys).map((key, j) => (
                <tr key={j}>
                  <th scope="row">{shorten(key, 16)}</th>
                  <td colSpan={6} />
                </tr>
              ))}
            </tbody>
          )
        }
      </Steady>
    </RowTable>
  );
}
