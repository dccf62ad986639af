/** The text, token by token: played, shaded by what the current token attends to, and with its former branches. */

import {
  at,
  colourOf,
  css,
  format,
  inkOn,
  largestIn,
  type MatrixView,
  type Palette,
  shorten,
} from "heed/view/parts";
import { useId, useMemo } from "preact/hooks";
import { Legend } from "../../picture/Legend";
import { useWeightPalette } from "../../picture/useWeightPalette";
import { weightsOf } from "../../shared/attended";
import { headName } from "../../shared/layerHeads";
import { Lockable } from "../../shared/Panel";
import { quoted } from "../../shared/pieces";
import { hides } from "../../shared/restrictions";
import { Steady } from "../../shared/Steady";
import { useShell } from "../../shared/shell";
import { Transport } from "../../shared/Transport";
import { useReducedMotion } from "../../shared/useMedia";
import { line } from "./state";
import { useWriteWorkspace } from "./workspace";

/** By how many tokens the arrow keys move. */
const moves: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -10, ArrowDown: 10 };

/** The colours of the tokens up to the current one: the weights of its row. */
function shadesOf(palette: Palette, weights: MatrixView | null, place: number) {
  const largest = weights ? largestIn(palette.within, weights)(place) : 0;
  return (i: number) => {
    if (!weights || i > place) return {};
    const colour = colourOf(palette, at(weights, place, i), largest);
    return { backgroundColor: css(colour), color: inkOn(colour) };
  };
}

function Tokens({ palette, weights }: { palette: Palette; weights: MatrixView | null }) {
  const { answer, place, clock, go } = useWriteWorkspace();
  const id = useId();
  const { ids, pieces, given } = answer;
  const draw = () => {
    const shade = shadesOf(palette, weights, place);
    const kindOf = (i: number) =>
      [
        "piece",
        i >= given && "own",
        i > place && "later",
        i === place && "current",
        ids[i] === ids[0] && "start",
      ]
        .filter(Boolean)
        .join(" ");
    return pieces.map((piece, i) => (
      // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names its current token
      <span
        key={i}
        id={`${id}-${i}`}
        role="option"
        aria-selected={i === place}
        aria-label={piece.trim() === "" ? "white space" : undefined}
        class={kindOf(i)}
        data-index={i}
        data-weight={weights && i <= place ? at(weights, place, i) : undefined}
        style={shade(i)}
      >
        {piece.replaceAll("\n", "↵\n")}
      </span>
    ));
  };
  return (
    <div
      class={clock.isPlaying ? "written-text playing" : "written-text"}
      role="listbox"
      aria-label="The text, token by token"
      aria-activedescendant={`${id}-${place}`}
      tabIndex={0}
      onKeyDown={(event) => {
        const move = moves[event.key];
        if (move === undefined) return;
        event.preventDefault();
        go(place + move);
      }}
      onClick={({ target }) => {
        const { index } =
          ((target as Element).closest("[data-index]") as HTMLElement)?.dataset ?? {};
        if (index !== undefined) go(Number(index));
      }}
    >
      {/* There may be hundreds, and pointing at a cell changes none. */}
      <Steady by={[answer, palette, weights, place, id]}>{draw}</Steady>
    </div>
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
            {own !== null && `, ${format(own)} on itself`}. Underlined: written by the model.
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
