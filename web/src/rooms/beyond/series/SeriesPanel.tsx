/** A trained model fills a gap in a periodic series. */
import { useMemo, useRef } from "preact/hooks";
import { SaveDrawing } from "../../../picture/SaveDrawing";
import { NumberField } from "../../../shared/Fields";
import { format, formatWeight, softmaxOf } from "../../../shared/format";
import { Panel } from "../../../shared/Panel";
import { RowTable, type TableColumn } from "../../../shared/RowTable";
import { SettingsPanel } from "../../../shared/SettingsPanel";
import { useFootnote } from "../../../shared/shell";
import { useAnswer } from "../../../worker/engineClient";
import { EmptyRow } from "../EmptyRow";
import { NamedNumbers } from "../NamedNumbers";
import { PlotLegend } from "../PlotLegend";
import type { PanelProps } from "../panel";
import { Reading, usePointed } from "../Reading";
import { As, Roles } from "../Roles";
import { largestWeights } from "../shares";
import { allowed, type SeriesHead } from "../state";
import { Work } from "../Work";
import { SeriesPlot } from "./SeriesPlot";
import type { FilledSeries, SeriesHeadWeights } from "./solve";

const modelFolder = () => new URL("models/series-encoder", document.baseURI).href;

const columns: readonly TableColumn[] = [
  { id: "position", head: "position" },
  { id: "value", head: <span class="role-v">value</span> },
  { id: "alike", head: "alike" },
  { id: "weight", head: "weight" },
];
/** The number of rows of the table, which has the largest weights. */
const rowsShown = 10;

const nameOf = ({ layer, head }: SeriesHead) => `layer ${layer + 1}, head ${head + 1}`;

/** A head's mean weight, over the gap, on values whole periods away. */
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

function seriesCsv({ values, isHidden, filled }: FilledSeries, weights: ArrayLike<number>): string {
  const rows = Array.from(values, (value, t) =>
    [t + 1, value, isHidden[t] ? "yes" : "no", filled[t], weights[t]].join(","),
  );
  return `${["position,value,hidden,filled,weight", ...rows].join("\r\n")}\r\n`;
}

function weightWords(col: number, row: number, weights: Float32Array): string {
  const weight = weights[col] as number;
  const made = softmaxOf(weight, Math.max(...weights));
  return `Position ${row + 1} attends to ${col + 1}: e^s ÷ Σ e^s = ${made} = ${formatWeight(weight)}, the score s counted from the row’s highest`;
}

export function SeriesPanel({ state, set }: PanelProps) {
  const request = useMemo(() => ({ model: modelFolder(), seed: state.series }), [state.series]);
  const { answer, failure } = useAnswer("series", request);
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

  return (
    <>
      <SettingsPanel>
        <NumberField
          label="Seed of the series"
          value={state.series}
          limits={allowed.seed}
          onChange={(series) => set({ series })}
        />
        <p class="row-of-buttons">
          <button
            type="button"
            onClick={() => set(({ series }) => ({ series: (series % allowed.seed.max) + 1 }))}
          >
            Another series
          </button>
        </p>
        <p class="faint">
          48 values with a period of 6 to 16, a trend and some noise; 6 to 12 are hidden. None of
          these series was among those that the model learned from.
        </p>
      </SettingsPanel>
      <Work title="Attention in a series">
        <Roles>
          <As of="q">Queries</As> and <As of="k">keys</As> are positions of the series: what the
          model knows of the value there and of its place. <As of="v">Values</As> carry what is
          known. The query of a hidden value has learned to attend to values whole periods away,
          where the series was the same.
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
                ["estimate", "filled by the model"],
                ["truth", "what was hidden"],
                ["straight", "straight line"],
                ["ring", "whole periods from the chosen value"],
              ]}
            />
          </div>
          <SaveDrawing
            part={part}
            title={`A series, its gap filled by a trained model, and what position ${row + 1} attends to`}
            file="series"
            csv={() => (answer && weights ? seriesCsv(answer, weights) : "")}
          />
          <p class="faint">Click a value of the gap.</p>
          <Reading
            words={cell && weights && answer ? weightWords(cell.col, row, weights) : null}
            idle="Point at a value for the weight that it gets."
            byKeyboard={byKeyboard}
          />
          {failure && <p role="status">{failure}</p>}
        </Panel>
        <Panel name="weights">
          <NamedNumbers
            figures={[
              ["model's error (root mean square)", answer ? format(answer.error) : ""],
              ["straight line's error", answer ? format(answer.lineError) : ""],
              [
                `both errors over ${answer?.heldOut.examples ?? 1000} series kept out of training`,
                answer
                  ? `model ${format(answer.heldOut.error)}, line ${format(answer.heldOut.lineError)}`
                  : "",
              ],
              [`filled at ${row + 1}`, answer ? format(answer.filled[row] as number) : ""],
              ["hidden value", answer ? format(answer.values[row] as number) : ""],
              [
                "this head's weight on alike values",
                shown ? formatWeight(shown.onAlike[row] as number) : "",
              ],
            ]}
          />
          <div class="field head-field">
            <label for="series-head">
              Head, with its weight on values of the same phase, over the gap
            </label>
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
              <option value="">
                the one with the most weight there{best ? `: ${nameOf(best)}` : ""}
              </option>
              {answer?.heads.map((head) => (
                <option key={nameOf(head)} value={`${head.layer}.${head.head}`}>
                  {nameOf(head)}: {formatWeight(onAlikeOf(head, answer))}
                </option>
              ))}
            </select>
          </div>
          <RowTable title={`What position ${row + 1} attends to most`} columns={columns}>
            <tbody>
              {Array.from({ length: rowsShown }, (_, i) => {
                const [t, weight] = strongest[i] ?? [];
                if (t === undefined || weight === undefined) return <EmptyRow key={i} />;
                return (
                  <tr key={i}>
                    <th scope="row">{t + 1}</th>
                    <td>{answer?.isHidden[t] ? "hidden" : format(answer?.values[t] as number)}</td>
                    <td>{alike.has(t) ? "yes" : ""}</td>
                    <td data-column="weight">{formatWeight(weight)}</td>
                  </tr>
                );
              })}
            </tbody>
          </RowTable>
        </Panel>
      </Work>
    </>
  );
}
