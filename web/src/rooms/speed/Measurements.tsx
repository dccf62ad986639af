/** All measurements of a run as a table, and buttons to copy and save them. */
import { useState } from "preact/hooks";
import { download } from "../../picture/export";
import { RowTable } from "../../shared/RowTable";
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
  const [copied, setCopied] = useState<SpeedReport | null>(null);
  const browser = browserName(navigator.userAgent);
  return (
    <p class="row-of-buttons">
      {/* The clipboard needs a secure context. */}
      {navigator.clipboard && (
        <button
          type="button"
          disabled={!isComplete}
          onClick={() =>
            navigator.clipboard.writeText(markdownOf(report, browser)).then(
              () => setCopied(report),
              () => setCopied(null),
            )
          }
        >
          {copied === report ? "Copied" : "Copy result"}
        </button>
      )}
      <button
        type="button"
        onClick={() =>
          download(new Blob([reportCsv(report, browser)], { type: "text/csv" }), "heed-speed.csv")
        }
      >
        Save CSV
      </button>
    </p>
  );
}

export function Measurements({
  report,
  isComplete,
}: {
  report: SpeedReport | null;
  isComplete: boolean;
}) {
  if (!report) return <section class="figures" />;
  const rows = rowsOf(report);
  return (
    <section class="figures">
      <RowTable
        title="The figures"
        columns={[{ id: "case", head: "case" }, ...columns.map(({ id, head }) => ({ id, head }))]}
      >
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
      <div class="figures-notes faint">
        <p>
          {report.cases[0] && `${describe(report.cases[0])}. `}
          “relaxed” and “simd” are the engine as two WebAssembly programs: both take four numbers at
          a time, relaxed also multiplies and adds in one step. A browser that merges pairs of such
          steps uses a third one, “wide”. “Times as fast” as plain JavaScript, round against round.
          GFLOP/s: billions of multiplications and additions a second; the softmax is not counted.
          “Differs by”: the largest relative difference of a row from that of plain JavaScript.
          “Memory”: all memory that the engine has requested from the browser, which never shrinks;
          for JavaScript, its arrays.
        </p>
        <p data-limits>Limits: {limitLines(report).join("; ") || "to be measured"}.</p>
      </div>
      <Take report={report} isComplete={isComplete} />
      {report.callMemories.length > 0 && <Memory report={report} />}
    </section>
  );
}

/** The memory of a call, of which some grows with the length and some with its square. */
function Memory({ report }: { report: SpeedReport }) {
  return (
    <RowTable
      title="Memory of a call"
      note="In the engine’s memory: its tensors of queries, keys, values and output; the log-sum-exp of the softmax, one number for each query; and the weights, one for each pair, if they are requested."
      columns={[
        { id: "case", head: "case" },
        { id: "tensors", head: "tensors" },
        { id: "lse", head: "softmax" },
        { id: "weights", head: "weights" },
      ]}
    >
      <tbody>
        {report.callMemories.map(({ caseId, tensors, lse, weights }) => (
          <tr key={caseId} data-call-memory={caseId}>
            <th scope="row">{report.cases.find(({ id }) => id === caseId)?.name}</th>
            <td>{kibibytes(tensors)}</td>
            <td>{kibibytes(lse)}</td>
            <td>{weights === null ? "too many" : kibibytes(weights)}</td>
          </tr>
        ))}
      </tbody>
    </RowTable>
  );
}
