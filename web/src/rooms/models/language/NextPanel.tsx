/** The candidates for the token after the selected one, for the selected token and each masked one, or for a label. */
import { type Contents, csvBlob, npyBlob, npyOf, rowsCsv, viewOn } from "#parts";
import { SaveMenu } from "../../../picture/SaveMenu";
import { withoutWords } from "../../../shared/ablation";
import {
  afterSampling,
  CandidateHead,
  ShareCells,
  shareWords,
} from "../../../shared/CandidateTable";
import type { Candidates } from "../../../shared/candidates";
import { Prose } from "../../../shared/Panel";
import { quoted, visible } from "../../../shared/pieces";
import { useShell } from "../../../shared/shell";
import { Term } from "../../../shared/Term";
import { useEngine } from "../../../worker/engineClient";
import type { CandidatesAt, Card, NextAnswer } from "./messages";
import { type LanguageWorkspace, useLanguageWorkspace } from "./workspace";

/** The name of a model's candidates. */
const nameOf = ({ classifier }: Card) => (classifier ? "label" : "token");

/** The numbers of candidates: their names, and a row for each candidate. */
function columnsOf({ candidates, instead }: CandidatesAt, card: Card) {
  const { ids, logits, model, drawn } = candidates;
  const columns: (readonly [name: string, column: ArrayLike<number>])[] = [
    [nameOf(card), ids],
    ["logit", logits],
    ["probability", model],
  ];
  if (card.writes) columns.push([afterSampling, drawn]);
  if (instead) columns.push(["without the ablated heads", instead.model]);
  const rows = Array.from(ids, (_, rank) => columns.map(([, column]) => column[rank] as number));
  return { names: columns.map(([name]) => name), rows };
}

/** Asks for the whole vocabulary at the place of a table. */
function useContents({ place, isMask }: CandidatesAt): Contents {
  const engine = useEngine();
  const { card, answer, state, ablating } = useLanguageWorkspace();
  const { temperature, topK, topP } = state;
  const find = async () => {
    const found = await engine.ask("language", {
      ...{ kind: "next", model: answer.model, ids: answer.ids, sources: answer.sources },
      ...{ place, most: card.vocabulary },
      ...{ temperature, topK, topP, ...ablating },
    });
    const tables = found?.kind === "next" ? found.tables : [];
    const table = tables.find((each) => each.place === place && each.isMask === isMask);
    if (!table) throw new Error("the model was closed");
    return { ...columnsOf(table, card), pieces: table.pieces };
  };
  return {
    async csv() {
      const { names, rows, pieces } = await find();
      const lines = rows.map(([id = 0, ...numbers], i) => [id, pieces[i] as string, ...numbers]);
      return csvBlob(rowsCsv([[names[0] as string, "text", ...names.slice(1)], ...lines]));
    },
    async npy() {
      const { names, rows } = await find();
      return npyBlob(npyOf(viewOn(Float32Array.from(rows.flat()), rows.length, names.length)));
    },
  };
}

/** The title of the table: the place that its candidates follow. */
function titleOf({ card, answer }: LanguageWorkspace, table: CandidatesAt, next: NextAnswer) {
  const piece = quoted(answer.tokens[table.place]?.piece ?? "");
  if (card.writes) return `What comes after ${piece}`;
  if (card.classifier)
    return card.classifier.task === "token" ? `The label of ${piece}` : "The label of the text";
  if (!table.isMask) return `If ${piece} were hidden`;
  const masks = next.tables.filter(({ isMask }) => isMask).length;
  return masks > 1 ? `The mask at token ${table.place + 1}` : "What the mask hides";
}

/** The probability of all other tokens. */
const restOf = (shares: Float32Array): number =>
  Math.max(0, 1 - shares.reduce((sum, share) => sum + share, 0));

/** The probability that the drawn token is not one of the candidates. */
const restOfDrawn = ({ ids, drawn, choices }: Candidates): number =>
  choices <= ids.length ? 0 : restOf(drawn);

/** A label is shown as it is. */
const shownPiece = ({ classifier }: Card, piece: string) => (classifier ? piece : visible(piece));

function Rows({ table, canTake }: { table: CandidatesAt; canTake: boolean }) {
  const { card, take } = useLanguageWorkspace();
  const { candidates, pieces, instead } = table;
  const { ids, model, drawn, taken } = candidates;
  const { classifier } = card;
  const areAll = ids.length === classifier?.labels.length || classifier?.problem === "multiple";
  return (
    <>
      <tbody>
        {Array.from(ids, (id, rank) => {
          const isTaken = taken?.rank === rank;
          const piece = shownPiece(card, pieces[rank] as string);
          return (
            <tr key={rank} class={isTaken ? "taken" : undefined} data-token={id}>
              <th scope="row">
                <button
                  type="button"
                  disabled={!canTake}
                  aria-pressed={isTaken}
                  aria-label={`${piece}${isTaken ? ", in the text" : ""}`}
                  onClick={() => take(id)}
                >
                  <bdi>{piece}</bdi>
                </button>
              </th>
              <ShareCells
                model={model[rank] as number}
                without={instead?.model[rank] ?? null}
                drawn={card.writes ? (drawn[rank] as number) : null}
              />
            </tr>
          );
        })}
      </tbody>
      {!areAll && (
        <tfoot>
          <tr class="others">
            <th scope="row">all others</th>
            <ShareCells
              model={restOf(model)}
              without={instead && restOf(instead.model)}
              drawn={card.writes ? restOfDrawn(candidates) : null}
            />
          </tr>
        </tfoot>
      )}
    </>
  );
}

/** How the next token of the text does, and how many can be drawn. */
function About({ table, canTake }: { table: CandidatesAt; canTake: boolean }) {
  const { card, answer } = useLanguageWorkspace();
  const { candidates, pieces, place } = table;
  const { taken, choices } = candidates;
  const own = answer.tokens[place + (card.writes ? 1 : 0)];
  const { classifier } = card;
  const count = pieces.length;
  return (
    <Prose class="faint next-about small">
      {taken && own && (
        <>
          The text has {quoted(own.piece)}: rank {taken.rank + 1},{" "}
          <span class="number">{shareWords(taken.model)}</span>.{" "}
        </>
      )}
      {card.writes && (
        <>
          <b data-choices={choices}>{choices.toLocaleString("en")}</b> of{" "}
          {card.vocabulary.toLocaleString("en")} can be drawn after{" "}
          <Term name="temperature">temperature,</Term> <Term name="top-k and top-p" />.{" "}
        </>
      )}
      {canTake && "Select one to go on with it. "}
      {classifier &&
        count < classifier.labels.length &&
        `${count} of ${classifier.labels.length} labels. `}
      {classifier?.problem === "multiple" &&
        "Each label has its own probability: the sum need not be 1. "}
      {pieces.some((piece) => shownPiece(card, piece).includes("␣")) && "␣ is a space."}
    </Prose>
  );
}

/** The candidates at one place. */
function Table({ table, next }: { table: CandidatesAt; next: NextAnswer }) {
  const workspace = useLanguageWorkspace();
  const { card, answer, place, set } = workspace;
  const { restrictions } = useShell();
  const { instead } = table;
  const isAfterText = table.place === place && place >= answer.given - 1;
  const canTake = card.writes && isAfterText && !restrictions.lock;
  return (
    <div class="next-table" data-place={table.place}>
      <div class="next-head small">
        <h3 class="truncated">{titleOf(workspace, table, next)}</h3>
        <SaveMenu
          title={`all candidates: ${titleOf(workspace, table, next)}`}
          file={`next-${table.place + 1}`}
          contents={useContents(table)}
        />
      </div>
      <table class="candidates">
        <CandidateHead
          token={nameOf(card)}
          without={instead && withoutWords(next)}
          isDrawn={card.writes}
        />
        <Rows {...{ table, canTake }} />
      </table>
      <About {...{ table, canTake }} />
      {instead && (
        <p class="instead small">
          Without the ablated heads the likeliest is <b>{shownPiece(card, instead.bestPiece)}</b>{" "}
          <span class="number">{shareWords(instead.best.probability)}</span>.{" "}
          {!restrictions.lock && (
            <button type="button" class="link" onClick={() => set({ ablated: [] })}>
              restore {next.ablated.length === 1 ? "it" : "them"}
            </button>
          )}
        </p>
      )}
    </div>
  );
}

export function NextPanel() {
  const { card, next } = useLanguageWorkspace();
  return (
    <section class="next" aria-labelledby="next-title">
      <h2 id="next-title">Predictions</h2>
      {card.whyNoPredictions && <Prose class="faint">{card.whyNoPredictions}</Prose>}
      <div class="next-tables">
        {next?.tables.map((table) => (
          <Table key={`${table.place} ${table.isMask}`} {...{ table, next }} />
        ))}
      </div>
    </section>
  );
}
