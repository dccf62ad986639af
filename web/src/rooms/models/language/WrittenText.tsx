/**
 * The text, token by token: played, shaded by the attention weights of the current token, and with its former branches.
 */

import {
  at,
  format,
  type MatrixView,
  moved,
  type Palette,
  shadesOf,
  shorten,
  TokenStrip,
} from "heed/view/parts";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Legend } from "../../../picture/Legend";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { weightsOf } from "../../../shared/attended";
import { headName } from "../../../shared/layerHeads";
import { Lockable } from "../../../shared/Panel";
import { quoted } from "../../../shared/pieces";
import { hides } from "../../../shared/restrictions";
import { useShell } from "../../../shared/shell";
import { Transport } from "../../../shared/Transport";
import { useReducedMotion } from "../../../shared/useMedia";
import { line } from "./state";
import { useWriteWorkspace } from "./workspace";

function Tokens({ palette, weights }: { palette: Palette; weights: MatrixView | null }) {
  const { answer, place, clock, go } = useWriteWorkspace();
  const list = useRef<HTMLDivElement>(null);
  const strip = useRef<TokenStrip>(null);
  const { ids, pieces, given } = answer;
  // There may be hundreds, and pointing at a cell changes none.
  useLayoutEffect(() => {
    if (!list.current) return;
    strip.current ??= new TokenStrip(list.current);
    const classOf = (i: number) =>
      [i >= given && "own", i > place && "later", ids[i] === ids[0] && "start"]
        .filter(Boolean)
        .join(" ");
    const shades = weights && shadesOf(weights, place, palette);
    const shade = (i: number) => (shades && i <= place ? shades(i) : null);
    strip.current.draw({ pieces, chosen: place, shade, classOf });
  }, [answer, palette, weights, place]);
  return (
    <div
      ref={list}
      class={clock.isPlaying ? "written-text playing" : "written-text"}
      role="listbox"
      aria-label="The text, token by token"
      tabIndex={0}
      onKeyDown={(event) => {
        const next = moved(event.key, place, pieces.length);
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
  const { branches, takeAgain } = useWriteWorkspace();
  return (
    <p class="branches">
      {branches.length > 0 && <span class="faint">Former branches:</span>}{" "}
      {branches.map((branch) => (
        <button type="button" key={branch.kept.join()} onClick={() => takeAgain(branch)}>
          … <bdi>{wordsOf(branch.pieces)}</bdi>
        </button>
      ))}
    </p>
  );
}

export function WrittenText() {
  const { state, opened, answer, place, head, shown, clock, set, writeOn } = useWriteWorkspace();
  const { restrictions } = useShell();
  const isReduced = useReducedMotion();
  const weights = useMemo(() => shown && weightsOf(shown.attention, shown.shares, 0), [shown]);
  const palette = useWeightPalette(state);
  const { pieces } = answer;
  const canGrow = answer.ids.length + line <= opened.context && !restrictions.lock;
  const own = weights && at(weights, place, place);
  return (
    <section class="text" aria-labelledby="text-title">
      <h2 id="text-title">The text</h2>
      <Transport
        count={pieces.length}
        index={place}
        go={(place) => set({ place })}
        label="Tokens"
        unit="Token"
        title={quoted(pieces[place] as string)}
        {...(isReduced
          ? {}
          : { live: { ...clock, ...(canGrow && { next: () => writeOn("step") }) } })}
      />
      <Tokens {...{ palette, weights }} />
      <div class="text-foot">
        <Legend palette={palette} view={weights} />
        {!hides(restrictions, "text") && (
          <p class="faint text-about">
            Shaded: what {quoted(pieces[place] as string)} attends to in {headName(head)}
            {own !== null && `, ${format(own)} on itself`}. Underlined: written.
          </p>
        )}
        <Lockable>
          <button type="button" disabled={!canGrow} onClick={() => writeOn("play")}>
            Write on
          </button>
        </Lockable>
      </div>
      <Lockable>
        <Branches />
      </Lockable>
    </section>
  );
}
