/** The most likely next tokens, before and after the settings of sampling and the dropped heads are applied. */
import { type Contents, csvBlob, csvOf, npyOf, viewOn } from "heed/view/parts";
import { SaveMenu } from "../../../picture/SaveMenu";
import {
  CandidateRow,
  InsteadWords,
  insteadTitle,
  restOf,
  restOfDrawn,
  Share,
} from "../../../shared/CandidateTable";
import type { Candidates } from "../../../shared/candidates";
import { quoted, visible } from "../../../shared/pieces";
import { hides } from "../../../shared/restrictions";
import { useShell } from "../../../shared/shell";
import { Term } from "../../../shared/Term";
import { useWriteWorkspace } from "./workspace";

interface RowOf {
  readonly model: number | null;
  readonly drawn: number | null;
  readonly instead: number | null;
}

function Shares({ model, drawn, instead }: RowOf) {
  const { answer } = useWriteWorkspace();
  return (
    <>
      <Share name="model" share={model} of="of-model" />
      <Share name="drawn" share={drawn} of="of-drawn" />
      {answer.instead && <Share name="instead" share={instead} of="of-instead" />}
    </>
  );
}

function Candidate({ rank }: { rank: number }) {
  const { opened, answer, place, take } = useWriteWorkspace();
  const { restrictions } = useShell();
  const { ids, model, drawn, taken } = answer.candidates[place] as Candidates;
  const id = ids[rank] as number;
  const canTake = place >= answer.given - 1 && !restrictions.lock;
  return (
    <CandidateRow
      id={id}
      piece={opened.vocabulary[id] as string}
      isTaken={taken?.rank === rank}
      onTake={canTake ? () => take(id) : null}
    >
      <Shares
        model={model[rank] as number}
        drawn={drawn[rank] as number}
        instead={answer.instead?.[place]?.model[rank] ?? null}
      />
    </CandidateRow>
  );
}

/** The token of the text, if it is none of the most likely ones; the row is always there, so that nothing moves. */
function TakenRow() {
  const { opened, answer, place } = useWriteWorkspace();
  const { ids, taken } = answer.candidates[place] as Candidates;
  const isExtra = taken !== null && taken.rank >= ids.length;
  const piece = opened.vocabulary[answer.ids[place + 1] ?? -1];
  return (
    <tr class={isExtra ? "taken extra" : "extra"}>
      <th scope="row">
        {isExtra && (
          <span class="extra-token">
            <bdi>{visible(piece as string)}</bdi> <span class="faint">rank {taken.rank + 1}</span>
          </span>
        )}
      </th>
      {isExtra ? (
        <Shares
          model={taken.model}
          drawn={taken.drawn}
          instead={answer.instead?.[place]?.taken ?? null}
        />
      ) : (
        <td />
      )}
    </tr>
  );
}

function Table() {
  const { answer, place } = useWriteWorkspace();
  const candidates = answer.candidates[place] as Candidates;
  const { ids, model } = candidates;
  const instead = answer.instead?.[place];
  return (
    <table class="candidates">
      <thead>
        <tr>
          <th scope="col">token</th>
          <th scope="col">the model</th>
          <th scope="col">drawn</th>
          {instead && <th scope="col">{insteadTitle(answer.dropped.length)}</th>}
        </tr>
      </thead>
      <tbody>
        {Array.from(ids, (_, rank) => (
          <Candidate key={rank} rank={rank} />
        ))}
        <TakenRow />
      </tbody>
      <tfoot>
        <tr class="others">
          <th scope="row">all others</th>
          <Shares
            model={restOf(model)}
            drawn={restOfDrawn(candidates)}
            instead={instead ? restOf(instead.model) : null}
          />
        </tr>
      </tfoot>
    </table>
  );
}

function useContents(): Contents {
  const { opened, answer, place } = useWriteWorkspace();
  const candidates = answer.candidates[place] as Candidates;
  const { ids, model, drawn } = candidates;
  const instead = answer.instead?.[place]?.model;
  const columns = [model, drawn, ...(instead ? [instead] : [])];
  const numbers = Array.from(ids, (_, rank) => columns.map((column) => column[rank] as number));
  const view = viewOn(Float32Array.from(numbers.flat()), ids.length, columns.length);
  const names = ["the model", "drawn", "without the dropped heads"].slice(0, columns.length);
  const tokens = Array.from(ids, (id) => opened.vocabulary[id] as string);
  return {
    csv: () => csvBlob(csvOf(view, tokens, names)),
    npy: () => new Blob([npyOf(view)], { type: "application/octet-stream" }),
  };
}

export function NextToken() {
  const { opened, answer, place, set } = useWriteWorkspace();
  const { restrictions } = useShell();
  const contents = useContents();
  const { choices } = answer.candidates[place] as Candidates;
  const instead = answer.instead?.[place];
  const all = opened.vocabulary.length;
  const after = quoted(answer.pieces[place] as string);
  return (
    <section class="next" aria-labelledby="next-title">
      <div class="next-head">
        <h2 id="next-title">What comes after {after}</h2>
        <SaveMenu title="the candidates" file={`next-${place + 1}`} contents={contents} />
      </div>
      <Table />
      {!hides(restrictions, "text") && (
        <p class="faint next-about">
          <b data-choices={choices}>{choices.toLocaleString("en")}</b> of {all.toLocaleString("en")}{" "}
          can be drawn after <Term name="temperature" />, <Term name="top-k and top-p" />. ␣ is a
          space.{" "}
          {place >= answer.given - 1
            ? "Select one to branch."
            : "They can be taken from the end of your text on."}
        </p>
      )}
      {instead && (
        <InsteadWords
          piece={opened.vocabulary[instead.best.id] as string}
          probability={instead.best.probability}
          count={answer.dropped.length}
          onRestore={restrictions.lock ? null : () => set({ dropped: [] })}
        />
      )}
    </section>
  );
}
