/** One head in detail: its weights, beside them weighted by the lengths of the values, lines, and measures. */
import { useCallback, useMemo } from "preact/hooks";
import { TokenLines } from "../../picture/TokenLines";
import { TokenMap } from "../../picture/TokenMap";
import { useWeightPalette } from "../../picture/useWeightPalette";
import { viewOn } from "../../picture/view";
import type { Explanation } from "../../shared/explanation";
import { format } from "../../shared/format";
import { patternNames, patterns } from "../../shared/headMeasures";
import { headName } from "../../shared/layerHeads";
import { Readout } from "../../shared/Readout";
import { RowDetails } from "../../shared/RowDetails";
import { hides } from "../../shared/restrictions";
import { useShell } from "../../shared/shell";
import { useWidth } from "../../shared/useWidth";
import { useRowByRow } from "./useRowByRow";
import { weightedByLength } from "./weighting";
import { type ShownHead, useYoursWorkspace } from "./workspace";

/** Which cells the model hides. */
export function hiddenIn({ attention, window }: ShownHead) {
  if (!attention.isCausal) return undefined;
  const most = window ?? Number.POSITIVE_INFINITY;
  return (row: number, col: number) => col > row || row - col >= most;
}

function Maps({ shown }: { shown: ShownHead }) {
  const { state, answer, place, active, set, point, press } = useYoursWorkspace();
  const [ref, width] = useWidth<HTMLDivElement>();
  const { attention, shares } = shown;
  // Of the head that is shown, while another one that was selected is computed.
  const { rows, path: head } = attention;
  const weights = useMemo(() => viewOn(shares.weights, rows.length, rows.length), [shown]);
  const weighted = useMemo(() => weightedByLength(weights, shares.lengths), [weights]);
  const isHidden = useMemo(() => hiddenIn(shown), [shown]);
  const text = answer.tokens.map(({ piece }) => piece).join("");
  const map = (name: string, title: string, view: typeof weights) => (
    <TokenMap
      {...{ name, title, view, tokens: rows, isHidden, active, width, row: place }}
      note={headName(head)}
      palette={useWeightPalette(state)}
      actions={{ point, press, selectRow: (place) => set({ place, cell: null }) }}
      caption={`${title}, ${headName(head)}: ${text}`}
      file={`${name}-${head}`}
    />
  );
  return (
    <div class="compare-figure">
      <div ref={ref} class="scroll">
        {width > 0 && map("weights", "Weights", weights)}
      </div>
      <div class="scroll">{width > 0 && map("weighted", "Weights × |v|", weighted)}</div>
    </div>
  );
}

function Lines({ shown }: { shown: ShownHead }) {
  const { state, answer, place, active, set } = useYoursWorkspace();
  const { range, curve, mass } = state;
  const { rows, columns, path: head } = shown.attention;
  const weights = useMemo(() => viewOn(shown.shares.weights, rows.length, rows.length), [shown]);
  const select = useCallback((place: number) => set({ place, cell: null }), [set]);
  const text = answer.tokens.map(({ piece }) => piece).join("");
  return (
    <div class="head-lines">
      <h3>Which token attends to which</h3>
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
  const { answer, head } = useYoursWorkspace();
  const own = answer.heads.find(({ key }) => key === head);
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
const parts = 2;

export function HeadPanel({ explanation }: { explanation: Explanation | null }) {
  const { state, head, place, shown } = useYoursWorkspace();
  const at = useRowByRow(shown, parts);
  const [ofMaps, ofLines] = [at(0), at(1)];
  const { restrictions } = useShell();
  const name = headName(head);
  return (
    <section class="one-head" aria-labelledby="one-head-title">
      <h2 id="one-head-title">{name.replace(/^./, (first) => first.toUpperCase())}</h2>
      {ofMaps && <Maps shown={ofMaps} />}
      <div class="head-about">
        <div class="head-map">
          <Readout explanation={explanation} locked={state.cell !== null} />
          {!hides(restrictions, "text") && (
            <p class="faint what-not">
              Weights × |v|: each weight times the length of the value that it takes, as a share of
              its row. A large weight on a short value adds little. Neither picture explains what
              the model says: each later layer mixes again what this one adds.
            </p>
          )}
          {ofLines && (
            <RowDetails
              of={{
                name: headName(ofLines.attention.path),
                attention: ofLines.attention,
                shares: ofLines.shares,
                head: 0,
              }}
              row={Math.min(place, ofLines.attention.rows.length - 1)}
            />
          )}
        </div>
        <div class="head-side">
          {ofLines && <Lines shown={ofLines} />}
          <Measures />
        </div>
      </div>
    </section>
  );
}
