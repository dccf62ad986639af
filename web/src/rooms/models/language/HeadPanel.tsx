/** One head in detail: its weights, the same weighted by the lengths of the values, lines, and measures. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Palette, patternNames, patterns } from "#parts";
import { TokenMap } from "../../../picture/TokenMap";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { type HeadPlace, headName, headPlaceOf } from "../../../shared/layerHeads";
import { Prose } from "../../../shared/Panel";
import { Readout } from "../../../shared/Readout";
import { RowDetails } from "../../../shared/RowDetails";
import { useShell } from "../../../shared/shell";
import { CompareFigure } from "../parts/CompareFigure";
import { AblationHelp, HeadBar } from "../parts/HeadBar";
import { HeadSide } from "../parts/HeadSide";
import { StepByStep } from "../parts/StepByStep";
import { kindNameOf } from "./kinds";
import { referenceText, type State } from "./state";
import { weightedByLength, weightsIn } from "./weighting";
import { type ShownHead, useLanguageWorkspace } from "./workspace";

/** The row of the selected token; null while a head over other tokens is shown. */
export function rowIn({ spans, attention }: ShownHead, place: number): number | null {
  const row = place - spans.rows.start;
  return row >= 0 && row < attention.rows.length ? row : null;
}

/** A head and its look, which are drawn together. */
interface Drawn extends Pick<State, "range" | "curve" | "mass"> {
  readonly shown: ShownHead;
  readonly palette: Palette;
}

function useDrawn(): Drawn | null {
  const { state, shown } = useLanguageWorkspace();
  const { range, curve, mass } = state;
  const palette = useWeightPalette(state);
  return useMemo(
    () => shown && { shown, palette, range, curve, mass },
    [shown, palette, range, curve, mass],
  );
}

const maps = { weights: "Weights", weighted: "Weights × |v|" } as const;

interface HeadMapProps {
  name: keyof typeof maps;
  drawn: Drawn;
  width: number;
}

function HeadMap({ name, drawn: { shown, palette }, width }: HeadMapProps) {
  const { answer, place, active, go, point, press } = useLanguageWorkspace();
  const { attention, shares } = shown;
  // The data of the shown head, while a newly selected head is computed.
  const { rows, columns, path: head } = attention;
  const { start } = shown.spans.rows;
  const view = useMemo(() => {
    const weights = weightsIn(shown);
    return name === "weights" ? weights : weightedByLength(weights, shares.lengths);
  }, [shown, name]);
  return (
    <TokenMap
      {...{
        name,
        title: maps[name],
        view,
        tokens: rows,
        columns,
        active,
        width,
        palette,
      }}
      row={rowIn(shown, place)}
      note={headName(head)}
      actions={{ point, press, selectRow: (row) => go(start + row) }}
      caption={`${maps[name]}, ${headName(head)}: ${answer.text}`}
      file={`${name}-${head}`}
    />
  );
}

function useLines(drawn: Drawn | null) {
  const { answer, place, active, go } = useLanguageWorkspace();
  const weights = useMemo(() => drawn && weightsIn(drawn.shown), [drawn]);
  const latest = useRef(go);
  latest.current = go;
  const start = drawn?.shown.spans.rows.start ?? 0;
  const onSelect = useCallback((row: number) => latest.current(start + row), [start]);
  if (!drawn || !weights) return null;
  const { shown, range, curve, mass } = drawn;
  const { rows, columns, path: head } = shown.attention;
  return {
    ...{ name: headName(head), text: answer.text, weights, mass, range, curve, onSelect },
    ...{ queries: rows, keys: columns, selected: active?.row ?? rowIn(shown, place) },
  };
}

/**
 * Hands a new value to the parts of a panel one after the other, so that no frame has to draw them all. The result
 * returns the latest value for a part that has it already, and otherwise the previous value.
 */
function useRowByRow<T>(value: T, count: number): (row: number) => T | null {
  const [state, setState] = useState<{ value: T | null; before: T | null; upTo: number }>({
    ...{ value: null, before: null, upTo: 0 },
  });
  useEffect(() => {
    let frame = 0;
    let upTo = 0;
    setState((now) => ({ value, before: now.value, upTo: 0 }));
    const draw = () => {
      upTo += 1;
      setState((now) => ({ ...now, upTo }));
      if (upTo < count) frame = requestAnimationFrame(draw);
    };
    frame = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frame);
  }, [value, count]);
  const { isPrinting } = useShell();
  // A printed page has no second frame.
  if (isPrinting) return () => value;
  return (row) => (row < state.upTo ? state.value : state.before);
}

/** The parts of the panel that are drawn one after the other. */
const parts = 3;

/** The row of the selected token as a table. */
function Row({ shown }: { shown: ShownHead }) {
  const { place } = useLanguageWorkspace();
  const { attention, shares } = shown;
  return (
    <RowDetails
      of={{ name: headName(attention.path), attention, shares, head: 0 }}
      row={rowIn(shown, place) ?? attention.rows.length - 1}
    />
  );
}

function Help() {
  const { state, card } = useLanguageWorkspace();
  const isBoth = card.predicts === "seq2seq";
  return (
    <AblationHelp
      ablation={state.ablation}
      texts={isBoth ? "a reference text, as the input and as the answer" : "a reference text"}
    >
      <details>
        <summary>The reference text</summary>
        <p>{referenceText}</p>
      </details>
    </AblationHelp>
  );
}

/** A link to the computation of the head. */
function Steps() {
  const { card, text, answer, head, place, ablating } = useLanguageWorkspace();
  const isOurs = card.whose === "ours";
  const at = headPlaceOf(head) as HeadPlace;
  const settings = {
    ...{ text: text + answer.written, ...(!isOurs && { model: card.link }) },
    ...{ layer: `${at.layer + 1}`, head: `${at.head + 1}`, query: `${place + 1}` },
    ...{ position: "on", mask: card.predicts === "causal" ? "causal" : "none" },
  };
  const why = isOurs ? null : card.whyNotWalked;
  return <StepByStep {...{ settings, why }} isAblating={ablating.ablated.length > 0} />;
}

export function HeadPanel() {
  const { state, set, heads, head, kinds, explanation } = useLanguageWorkspace();
  const at = useRowByRow(useDrawn(), parts);
  const [weights, weighted, lines] = [at(0), at(1), at(2)];
  return (
    <section class="one-head" aria-labelledby="one-head-title">
      <HeadBar {...{ name: headName(head), kind: kindNameOf(kinds, head), head, state, set }} />
      {weights && (
        <CompareFigure
          maps={[
            (width) => <HeadMap name="weights" drawn={weights} width={width} />,
            (width) => weighted && <HeadMap name="weighted" drawn={weighted} width={width} />,
          ]}
        />
      )}
      <div class="head-about column">
        <div class="head-map column">
          <Readout explanation={explanation} locked={state.cell !== null} />
          <Prose class="faint small prose">
            × |v|: times the value’s length, as a share of the row. Neither picture explains the
            answer: later layers mix it again.
          </Prose>
          <Steps />
          {lines && <Row shown={lines.shown} />}
          <Help />
        </div>
        <HeadSide
          lines={useLines(lines)}
          {...{ names: patternNames, measures: patterns }}
          values={heads.find(({ key }) => key === head)?.measures}
        />
      </div>
    </section>
  );
}
