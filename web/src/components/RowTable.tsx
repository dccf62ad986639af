/** The four steps of one query as a table: every number that leads from its scores to its output. */
import { useMemo } from "preact/hooks";
import { format, shorten } from "../format";
import { at, type View, viewOf } from "../matrices";
import type { Setter } from "../page";
import { usePage } from "../page";
import type { Solution } from "../protocol";

/** Longer vectors show their first entries. */
const entries = 4;

function Vector({ view, row }: { view: View; row: number }) {
  const shown = Math.min(view.cols, view.cols > entries ? entries - 1 : entries);
  return (
    <span class="vector">
      {Array.from({ length: shown }, (_, d) => (
        <span key={d}>{format(at(view, row, d))}</span>
      ))}
      {shown < view.cols && <span class="faint">…</span>}
    </span>
  );
}

function QuerySelect({
  tokens,
  row,
  set,
}: {
  tokens: readonly string[];
  row: number;
  set: Setter;
}) {
  return (
    <select
      aria-label="Query shown in the table"
      value={String(row)}
      onChange={({ currentTarget }) => set({ row: Number(currentTarget.value) })}
    >
      {tokens.map((token, i) => (
        <option key={i} value={String(i)}>
          {i + 1} {shorten(token, 16)}
        </option>
      ))}
    </select>
  );
}

/** Keys and their numbers for the row and head that the solution's contributions belong to. */
function Rows({ solution }: { solution: Solution }) {
  const { row, head, queryTokens, keyTokens } = solution.problem;
  const keys = keyTokens ?? queryTokens;
  const view = (name: Parameters<typeof viewOf>[1]) => viewOf(solution, name, head) as View;
  const [scores, scaled, masked, weights, values, output] = (
    ["scores", "scaled", "masked", "weights", "v", "output"] as const
  ).map(view) as [View, View, View, View, View, View];
  const contributions: View = {
    data: solution.arrays.contributions,
    rows: solution.dims.S,
    cols: solution.dims.D,
    offset: 0,
    rowStride: solution.dims.D,
    colStride: 1,
  };
  const seesNothing = keys.every((_, j) => at(masked, row, j) === Number.NEGATIVE_INFINITY);
  const total = solution.arrays.sums[head * solution.dims.L + row] as number;
  return (
    <>
      <tbody>
        {keys.map((key, j) => (
          <tr
            key={j}
            class={at(masked, row, j) === Number.NEGATIVE_INFINITY ? "is-hidden" : undefined}
          >
            <th scope="row">
              <bdi>{shorten(key, 16)}</bdi>
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

export function RowTable() {
  const { scene, solution, set } = usePage();
  // Up to 64 rows of numbers, made anew only when one of them changes and not for every cell that is pointed at.
  const body = useMemo(
    () =>
      solution ? (
        <Rows solution={solution} />
      ) : (
        <tbody>
          {scene.keys.tokens.map((key, j) => (
            <tr key={j}>
              <th scope="row">{shorten(key, 16)}</th>
              <td colSpan={6} />
            </tr>
          ))}
        </tbody>
      ),
    [solution, scene],
  );
  return (
    <div class="row-table">
      <h3 id="row-title">
        How <QuerySelect tokens={scene.queries.tokens} row={scene.row} set={set} /> gets its output
      </h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-labelledby="row-title">
        <table class="number">
          <thead>
            <tr>
              <th scope="col">key</th>
              <th scope="col">
                <span class="role-q">q</span>·<span class="role-k">k</span>
              </th>
              <th scope="col">scaled</th>
              <th scope="col">masked</th>
              <th scope="col">weight</th>
              <th scope="col">
                <span class="role-v">value</span>
              </th>
              <th scope="col">
                weight × <span class="role-v">value</span>
              </th>
            </tr>
          </thead>
          {body}
        </table>
      </section>
    </div>
  );
}
