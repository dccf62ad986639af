/** A trained model fills a gap in a periodic series. */

import { format, formatWeight, softmaxOf } from "heed/view/parts";
import { useMemo, useRef, useState } from "preact/hooks";
import { SaveDrawing } from "../../../picture/SaveDrawing";
import { NumberField } from "../../../shared/Fields";
import { Panel } from "../../../shared/Panel";
import { RowTable, type TableColumn } from "../../../shared/RowTable";
import { SettingsPanel } from "../../../shared/SettingsPanel";
import { useFootnote } from "../../../shared/shell";
import { usePointerWords } from "../../../shared/useMedia";
import { useAnswer } from "../../../worker/engineClient";
import { NamedNumbers } from "../NamedNumbers";
import { PlotLegend } from "../PlotLegend";
import type { PanelProps } from "../panel";
import { Reading, usePointed } from "../Reading";
import { As, Roles } from "../Roles";
import { StrongestRows } from "../StrongestRows";
import { largestWeights } from "../shares";
import { allowed, type SeriesHead } from "../state";
import { Work } from "../Work";
import { OwnSeriesFields } from "./OwnSeriesFields";
import type { OwnSeries } from "./ownSeries";
import { SeriesPlot } from "./SeriesPlot";
import type { FilledSeries, SeriesHeadWeights } from "./solve";

const modelFolder = () => new URL("models/series-encoder", document.baseURI).href;

const columns: readonly TableColumn[] = [
  { id: "position", head: "position" },
  { id: "value", head: <span class="role-v">value</span> },
  { id: "alike", head: "periods away" },
  { id: "weight", head: "weight" },
];
/** The number of rows of the table, which lists the largest weights. */
const rowsShown = 10;

const nameOf = ({ layer, head }: SeriesHead) => `layer ${layer + 1}, head ${head + 1}`;

/** “not known” for null, and an empty text before the first answer. */
const inNumbers = (value: number | null | undefined) =>
  value === undefined ? "" : value === null ? "not known" : format(value);

/** The mean weight that a head puts, over the gap, on values whole periods away. */
function onAlikeOf({ onAlike }: SeriesHeadWeights, { isHidden }: FilledSeries): number {
  const hidden = [...onAlike].filter((_, t) => isHidden[t]);
  return hidden.reduce((sum, weight) => sum + weight, 0) / hidden.length;
}

function bestHead(answer: FilledSeries): SeriesHeadWeights | undefined {
  return answer.heads.reduce<SeriesHeadWeights | undefined>(
    (best, head) => (best && onAlikeOf(best, answer) >= onAlikeOf(head, answer) ? best : head),
    undefined,
  );
}

function rowOf({ isHidden }: FilledSeries, wanted: number): number {
  if (isHidden[wanted]) return wanted;
  const hidden = [...isHidden.keys()].filter((t) => isHidden[t]);
  return hidden[Math.floor(hidden.length / 2)] as number;
}

function seriesCsv(
  { values, hasTruth, isHidden, filled }: FilledSeries,
  weights: ArrayLike<number>,
): string {
  const rows = Array.from(values, (value, t) =>
    [
      t + 1,
      hasTruth || !isHidden[t] ? value : "",
      isHidden[t] ? "yes" : "no",
      filled[t],
      weights[t],
    ].join(","),
  );
  return `${["position,value,hidden,filled,weight", ...rows].join("\r\n")}\r\n`;
}

function weightWords(col: number, row: number, weights: Float32Array): string {
  const weight = weights[col] as number;
  const made = softmaxOf(weight, Math.max(...weights));
  return `Position ${row + 1} attends to ${col + 1}: e^s ÷ Σ e^s = ${made} = ${formatWeight(weight)}, the score s counted from the row’s highest`;
}

export function SeriesPanel({
  state,
  set,
  own,
  onOwn,
}: PanelProps & { own: OwnSeries | null; onOwn(own: OwnSeries | null): void }) {
  const request = useMemo(
    () => ({ model: modelFolder(), seed: state.series, own }),
    [state.series, own],
  );
  const { answer, request: answered, failure } = useAnswer("series", request);
  const isStale = answer !== null && answered !== request;
  const { isTouch } = usePointerWords();
  useFootnote(
    answer &&
      `filled by a model of ${answer.parameters.toLocaleString("en")} parameters in ${answer.milliseconds.toFixed(1)} ms`,
  );
  const best = useMemo(() => answer && bestHead(answer), [answer]);
  const shown =
    answer?.heads.find(
      ({ layer, head }) => layer === state.head?.layer && head === state.head.head,
    ) ?? best;
  const row = answer ? rowOf(answer, state.value) : 0;
  const weights = useMemo(() => {
    const length = answer?.values.length ?? 0;
    return shown?.weights.subarray(row * length, (row + 1) * length);
  }, [answer, shown, row]);
  const strongest = weights ? largestWeights(weights, rowsShown) : [];
  const part = useRef<HTMLDivElement>(null);
  const { cell, byKeyboard, point } = usePointed();
  const alike = new Set(answer?.alike[row]);
  // The number of times that the built-in series was requested. Each request clears the text field.
  const [asked, setAsked] = useState(0);
  const showOurs = () => {
    onOwn(null);
    setAsked((times) => times + 1);
  };

  return (
    <>
      <SettingsPanel>
        <NumberField
          label="Seed"
          value={state.series}
          limits={allowed.seed}
          onChange={(series) => {
            set({ series });
            showOurs();
          }}
        />
        <p class="row-of-buttons">
          <button
            type="button"
            onClick={() => {
              set(({ series }) => ({ series: (series % allowed.seed.max) + 1 }));
              showOurs();
            }}
          >
            Another series
          </button>
        </p>
        <OwnSeriesFields key={asked} own={own} onOwn={onOwn} />
      </SettingsPanel>
      <Work title="Attention in a series" isStale={isStale}>
        <Roles>
          A trained model fills the gap: from a hidden value its <As of="q">query</As> attends to{" "}
          <As of="k">keys</As> whole periods away, and takes their <As of="v">values</As>.
        </Roles>
        <Panel name="picture">
          <div ref={part}>
            {answer && weights ? (
              <SeriesPlot
                answer={answer}
                row={row}
                weights={weights}
                onRow={(value) => set({ value })}
                onPoint={(col) => point(col === null ? null : { row, col }, "pointer")}
              />
            ) : (
              <div class="plot plot-empty" />
            )}
            <PlotLegend
              marks={[
                ["estimate", "filled"],
                ...((answer?.hasTruth ?? true) ? [["truth", "hidden"] as const] : []),
                ["straight", "straight line"],
                [
                  "ring",
                  own
                    ? `whole periods away${answer?.period ? `: ${answer.period} values, estimated` : "; none was found"}`
                    : "whole periods away",
                ],
              ]}
            />
          </div>
          <SaveDrawing
            part={part}
            title={`A series, its gap filled by a trained model, and what position ${row + 1} attends to`}
            file="series"
            csv={() => (answer && weights ? seriesCsv(answer, weights) : "")}
          />
          <Reading
            words={cell && weights && answer ? weightWords(cell.col, row, weights) : null}
            idle={
              isTouch
                ? "Tap a value of the gap."
                : "Click a value of the gap; point at any for its weight."
            }
            byKeyboard={byKeyboard}
          />
          {failure && <p role="status">{failure}</p>}
        </Panel>
        <Panel name="weights">
          <NamedNumbers
            figures={[
              ["model’s error (root mean square)", inNumbers(answer?.error)],
              ["line’s error", inNumbers(answer?.lineError)],
              [
                `both, over ${answer?.heldOut.examples ?? 1000} series not trained on`,
                answer
                  ? `model ${format(answer.heldOut.error)}, line ${format(answer.heldOut.lineError)}`
                  : "",
              ],
              [`filled at ${row + 1}`, answer ? format(answer.filled[row] as number) : ""],
              ["hidden value", inNumbers(answer?.hasTruth === false ? null : answer?.values[row])],
              [
                "weight whole periods away",
                shown ? formatWeight(shown.onAlike[row] as number) : "",
              ],
            ]}
          />
          <div class="field head-field">
            <label for="series-head">Head, with its weight whole periods away</label>
            <select
              id="series-head"
              value={state.head ? `${state.head.layer}.${state.head.head}` : ""}
              onChange={({ currentTarget }) => {
                const [layer, head] = currentTarget.value.split(".").map(Number);
                set({
                  head:
                    currentTarget.value === ""
                      ? null
                      : { layer: layer as number, head: head as number },
                });
              }}
            >
              <option value="">the one with the most{best ? `: ${nameOf(best)}` : ""}</option>
              {answer?.heads.map((head) => (
                <option key={nameOf(head)} value={`${head.layer}.${head.head}`}>
                  {nameOf(head)}: {formatWeight(onAlikeOf(head, answer))}
                </option>
              ))}
            </select>
          </div>
          <RowTable title={`What position ${row + 1} attends to most`} columns={columns}>
            <StrongestRows count={rowsShown} strongest={strongest}>
              {(t, weight) => (
                <>
                  <th scope="row">{t + 1}</th>
                  <td>{answer?.isHidden[t] ? "hidden" : format(answer?.values[t] as number)}</td>
                  <td>{alike.has(t) ? "yes" : ""}</td>
                  <td data-column="weight">{formatWeight(weight)}</td>
                </>
              )}
            </StrongestRows>
          </RowTable>
        </Panel>
      </Work>
    </>
  );
}
