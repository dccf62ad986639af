/** One head in detail: its weights, the same weighted by the lengths of the values, lines, and measures. */

import {
  type Explanation,
  format,
  type Palette,
  patternNames,
  patterns,
  viewOn,
} from "heed/view/parts";
import { useCallback, useMemo } from "preact/hooks";
import { TokenLines } from "../../../picture/TokenLines";
import { TokenMap } from "../../../picture/TokenMap";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { Switch } from "../../../shared/Fields";
import { headName } from "../../../shared/layerHeads";
import { Lockable } from "../../../shared/Panel";
import { Readout } from "../../../shared/Readout";
import { RowDetails } from "../../../shared/RowDetails";
import { hides } from "../../../shared/restrictions";
import { useShell } from "../../../shared/shell";
import { useWidth } from "../../../shared/useWidth";
import type { State } from "./state";
import { useRowByRow } from "./useRowByRow";
import { weightedByLength } from "./weighting";
import { type ShownHead, useYoursWorkspace } from "./workspace";

/** Which cells the model hides. */
export function hiddenIn({ attention, window }: ShownHead) {
  if (!attention.isCausal) return undefined;
  const most = window ?? Number.POSITIVE_INFINITY;
  return (row: number, col: number) => col > row || row - col >= most;
}

/** A head and its look, which are drawn together. */
interface Drawn extends Pick<State, "range" | "curve" | "mass"> {
  readonly shown: ShownHead;
  readonly palette: Palette;
}

function useDrawn(): Drawn | null {
  const { state, shown } = useYoursWorkspace();
  const { range, curve, mass } = state;
  const palette = useWeightPalette(state);
  return useMemo(
    () => shown && { shown, palette, range, curve, mass },
    [shown, palette, range, curve, mass],
  );
}

const maps = {
  weights: "Weights",
  weighted: "Weights × |v|",
} as const;

function HeadMap({
  name,
  drawn: { shown, palette },
  width,
}: {
  name: keyof typeof maps;
  drawn: Drawn;
  width: number;
}) {
  const { answer, place, active, set, point, press } = useYoursWorkspace();
  const { attention, shares } = shown;
  // The data of the shown head, while a newly selected head is computed.
  const { rows, path: head } = attention;
  const view = useMemo(() => {
    const weights = viewOn(shares.weights, rows.length, rows.length);
    return name === "weights" ? weights : weightedByLength(weights, shares.lengths);
  }, [shown, name]);
  const isHidden = useMemo(() => hiddenIn(shown), [shown]);
  const text = answer.tokens.map(({ piece }) => piece).join("");
  return (
    <TokenMap
      {...{ name, title: maps[name], view, tokens: rows, isHidden, active, width, palette }}
      row={place}
      note={headName(head)}
      actions={{ point, press, selectRow: (place) => set({ place, cell: null }) }}
      caption={`${maps[name]}, ${headName(head)}: ${text}`}
      file={`${name}-${head}`}
    />
  );
}

function Maps({ weights, weighted }: { weights: Drawn; weighted: Drawn | null }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  return (
    <div class="compare-figure">
      <div ref={ref} class="scroll">
        {width > 0 && <HeadMap name="weights" drawn={weights} width={width} />}
      </div>
      <div class="scroll">
        {width > 0 && weighted && <HeadMap name="weighted" drawn={weighted} width={width} />}
      </div>
    </div>
  );
}

function Lines({ drawn: { shown, range, curve, mass } }: { drawn: Drawn }) {
  const { answer, place, active, set } = useYoursWorkspace();
  const { rows, columns, path: head } = shown.attention;
  const weights = useMemo(() => viewOn(shown.shares.weights, rows.length, rows.length), [shown]);
  const select = useCallback((place: number) => set({ place, cell: null }), [set]);
  const text = answer.tokens.map(({ piece }) => piece).join("");
  return (
    <div class="head-lines">
      <h3>Attention as lines</h3>
      <TokenLines
        caption={`${headName(head)}, lines that carry the top ${mass} %: ${text}`}
        queries={rows}
        keys={columns}
        weights={weights}
        mass={mass / 100}
        range={range}
        curve={curve}
        selected={active?.row ?? place}
        onSelect={select}
      />
    </div>
  );
}

function Measures() {
  const { heads, head } = useYoursWorkspace();
  const own = heads.find(({ key }) => key === head);
  return (
    <dl class="measures number">
      {patternNames.map((name) => {
        const value = own?.measures[name] ?? null;
        return (
          <div key={name}>
            <dt>{patterns[name].name}</dt>
            <dd data-measure={name}>{value === null ? "–" : format(value)}</dd>
          </div>
        );
      })}
    </dl>
  );
}

/** The parts of the panel that are drawn one after the other. */
const parts = 3;

export function HeadPanel({ explanation }: { explanation: Explanation | null }) {
  const { state, head, dropped, place, drop } = useYoursWorkspace();
  const at = useRowByRow(useDrawn(), parts);
  const [weights, weighted, lines] = [at(0), at(1), at(2)];
  const detailed = lines?.shown;
  const { restrictions } = useShell();
  const name = headName(head);
  return (
    <section class="one-head" aria-labelledby="one-head-title">
      <div class="head-bar">
        <h2 id="one-head-title">{name.replace(/^./, (first) => first.toUpperCase())}</h2>
        <Lockable>
          <Switch
            label="Drop"
            checked={dropped.includes(head)}
            onChange={(isDropped) => drop(head, isDropped)}
          />
        </Lockable>
      </div>
      {weights && <Maps {...{ weights, weighted }} />}
      <div class="head-about">
        <div class="head-map">
          <Readout explanation={explanation} locked={state.cell !== null} />
          {!hides(restrictions, "text") && (
            <p class="faint what-not">
              × |v|: times the value’s length, as a share of the row. Neither picture explains the
              answer: later layers mix it again.
            </p>
          )}
          {detailed && (
            <RowDetails
              of={{
                name: headName(detailed.attention.path),
                attention: detailed.attention,
                shares: detailed.shares,
                head: 0,
              }}
              row={Math.min(place, detailed.attention.rows.length - 1)}
            />
          )}
        </div>
        <div class="head-side">
          {lines && <Lines drawn={lines} />}
          <Measures />
        </div>
      </div>
    </section>
  );
}
