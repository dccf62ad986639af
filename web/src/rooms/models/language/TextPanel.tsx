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
import { Languages } from "./Languages";
import type { Card, ReadAnswer } from "./messages";
import { mostTokens, type State, withText } from "./state";
import { type ShownHead, type Span, useLanguageWorkspace } from "./workspace";

interface TokensProps {
  readonly name: string;
  /** The tokens of the text that are shown. */
  readonly span: Span;
  readonly palette: Palette;
  readonly weights: MatrixView | null;
}

function Tokens({ name, span, palette, weights }: TokensProps) {
  const { state, card, answer, shown, rows, place, clock, set, go, press } = useLanguageWorkspace();
  const list = useRef<HTMLDivElement>(null);
  const strip = useRef<TokenStrip>(null);
  const { tokens, given, sources } = answer;
  const { start, count } = span;
  // Each token is a query, or a key of the selected query, or both.
  const areRows = start === rows.start;
  const areColumns = start === shown?.spans.columns.start;
  const { cell } = state;
  const chosen = areRows ? place - start : areColumns && cell ? cell.col : null;
  const isCausal = card.writes && start === sources;
  // There may be hundreds, and pointing at a cell changes none.
  useLayoutEffect(() => {
    if (!list.current) return;
    strip.current ??= new TokenStrip(list.current);
    const isLater = (i: number) => areRows && isCausal && start + i > place;
    const classOf = (i: number) =>
      [start + i >= given && "own", isLater(i) && "later", tokens[start + i]?.isSpecial && "start"]
        .filter(Boolean)
        .join(" ");
    const row = place - rows.start;
    const shades = weights && areColumns && shadesOf(weights, row, palette);
    const shade = (i: number) => (shades && !isLater(i) ? shades(i) : null);
    const pieces = tokens.slice(start, start + count).map(({ piece }) => piece);
    strip.current.draw({ pieces, chosen, shade, classOf });
  }, [answer, start, count, areRows, areColumns, isCausal, chosen, palette, weights, place]);
  return (
    <div
      ref={list}
      class={clock.isPlaying ? "written-text playing" : "written-text"}
      role="listbox"
      aria-label={`${name}, token by token`}
      aria-disabled={!areRows && !areColumns}
      tabIndex={areRows || areColumns ? 0 : -1}
      onKeyDown={(event) => {
        if (!areRows && !areColumns) return;
        const next = moved(event.key, chosen ?? -1, count);
        if (next === null) return;
        event.preventDefault();
        if (areRows) go(start + next);
        else set({ cell: { row: place - rows.start, col: next } });
      }}
      onClick={(event) => {
        const index = TokenStrip.indexOf(event);
        if (index === null) return;
        if (areRows) go(start + index);
        else if (areColumns) press({ row: place - rows.start, col: index });
      }}
    />
  );
}

/** The text, or the input and the answer. */
function Strips(props: Pick<TokensProps, "palette" | "weights">) {
  const { answer } = useLanguageWorkspace();
  const { tokens, sources } = answer;
  const target = { start: sources, count: tokens.length - sources };
  if (sources === 0) return <Tokens {...props} name="The text" span={target} />;
  return (
    <div class="input-and-answer">
      <h3>Input</h3>
      <Tokens {...props} name="The input" span={{ start: 0, count: sources }} />
      <h3>Answer</h3>
      <Tokens {...props} name="The answer" span={target} />
    </div>
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

/** Whether a head is one of the present text, and has the present rows. */
function isOf({ spans }: ShownHead, rows: Span): boolean {
  return spans.rows.start === rows.start && spans.rows.count === rows.count;
}

function WrittenText() {
  const workspace = useLanguageWorkspace();
  const { state, card, answer, place, rows, shown, clock, isBusy, set, writeOn } = workspace;
  const { restrictions } = useShell();
  const isReduced = useReducedMotion();
  const isOfText = shown !== null && isOf(shown, rows);
  const weights = useMemo(
    () => (shown && isOfText ? weightsOf(shown.attention, shown.shares, 0) : null),
    [shown, isOfText],
  );
  const palette = useWeightPalette(state);
  const row = place - rows.start;
  const isSelf = shown?.spans.columns.start === rows.start;
  const own = weights && isSelf ? at(weights, row, row) : null;
  const canWrite = card.writes && !restrictions.lock;
  const { length } = answer.ids;
  const hasRoom = length - answer.sources < card.context && length < mostTokens;
  const canGrow = canWrite && hasRoom && !answer.hasEnded;
  const canStep = canGrow && rows.start + rows.count === length;
  return (
    <>
      <Transport
        count={rows.count}
        index={place - rows.start}
        go={(index) => set({ place: rows.start + index, cell: null })}
        label="Tokens"
        unit="Token"
        title={quoted(answer.tokens[place]?.piece ?? "")}
        {...(isReduced
          ? {}
          : { live: { ...clock, ...(canStep && { next: () => writeOn("step") }) } })}
      />
      <Strips {...{ palette, weights }} />
      <div class="text-foot line">
        <Legend palette={palette} view={weights} />
        <About own={own} />
        {canWrite && (
          <button type="button" disabled={!canGrow || isBusy} onClick={() => writeOn("play")}>
            {isBusy && state.length > 0 ? "Writing …" : "Write on"}
          </button>
        )}
        {canWrite && card.predicts === "causal" && state.length > 0 && (
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
  if (predicts === "seq2seq") return "Type any text: the model reads it, and writes an answer";
  return `Type any text${mask ? `; ${mask.text} hides a word` : ""}`;
}

interface TextPanelProps {
  text: string;
  card: Card;
  state: State;
  set: Setter<State>;
  /** Null if the model has read no text. */
  answer: ReadAnswer | null;
  notices: readonly string[];
}

/** The field is there as soon as a model is, so that a text that it cannot read can be changed. */
export function TextPanel({ text, card, state, set, answer, notices }: TextPanelProps) {
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
        <Languages {...{ card, answer, state, set }} />
      </Lockable>
      <Notices notices={notices} />
      {answer && <WrittenText />}
      <Announced>{answer?.written && `The model writes: ${answer.written}`}</Announced>
    </section>
  );
}
