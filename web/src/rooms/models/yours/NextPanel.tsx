/** The candidates for the token after the selected one, or for the selected token and each masked one. */
import { type Contents, csvBlob, csvOf, npyOf, viewOn } from "heed/view/parts";
import { SaveMenu } from "../../../picture/SaveMenu";
import {
  CandidateRow,
  InsteadWords,
  insteadTitle,
  restOf,
  restOfDrawn,
  Share,
  shareWords,
} from "../../../shared/CandidateTable";
import { quoted, visible } from "../../../shared/pieces";
import { hides } from "../../../shared/restrictions";
import { useShell } from "../../../shared/shell";
import type { CandidatesAt, NextAnswer } from "./messages";
import { useYoursWorkspace } from "./workspace";

function contentsOf({ candidates, pieces, instead }: CandidatesAt, hasDrawn: boolean): Contents {
  const { model, drawn } = candidates;
  const named: (readonly [name: string, column: Float32Array])[] = [["the model", model]];
  if (hasDrawn) named.push(["drawn", drawn]);
  if (instead) named.push(["without the dropped heads", instead.model]);
  const columns = named.map(([, column]) => column);
  const numbers = pieces.map((_, rank) => columns.map((column) => column[rank] as number));
  const view = viewOn(Float32Array.from(numbers.flat()), pieces.length, columns.length);
  const names = named.map(([name]) => name);
  return {
    csv: () => csvBlob(csvOf(view, pieces, names)),
    npy: () => new Blob([npyOf(view)], { type: "application/octet-stream" }),
  };
}

/** The candidates at one place. */
function Table({ table, next }: { table: CandidatesAt; next: NextAnswer }) {
  const { card, answer, set, take } = useYoursWorkspace();
  const { restrictions } = useShell();
  const { candidates, pieces, instead } = table;
  const { ids, model, drawn, taken } = candidates;
  const isCausal = card.predicts === "causal";
  const own = answer.tokens[table.place + (isCausal ? 1 : 0)];
  const canTake = isCausal && table.place >= answer.given - 1 && !restrictions.lock;
  const masks = next.tables.filter(({ isMask }) => isMask).length;
  const piece = quoted(answer.tokens[table.place]?.piece ?? "");
  const title = isCausal
    ? `What comes after ${piece}`
    : table.isMask
      ? masks > 1
        ? `The mask at token ${table.place + 1}`
        : "What the mask hides"
      : `If ${piece} were hidden`;
  const shares = (model: number, drawn: number, without: number | null) => (
    <>
      <Share name="model" share={model} of="of-model" />
      {isCausal && <Share name="drawn" share={drawn} of="of-drawn" />}
      {instead && <Share name="instead" share={without} of="of-instead" />}
    </>
  );
  return (
    <div class="next-table" data-place={table.place}>
      <div class="next-head">
        <h3>{title}</h3>
        <SaveMenu
          title="the candidates"
          file={`next-${table.place + 1}`}
          contents={contentsOf(table, isCausal)}
        />
      </div>
      <table class="candidates">
        <thead>
          <tr>
            <th scope="col">token</th>
            <th scope="col">the model</th>
            {isCausal && <th scope="col">drawn</th>}
            {instead && <th scope="col">{insteadTitle(next.dropped.length)}</th>}
          </tr>
        </thead>
        <tbody>
          {Array.from(ids, (id, rank) => (
            <CandidateRow
              key={rank}
              id={id}
              piece={pieces[rank] as string}
              isTaken={taken?.rank === rank}
              onTake={canTake ? () => take(id, table.place) : null}
            >
              {shares(model[rank] as number, drawn[rank] as number, instead?.model[rank] ?? null)}
            </CandidateRow>
          ))}
        </tbody>
        <tfoot>
          <tr class="others">
            <th scope="row">all others</th>
            {shares(restOf(model), restOfDrawn(candidates), instead && restOf(instead.model))}
          </tr>
        </tfoot>
      </table>
      <p class="faint next-about">
        {taken && own && (
          <>
            The text has {quoted(own.piece)}: rank {taken.rank + 1},{" "}
            <span class="number">{shareWords(taken.model)}</span>.{" "}
          </>
        )}
        {isCausal && canTake && "Select one to go on. "}
        {pieces.some((piece) => visible(piece).includes("␣")) && "␣ is a space."}
      </p>
      {instead && (
        <InsteadWords
          piece={instead.bestPiece}
          probability={instead.best.probability}
          count={next.dropped.length}
          onRestore={restrictions.lock ? null : () => set({ dropped: [] })}
        />
      )}
    </div>
  );
}

/** Why there are no candidates. */
function whyNone(predicts: "causal" | "masked", hasMask: boolean): string {
  return predicts === "masked" && !hasMask
    ? "This checkpoint has no head for masked words, or its tokenizer no token for them: only its attention can be shown."
    : "";
}

export function NextPanel() {
  const { card, next } = useYoursWorkspace();
  const { restrictions } = useShell();
  const why = whyNone(card.predicts, card.mask !== null);
  return (
    <section class="next" aria-labelledby="next-title">
      <h2 id="next-title">Predictions</h2>
      {why && !hides(restrictions, "text") && <p class="faint">{why}</p>}
      <div class="next-tables">
        {next?.tables.map((table) => (
          <Table key={`${table.place} ${table.isMask}`} {...{ table, next }} />
        ))}
      </div>
    </section>
  );
}
