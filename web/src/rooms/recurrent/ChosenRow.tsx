/** The selected row of every map as a table: the characters that each model attends to for one of the answer. */
import { at, format } from "#parts";
import { RowTable } from "../../shared/RowTable";
import { attentionShown, predictedBy, viewOfHead } from "./maps";
import { rowShown, visible } from "./state";
import { shortTitles, shownModels, useRecurrentWorkspace } from "./workspace";

export function ChosenRow() {
  const workspace = useRecurrentWorkspace();
  const { state, source } = workspace;
  const row = rowShown(state);
  const models = shownModels(workspace)
    .filter(([name]) => name !== "rnn")
    .map(([name, found]) => {
      const attention = found && attentionShown(found, state);
      const weights =
        attention && row < attention.rows
          ? source.map((_, col) => at(viewOfHead(attention, state.head), row, col))
          : null;
      return { name, weights, said: found && predictedBy(found, state.way)[row] };
    });
  const said = [...new Set(models.map(({ said }) => said ?? ""))].filter(Boolean);
  return (
    <details class="row-details">
      <summary>This row as a table</summary>
      <RowTable
        title={`To say character ${row + 1}${said.length > 0 ? `, “${said.join("” or “")}”` : ""}`}
        columns={["of the date", ...models.map(({ name }) => shortTitles[name])]}
      >
        <tbody>
          {source.map((character, col) => (
            <tr key={col}>
              <th scope="row">
                {col + 1} “{visible(character)}”
              </th>
              {models.map(({ name, weights }) => (
                <td key={name} data-column={name}>
                  {weights && format(weights[col] as number)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Sum</th>
            {models.map(({ name, weights }) => (
              <td key={name}>{weights && format(weights.reduce((sum, x) => sum + x, 0))}</td>
            ))}
          </tr>
        </tfoot>
      </RowTable>
    </details>
  );
}
