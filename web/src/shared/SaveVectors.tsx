/** Saves the queries and the keys of one head as numbers: a row for each token. */
import { csvBlob, csvOf, type MatrixView, npyOf } from "#parts";
import { SaveMenu } from "../picture/SaveMenu";
import { keysOf, queriesOf } from "./attended";
import type { OneHead } from "./RowDetails";

export function SaveVectors({ of, file }: { of: OneHead; file: string }) {
  const { attention, shares, head } = of;
  const contentsOf = (view: MatrixView, tokens: readonly string[]) => ({
    csv: () => csvBlob(csvOf(view, tokens, undefined)),
    npy: () => new Blob([npyOf(view)], { type: "application/octet-stream" }),
  });
  return (
    <div class="save-vectors">
      <span>
        <b class="role-q">Q</b>
        <SaveMenu
          title={`the queries of ${of.name}`}
          file={`queries-${file}`}
          contents={contentsOf(queriesOf(attention, shares, head), attention.rows)}
        />
      </span>
      <span>
        <b class="role-k">K</b>
        <SaveMenu
          title={`the keys of ${of.name}`}
          file={`keys-${file}`}
          contents={contentsOf(keysOf(attention, shares, head), attention.columns)}
        />
      </span>
    </div>
  );
}
