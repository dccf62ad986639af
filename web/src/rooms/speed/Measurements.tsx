/** All measurements of a run as a table, and buttons to copy and save them. */
import { csvBlob, download } from "#parts";
import { CopyButton } from "../../shared/CopyButton";
import { RowTable } from "../../shared/RowTable";
import { Term } from "../../shared/Term";
import type { SpeedReport } from "./report";
import { columns, describe, limitLines, markdownOf, type Row, reportCsv, rowsOf } from "./rows";
import { browserName, kibibytes } from "./units";

function Cells({ row }: { row: Row }) {
  const { measurement } = row;
  if (measurement?.reason)
    return (
      <>
        <td data-column="by">{row.contender.name}</td>
        <td class="faint left-out" colSpan={columns.length - 1} data-column="reason">
          left out: {measurement.reason}
        </td>
      </>
    );
  return (
    <>
      {columns.map(({ id, text }) => (
        <td key={id} data-column={id}>
          {text(row) || (measurement ? "" : <span class="faint">…</span>)}
        </td>
      ))}
    </>
  );
}

function Take({ report, isComplete }: { report: SpeedReport; isComplete: boolean }) {
  const browser = browserName(navigator.userAgent);
  return (
    <p class="row-of-buttons">
      <CopyButton text={markdownOf(report, browser)} words="Copy result" disabled={!isComplete} />
      <button
        type="button"
        onClick={() => download(csvBlob(reportCsv(report, browser)), "heed-speed.csv")}
      >
        Save CSV
      </button>
    </p>
  );
}

export function Measurements(props: { report: SpeedReport | null; isComplete: boolean }) {
  const { report, isComplete } = props;
  if (!report) return <section class="figures">The first figures are being measured …</section>;
  const rows = rowsOf(report);
  return (
    <section class="figures">
      <RowTable title="The figures" columns={["case", ...columns.map(({ head }) => head)]}>
        {report.cases.map((one) => {
          const own = rows.filter((row) => row.one === one);
          return (
            <tbody key={one.id} data-case={one.id} data-operations={one.operations}>
              {own.map((row, i) => (
                <tr key={row.contender.id} data-contender={row.contender.id}>
                  {i === 0 && (
                    <th scope="rowgroup" rowSpan={own.length}>
                      {one.name}
                    </th>
                  )}
                  <Cells row={row} />
                </tr>
              ))}
            </tbody>
          );
        })}
      </RowTable>
      <div class="figures-notes column small faint">
        <p>
          {report.cases[0] && `${describe(report.cases[0])}. `}
          The engine’s binaries are <Term name="SIMD">simd</Term>, <Term name="relaxed" /> and{" "}
          <Term name="wide" />. “Times as fast”: by the medians, against plain JavaScript.{" "}
          <Term name="GFLOP/s" />: without the softmax. “Differs by”: the largest relative
          difference of a row from plain JavaScript’s. “Memory”: all that the engine has requested
          so far; for JavaScript, its arrays.
        </p>
        <p data-limits>Limits: {limitLines(report).join("; ") || "to be measured"}.</p>
      </div>
      <Take report={report} isComplete={isComplete} />
      <Memory report={report} />
    </section>
  );
}

/** The memory of a call: some of it grows with the length, some with its square. It is measured last. */
function Memory({ report }: { report: SpeedReport }) {
  const cases = report.cases.filter(({ kind }) => kind === "attention");
  return (
    <RowTable
      title="Memory of a call"
      note="Tensors: queries, keys, values and output. Softmax: a number for each query. Weights: one for each pair, if requested."
      columns={["case", "tensors", "softmax", "weights"]}
    >
      <tbody>
        {cases.map(({ id, name }) => {
          const memory = report.callMemories.find(({ caseId }) => caseId === id);
          return (
            <tr key={id} data-call-memory={id}>
              <th scope="row">{name}</th>
              {(["tensors", "lse", "weights"] as const).map((part) => (
                <td key={part}>
                  {!memory ? "…" : memory[part] === null ? "too many" : kibibytes(memory[part])}
                </td>
              ))}
            </tr>
          );
        })}
      </tbody>
    </RowTable>
  );
}
