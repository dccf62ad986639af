/** The four steps of one query as a table: every number from its scores to its output. */

import { at, format, type MatrixView, shorten, viewOn } from "heed/view/parts";
import { useMemo } from "preact/hooks";
import { RowTable, type TableColumn, TokenSelect, Vector } from "../../shared/RowTable";
import type { Solution } from "./problem";
import { useSolution } from "./solution";
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

/** Keys and their numbers, for the row and head of the solution's contributions. */
function Rows({ solution }: { solution: Solution }) {
  const { row, head, queryTokens, keyTokens } = solution.problem;
  const keys = keyTokens ?? queryTokens;
  const view = (name: Parameters<typeof viewOf>[1]) => viewOf(solution, name, head) as MatrixView;
  const [scores, scaled, masked, weights, values, output] = (
    ["scores", "scaled", "masked", "weights", "v", "output"] as const
  ).map(view) as [MatrixView, MatrixView, MatrixView, MatrixView, MatrixView, MatrixView];
  const contributions = viewOn(solution.arrays.contributions, solution.dims.S, solution.dims.D);
  const seesNothing = keys.every((_, j) => at(masked, row, j) === Number.NEGATIVE_INFINITY);
  const total = solution.arrays.sums[head * solution.dims.L + row] as number;
  return (
    <>
      <tbody>
        {strongest(weights, row).map((j) => (
          <tr
            key={j}
            class={at(masked, row, j) === Number.NEGATIVE_INFINITY ? "is-hidden" : undefined}
          >
            <th scope="row">
              <bdi>{shorten(keys[j] as string, 16)}</bdi>
            </th>
            <td data-column="score">{format(at(scores, row, j))}</td>
            <td data-column="scaled">{format(at(scaled, row, j))}</td>
            <td data-column="masked">{format(at(masked, row, j))}</td>
            <td data-column="weight">{format(at(weights, row, j))}</td>
            <td data-column="value">
              <Vector view={values} row={j} />
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
            {seesNothing
              ? `“${shorten(queryTokens[row] as string, 16)}” may see no key: its weights and its output are zeros.`
              : solution.dims.H > 1
                ? `Sum, the output of head ${head + 1}`
                : "Sum, the output"}
          </th>
          <td data-column="weight">{format(total)}</td>
          <td />
          <td data-column="output">
            <Vector view={output} row={row} />
          </td>
        </tr>
      </tfoot>
    </>
  );
}

const columns: readonly TableColumn[] = [
  { id: "key", head: "key" },
  {
    id: "score",
    head: (
      <>
        <span class="role-q" data-highlights="q">
          q
        </span>
        ·
        <span class="role-k" data-highlights="k">
          k
        </span>
      </>
    ),
  },
  { id: "scaled", head: "scaled" },
  { id: "masked", head: "masked" },
  { id: "weight", head: "weight" },
  {
    id: "value",
    head: (
      <span class="role-v" data-highlights="v">
        value
      </span>
    ),
  },
  {
    id: "contribution",
    head: (
      <>
        weight ×{" "}
        <span class="role-v" data-highlights="v">
          value
        </span>
      </>
    ),
  },
];

export function QueryTable() {
  const { attention, set } = useStepsWorkspace();
  const solution = useSolution();
  // Memoised, so that pointing at a cell does not rebuild many rows of numbers.
  const body = useMemo(
    () =>
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
      ),
    [solution, attention],
  );
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
      columns={columns}
      note={
        attention.keys.tokens.length > mostKeys &&
        `The ${mostKeys} keys with the most weight, of ${attention.keys.tokens.length}; the sums are over all keys.`
      }
    >
      {body}
    </RowTable>
  );
}
