/** The results of the trained models on held-out dates, from their reports. */
import { percent } from "../../shared/format";
import { RowTable } from "../../shared/RowTable";
import { modelNames } from "./problem";
import { titles, useRecurrentWorkspace } from "./workspace";

const columns = [
  ...["Model", "parameters", "all forms", "month in figures or short", "month in words"],
  "answer positions",
];

export function Scores() {
  const { solution } = useRecurrentWorkspace();
  const { examples, lessons } = solution?.reports[0] ?? {};
  return (
    <div class="scores">
      <RowTable title={`Shares of ${examples ?? "…"} unseen dates`} columns={columns}>
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
        Each model was trained on {lessons?.toLocaleString("en") ?? "…"} dates in 22 forms. “Answer
        positions”: the mean weight of its best head on the characters that carry the answer; a
        recurrent state also holds its neighbours, so a place beside them may be enough. From the
        report saved with each model.
      </p>
    </div>
  );
}
