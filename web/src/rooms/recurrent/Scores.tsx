/** The results of the trained models on held-out dates, from their reports. */
import { percent } from "../../shared/format";
import { RowTable } from "../../shared/RowTable";
import { modelNames } from "./problem";
import { titles, useRecurrentWorkspace } from "./workspace";

const columns = [
  { id: "model", head: "Model" },
  { id: "parameters", head: "parameters" },
  { id: "exact", head: "all forms" },
  { id: "short", head: "month in figures or short" },
  { id: "long", head: "month in words" },
  { id: "mass", head: "on right places" },
];

export function Scores() {
  const { solution } = useRecurrentWorkspace();
  const examples = solution?.reports[0]?.examples;
  return (
    <div class="scores">
      <RowTable title="Held-out dates: how many are written correctly" columns={columns}>
        <tbody>
          {modelNames.map((name) => {
            const report = solution?.reports.find((each) => each.name === name);
            return (
              <tr key={name} data-model={name}>
                <th scope="row">{titles[name]}</th>
                <td data-column="parameters">{report?.parameters.toLocaleString("en")}</td>
                <td data-column="exact">{report && percent(report.exact, 1)}</td>
                <td data-column="short">{report && percent(report.short, 1)}</td>
                <td data-column="long">{report && percent(report.long, 1)}</td>
                <td data-column="mass">
                  {report && (report.mass === null ? "–" : report.mass.toFixed(2))}
                </td>
              </tr>
            );
          })}
        </tbody>
      </RowTable>
      <p class="faint small">
        Shares of {examples ?? "…"} held-out dates. Without attention most characters are right, but
        seldom all ten. The last column is the mean weight that the best head puts on the characters
        that carry the answer; a row adds up to 1. The numbers are from the report that each model
        was saved with.
      </p>
    </div>
  );
}
