/**
 * The text that the model reads, with its continuation, token by token: played, shaded by the attention weights of the
 * current token, and with its former branches.
 */

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import {
  at,
  format,
  type MatrixView,
  moved,
  type Palette,
  shadesOf,
  shorten,
  TokenStrip,
} from "#parts";
import { Legend } from "../../../picture/Legend";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { Announced } from "../../../shared/Announced";
import { weightsOf } from "../../../shared/attended";
import { headName } from "../../../shared/layerHeads";
import { Notices } from "../../../shared/Notices";
import { Lockable, Prose } from "../../../shared/Panel";
import { quoted } from "../../../shared/pieces";
import type { Setter } from "../../../shared/room";
import { SentenceArea } from "../../../shared/SentenceArea";
import { useShell } from "../../../shared/shell";
import { Transport } from "../../../shared/Transport";
import { useReducedMotion } from "../../../shared/useMedia";
import type { Card } from "./messages";
import { mostTokens, type State, withText } from "./state";
import { useLanguageWorkspace } from "./workspace";

function Tokens({ palette, weights }: { palette: Palette; weights: MatrixView | null }) {
  const { card, answer, place, clock, go } = useLanguageWorkspace();
  const list = useRef<HTMLDivElement>(null);
  const strip = useRef<TokenStrip>(null);
  const { tokens, given } = answer;
  const isCausal = card.predicts === "causal";
  // There may be hundreds, and pointing at a cell changes none.
  useLayoutEffect(() => {
    if (!list.current) return;
    strip.current ??= new TokenStrip(list.current);
    const isLater = (i: number) => isCausal && i > place;
    const classOf = (i: number) =>
      [i >= given && "own", isLater(i) && "later", tokens[i]?.isSpecial && "start"]
        .filter(Boolean)
        .join(" ");
    const shades = weights && shadesOf(weights, place, palette);
    const shade = (i: number) => (shades && !isLater(i) ? shades(i) : null);
    const pieces = tokens.map(({ piece }) => piece);
    strip.current.draw({ pieces, chosen: place, shade, classOf });
  }, [answer, isCausal, palette, weights, place]);
  return (
    <div
      ref={list}
      class={clock.isPlaying ? "written-text playing" : "written-text"}
      role="listbox"
      aria-label="The text, token by token"
      tabIndex={0}
      onKeyDown={(event) => {
        const next = moved(event.key, place, tokens.length);
        if (next === null) return;
        event.preventDefault();
        go(next);
      }}
      onClick={(event) => {
        const index = TokenStrip.indexOf(event);
        if (index !== null) go(index);
      }}
    />
  );
}

/** The first words of a branch. */
function wordsOf(pieces: readonly string[]): string {
  return shorten(pieces.slice(0, 12).join("").replace(/\s+/g, " ").trim() || "white space", 32);
}

function Branches() {
  const { branches, takeAgain } = useLanguageWorkspace();
  if (branches.length === 0) return null;
  return (
    <p class="branches line">
      <span class="faint">Former branches:</span>{" "}
      {branches.map((branch) => (
        <button
          type="button"
          class="truncated"
          key={branch.kept.join()}
          onClick={() => takeAgain(branch)}
        >
          … <bdi>{wordsOf(branch.pieces)}</bdi>
        </button>
      ))}
    </p>
  );
}

/** A sentence about the selected token and its attention weights. */
function About({ own }: { own: number | null }) {
  const { answer, place, head } = useLanguageWorkspace();
  const { id, piece, raw } = answer.tokens[place] as (typeof answer.tokens)[number];
  return (
    <Prose class="faint text-about small">
      {quoted(piece)}, number {id}
      {raw !== piece && <span class="wide-only">, written {raw}</span>}. Shaded: what it attends to
      in {headName(head)}
      {own !== null && `, ${format(own)} on itself`}. Underlined: written by the model.
    </Prose>
  );
}

function WrittenText() {
  const { state, card, answer, place, shown, clock, isBusy, set, writeOn } = useLanguageWorkspace();
  const { restrictions } = useShell();
  const isReduced = useReducedMotion();
  const isOfText = shown?.attention.rows.length === answer.tokens.length;
  const weights = useMemo(
    () => (shown && isOfText ? weightsOf(shown.attention, shown.shares, 0) : null),
    [shown, isOfText],
  );
  const palette = useWeightPalette(state);
  const most = Math.min(card.context, mostTokens);
  const canWrite = card.predicts === "causal" && !restrictions.lock;
  const canGrow = canWrite && answer.ids.length < most && !answer.hasEnded;
  return (
    <>
      <Transport
        count={answer.tokens.length}
        index={place}
        go={(place) => set({ place, cell: null })}
        label="Tokens"
        unit="Token"
        title={quoted(answer.tokens[place]?.piece ?? "")}
        {...(isReduced
          ? {}
          : { live: { ...clock, ...(canGrow && { next: () => writeOn("step") }) } })}
      />
      <Tokens {...{ palette, weights }} />
      <div class="text-foot line">
        <Legend palette={palette} view={weights} />
        <About own={weights && at(weights, place, place)} />
        {canWrite && (
          <button type="button" disabled={!canGrow || isBusy} onClick={() => writeOn("play")}>
            {isBusy && state.length > 0 ? "Writing …" : "Write on"}
          </button>
        )}
        {canWrite && state.length > 0 && (
          <button
            type="button"
            class="link"
            onClick={() => set({ length: 0, kept: [], place: null, cell: null })}
          >
            Remove what was written
          </button>
        )}
        {answer.hasEnded && <span class="faint">The model has ended its text.</span>}
      </div>
      <Lockable>
        <Branches />
      </Lockable>
    </>
  );
}

function labelOf({ predicts, mask }: Card): string {
  if (predicts === "causal") return "Type any text, in any script: the model continues it";
  return `Type any text${mask ? `; ${mask.text} hides a word` : ""}`;
}

interface TextPanelProps {
  text: string;
  card: Card;
  set: Setter<State>;
  /** The text that the model wrote; null if it has read no text. */
  written: string | null;
  notices: readonly string[];
}

/** The field is there as soon as a model is, so that a text that it cannot read can be changed. */
export function TextPanel({ text, card, set, written, notices }: TextPanelProps) {
  return (
    <section class="text" aria-labelledby="text-title">
      <h2 id="text-title" class="wide-only">
        The text
      </h2>
      <Lockable>
        <SentenceArea
          id="language-text"
          label={labelOf(card)}
          value={text}
          onInput={(text) => set(withText(text))}
        />
      </Lockable>
      <Notices notices={notices} />
      {written !== null && <WrittenText />}
      <Announced>{written && `The model writes: ${written}`}</Announced>
    </section>
  );
}
