/** A trained model fills a gap in a periodic series. */
import { useMemo, useRef, useState } from "preact/hooks";
import { formatWeight, rowsCsv } from "#parts";
import { SaveDrawing } from "../../../picture/SaveDrawing";
import { NumberField } from "../../../shared/Fields";
import { softmaxOf } from "../../../shared/format";
import { Panel } from "../../../shared/Panel";
import { Reading, usePointed } from "../../../shared/Reading";
import { SettingsPanel } from "../../../shared/SettingsPanel";
import { useFootnote } from "../../../shared/shell";
import { usePointerWords } from "../../../shared/useMedia";
import { useAnswer } from "../../../worker/engineClient";
import { PlotLegend } from "../PlotLegend";
import { type OwnProps, type PanelProps, type State, settings } from "../state";
import { type RoleWords, Work } from "../Work";
import { OwnSeriesFields } from "./OwnSeriesFields";
import type { OwnSeries } from "./ownSeries";
import { SeriesPlot } from "./SeriesPlot";
import { onAlikeOf, SeriesWeights, type ShownSeries } from "./SeriesWeights";
import type { FilledSeries } from "./solve";

const modelFolder = () => new URL("models/series-encoder", document.baseURI).href;

const roleWords: RoleWords = {
  query: "a vector of the hidden value, learned",
  keys: "a vector of every value, learned",
  values: "another vector of every value, learned",
  score: "query · key ÷ √D, with D entries in each vector: largest whole periods away",
};

/** The wanted position if it is hidden, otherwise the middle of the gap. */
function rowOf({ isHidden }: FilledSeries, wanted: number): number {
  if (isHidden[wanted]) return wanted;
  const hidden = [...isHidden.keys()].filter((t) => isHidden[t]);
  return hidden[Math.floor(hidden.length / 2)] as number;
}

/** Selects the head and the value of an answer that the panel shows. */
function shownOf(answer: FilledSeries, { head, value }: State): ShownSeries {
  const best = answer.heads.reduce((best, one) =>
    onAlikeOf(best, answer) >= onAlikeOf(one, answer) ? best : one,
  );
  const wanted = answer.heads.find(({ key }) => key === head);
  const [shown, row] = [wanted ?? best, rowOf(answer, value)];
  const { length } = answer.values;
  const weights = shown.weights.subarray(row * length, (row + 1) * length);
  return { answer, best, shown, row, weights };
}

function seriesCsv({ answer, weights }: ShownSeries): string {
  const { values, hasTruth, isHidden, filled } = answer;
  const rows = Array.from(values, (value, t) => [
    t + 1,
    hasTruth || !isHidden[t] ? value : Number.NaN,
    isHidden[t] ? "yes" : "no",
    filled[t] as number,
    weights[t] as number,
  ]);
  return rowsCsv([["position", "value", "hidden", "filled", "weight"], ...rows]);
}

function weightWords(col: number, { row, weights }: ShownSeries): string {
  const weight = weights[col] as number;
  const made = softmaxOf(weight, Math.max(...weights));
  return `Position ${row + 1} attends to ${col + 1}: e^s ÷ Σ e^s = ${made} = ${formatWeight(weight)}, the score s counted from the row’s highest`;
}

function Controls({ state, set, own, onOwn }: OwnProps<OwnSeries>) {
  const { limits } = settings.series;
  // The number of times that the built-in series was requested. Each request clears the text field.
  const [asked, setAsked] = useState(0);
  const showOurs = (series: number) => {
    set({ series });
    onOwn(null);
    setAsked((times) => times + 1);
  };
  return (
    <SettingsPanel>
      <NumberField label="Seed" value={state.series} limits={limits} onChange={showOurs} />
      <p class="row-of-buttons">
        <button type="button" onClick={() => showOurs((state.series % limits.max) + 1)}>
          Another series
        </button>
      </p>
      <OwnSeriesFields key={asked} own={own} onOwn={onOwn} />
    </SettingsPanel>
  );
}

function periodWords({ period }: FilledSeries): string {
  return period ? `: ${period} values, estimated` : "; none was found";
}

/** The plot, its legend, and the explanation of a weight. */
function SeriesPicture(
  props: Pick<PanelProps, "set"> & { shown: ShownSeries | null; isOwn: boolean },
) {
  const { shown, set, isOwn } = props;
  const part = useRef<HTMLDivElement>(null);
  const pointed = usePointed<number>();
  const { isTouch } = usePointerWords();
  const periods = shown && isOwn ? periodWords(shown.answer) : "";
  return (
    <>
      <div ref={part}>
        {shown ? (
          <SeriesPlot {...shown} set={set} point={pointed.point} />
        ) : (
          <div class="plot plot-empty" />
        )}
        <PlotLegend
          marks={[
            ["estimate", "filled"],
            ...((shown?.answer.hasTruth ?? true) ? [["truth", "hidden"] as const] : []),
            ["straight", "straight line"],
            ["ring", `whole periods away${periods}`],
          ]}
        />
      </div>
      <SaveDrawing
        part={part}
        title={`A series, its gap filled by a model, and what position ${(shown?.row ?? 0) + 1} attends to`}
        file="series"
        csv={() => (shown ? seriesCsv(shown) : "")}
      />
      <Reading
        pointed={pointed}
        words={(position) => shown && weightWords(position, shown)}
        idle={
          isTouch
            ? "Tap a value of the gap."
            : "Click a value of the gap; point at any for its weight."
        }
      />
    </>
  );
}

export function SeriesPanel(props: OwnProps<OwnSeries>) {
  const { state, set, own } = props;
  const { series: seed, head, value } = state;
  const request = useMemo(() => ({ model: modelFolder(), seed, own }), [seed, own]);
  const { answer, request: answered, failure } = useAnswer("series", request);
  const shown = useMemo(() => answer && shownOf(answer, state), [answer, head, value]);
  useFootnote(
    answer &&
      `filled by a model of ${answer.parameters.toLocaleString("en")} parameters in ${answer.milliseconds.toFixed(1)} ms`,
  );
  return (
    <>
      <Controls {...props} />
      <Work
        title="Attention in a series"
        words={roleWords}
        isStale={answer !== null && answered !== request}
      >
        <Panel name="picture">
          <SeriesPicture shown={shown} set={set} isOwn={own !== null} />
          {failure && <p role="status">{failure}</p>}
        </Panel>
        <Panel name="weights">
          <SeriesWeights shown={shown} state={state} set={set} />
        </Panel>
      </Work>
    </>
  );
}
