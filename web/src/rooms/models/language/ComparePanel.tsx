/** The same head on two texts, and the difference of its weights where their tokens line up. */

import { useMemo, useState } from "preact/hooks";
import { at, type Cell, format } from "#parts";
import { TokenMap } from "../../../picture/TokenMap";
import { useSignedPalette } from "../../../picture/useSignedPalette";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { withoutWords } from "../../../shared/ablation";
import { headName } from "../../../shared/layerHeads";
import { Lockable } from "../../../shared/Panel";
import { label } from "../../../shared/pieces";
import { SentenceArea } from "../../../shared/SentenceArea";
import { CompareFigure, DifferenceColours } from "../parts/CompareFigure";
import { aligned, differenceAt } from "./comparing";
import type { OtherAnswer } from "./messages";
import { shownHead } from "./useReading";
import { weightsIn } from "./weighting";
import { type ShownHead, useLanguageWorkspace } from "./workspace";

function Maps({ shown, other }: { shown: ShownHead; other: OtherAnswer }) {
  const { state, card, answer, head } = useLanguageWorkspace();
  const palette = useWeightPalette(state);
  const [active, setActive] = useState<Cell | null>(null);
  const second = useMemo(() => shownHead(card, other, head), [card, other, head]);
  const theirs = second.attention.rows;
  const count = shown.attention.rows.length;
  const weights = weightsIn(shown);
  const otherWeights = useMemo(() => weightsIn(second), [second]);
  const pairs = useMemo(
    () =>
      aligned(
        answer.ids,
        other.tokens.map(({ id }) => id),
      ),
    [answer, other],
  );
  const difference = useMemo(() => differenceAt(pairs, weights, otherWeights), [pairs, shown]);
  const tokens = useMemo(
    () => pairs.map(([i]) => label(answer.tokens[i]?.piece ?? "")),
    [pairs, answer],
  );
  const signed = useSignedPalette(difference);
  const still = { active: null, row: null, note: headName(head) };
  const cell = active && active.row < count && active.col < pairs.length ? active : null;
  const own = cell && [pairs[cell.row], pairs[cell.col]];
  return (
    <>
      <CompareFigure
        maps={[
          (width) => (
            <TokenMap
              {...{ ...still, width, name: "other", title: "Weights of the other text" }}
              {...{ view: otherWeights, tokens: theirs, palette }}
              caption={`Weights, ${headName(head)}: ${other.text}`}
              file={`other-${head}`}
            />
          ),
          (width) =>
            pairs.length > 0 && (
              <TokenMap
                {...{ ...still, width, active: cell, name: "difference", title: "Difference" }}
                {...{ view: difference, tokens, palette: signed }}
                actions={{ point: setActive, press: setActive }}
                caption={`Weights of the text less those of “${other.text}”, ${headName(head)}`}
                file={`difference-${head}`}
              />
            ),
        ]}
      />
      <p class="number compare-words" aria-live="polite">
        {pairs.length === 1
          ? "1 token is in both texts."
          : `${pairs.length} tokens are in both texts, in the same order.`}{" "}
        {own?.[0] && own[1] && cell && (
          <>
            “{tokens[cell.row]}” to “{tokens[cell.col]}”:{" "}
            {format(at(weights, own[0][0], own[1][0]), 4)} −{" "}
            {format(at(otherWeights, own[0][1], own[1][1]), 4)} ={" "}
            {format(at(difference, cell.row, cell.col), 4)}
          </>
        )}
      </p>
    </>
  );
}

/** The similarity of the model's vectors of both texts, with its meaning. */
function Similarity() {
  const { card, answer, other, similarity } = useLanguageWorkspace();
  const { compares } = card;
  if (!similarity || !compares) return null;
  const { all, without } = similarity;
  const isCosine = compares.by === "cosine";
  const most = Math.max(answer.tokens.length, other?.tokens.length ?? 0);
  return (
    <p class="number similarity" aria-live="polite">
      {isCosine ? "Cosine similarity" : "Dot product"} of the vectors of both texts:{" "}
      <b data-similarity={all}>{format(all, 4)}</b>
      {without !== null && (
        <>
          , <span data-similarity={without}>{format(without, 4)}</span> {withoutWords(similarity)}
        </>
      )}
      .{" "}
      {isCosine
        ? "Near 1 the model finds them alike, near 0 unrelated."
        : "The larger, the more alike the model finds them."}
      {compares.tokens !== null &&
        most > compares.tokens &&
        ` The vector of a text is of its first ${compares.tokens} tokens, as the model’s files say.`}
    </p>
  );
}

/** Renders nothing for a translation, whose target may be another one for each text. */
export function ComparePanel() {
  return useLanguageWorkspace().card.predicts === "seq2seq" ? null : <Compare />;
}

function Compare() {
  const { state, text, answer, head, shown, other, whyNotOther, set } = useLanguageWorkspace();
  // The head may still be shown on the text before.
  const isRead = shown?.attention.rows.length === answer.ids.length;
  return (
    <section class="comparison" aria-labelledby="compare-title">
      <h2 id="compare-title">Another text</h2>
      {state.other === null ? (
        <Lockable>
          <button type="button" onClick={() => set({ other: text })}>
            Compare
          </button>
        </Lockable>
      ) : (
        <>
          <Lockable>
            <SentenceArea
              id="language-other"
              label="Change some words of it"
              value={state.other}
              onInput={(other) => set({ other })}
            />
            <button type="button" class="link" onClick={() => set({ other: null })}>
              Compare no more
            </button>
          </Lockable>
          {whyNotOther && <p role="status">{whyNotOther}</p>}
          <Similarity />
          <DifferenceColours
            more={`${headName(head)} attends more in the first text.`}
            less="more in the other one."
          />
          {shown && isRead && other?.head === head && <Maps shown={shown} other={other} />}
        </>
      )}
    </section>
  );
}
