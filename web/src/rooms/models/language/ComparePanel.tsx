/** The same head on two texts, and the difference of its weights where their tokens line up. */

import { at, type Cell, format, rangeOf, signedPalette, viewOn } from "heed/view/parts";
import { useMemo, useState } from "preact/hooks";
import { TokenMap } from "../../../picture/TokenMap";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { headName } from "../../../shared/layerHeads";
import { Lockable } from "../../../shared/Panel";
import { label } from "../../../shared/pieces";
import { hides } from "../../../shared/restrictions";
import { SentenceArea } from "../../../shared/SentenceArea";
import { useShell } from "../../../shared/shell";
import { useWidth } from "../../../shared/useWidth";
import { aligned, differenceAt } from "./comparing";
import { hiddenIn } from "./HeadPanel";
import type { OtherAnswer } from "./messages";
import { shownHead } from "./useReading";
import { type ShownHead, useLanguageWorkspace } from "./workspace";

const hidesFuture = (row: number, col: number) => col > row;

function Maps({ shown, other }: { shown: ShownHead; other: OtherAnswer }) {
  const { state, card, answer, head } = useLanguageWorkspace();
  const { theme } = useShell();
  const palette = useWeightPalette(state);
  const [ref, width] = useWidth<HTMLDivElement>();
  const [active, setActive] = useState<Cell | null>(null);
  const second = useMemo(() => shownHead(card, other, head), [card, other, head]);
  const theirs = second.attention.rows;
  const count = shown.attention.rows.length;
  const weights = viewOn(shown.shares.weights, count, count);
  const otherWeights = useMemo(
    () => viewOn(second.shares.weights, theirs.length, theirs.length),
    [second],
  );
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
  const [low, high] = rangeOf(difference) ?? [0, 1];
  const signed = useMemo(() => signedPalette(Math.max(-low, high), theme), [difference, theme]);
  const isHidden = useMemo(() => hiddenIn(second), [second]);
  const isDifferenceHidden = card.predicts === "causal" ? hidesFuture : undefined;
  const still = { active: null, width, row: null, note: headName(head) };
  const cell = active && active.row < count && active.col < pairs.length ? active : null;
  const own = cell && [pairs[cell.row], pairs[cell.col]];
  return (
    <>
      <div class="compare-figure">
        <div ref={ref} class="scroll">
          {width > 0 && (
            <TokenMap
              {...{ ...still, name: "other", title: "Weights of the other text" }}
              {...{ view: otherWeights, tokens: theirs, isHidden }}
              palette={palette}
              caption={`Weights, ${headName(head)}: ${other.text}`}
              file={`other-${head}`}
            />
          )}
        </div>
        <div class="scroll">
          {width > 0 && pairs.length > 0 && (
            <TokenMap
              {...{ ...still, active: cell, name: "difference", title: "Difference" }}
              {...{ view: difference, tokens, palette: signed }}
              isHidden={isDifferenceHidden}
              actions={{ point: setActive, press: setActive }}
              caption={`Weights of the text less those of “${other.text}”, ${headName(head)}`}
              file={`difference-${head}`}
            />
          )}
        </div>
      </div>
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

export function ComparePanel({ text }: { text: string }) {
  const { state, answer, head, shown, other, whyNotOther, set } = useLanguageWorkspace();
  const { restrictions } = useShell();
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
          {!hides(restrictions, "text") && (
            <p>
              <b class="more">Blue</b>: {headName(head)} attends more in the first text.{" "}
              <b class="less">Orange</b>: more in the other one.
            </p>
          )}
          {shown && isRead && other?.head === head && <Maps shown={shown} other={other} />}
        </>
      )}
    </section>
  );
}
