/** Kernel regression: attention whose score is the distance along one axis. */

import { format, formatWeight } from "heed/view/parts";
import { useMemo, useRef } from "preact/hooks";
import { SaveDrawing } from "../../../picture/SaveDrawing";
import { Switch } from "../../../shared/Fields";
import { Panel } from "../../../shared/Panel";
import { RowTable, type TableColumn } from "../../../shared/RowTable";
import { SettingsPanel } from "../../../shared/SettingsPanel";
import { useFootnote, useShell } from "../../../shared/shell";
import { Term } from "../../../shared/Term";
import { usePointerWords } from "../../../shared/useMedia";
import { useAnswer } from "../../../worker/engineClient";
import { LogSlider } from "../LogSlider";
import { NamedNumbers } from "../NamedNumbers";
import { PlotLegend } from "../PlotLegend";
import type { PanelProps } from "../panel";
import { Reading, usePointed } from "../Reading";
import { As, Roles } from "../Roles";
import { allowed, initialState, mostPoints, type PlanePoint, type State } from "../state";
import { Work } from "../Work";
import { Plane } from "./Plane";
import type { Regression } from "./solve";

const columns: readonly TableColumn[] = [
  { id: "point", head: "point" },
  { id: "key", head: <span class="role-k">x</span> },
  { id: "value", head: <span class="role-v">y</span> },
  { id: "weight", head: "weight" },
  { id: "contribution", head: "weight × y" },
];

function pointsCsv(points: readonly PlanePoint[], answer: Regression | null): string {
  const rows = points.map(({ x, y }, i) => [i + 1, x, y, answer?.weights[i] ?? ""].join(","));
  return `${["point,x,y,weight", ...rows].join("\r\n")}\r\n`;
}

/** The formula of a point's weight. */
function weightWords(
  points: readonly PlanePoint[],
  index: number,
  { query, bandwidth }: State,
  { weights, logSum }: Regression,
): string | null {
  const point = points[index];
  const weight = weights[index];
  if (!point || weight === undefined) return null;
  const score = `−(${format(query, 2)} − ${format(point.x, 2)})² ÷ (2 · ${bandwidth}²)`;
  const sum = Math.exp(logSum);
  const share = sum > 0 ? `e^(${score}) ÷ ${formatWeight(sum)}` : `softmax of ${score}`;
  return `Point ${index + 1}: ${share} = ${formatWeight(weight)}; × y ${format(point.y, 2)} = ${format(weight * point.y)}`;
}

export function PointsPanel({ state, set }: PanelProps) {
  const { restrictions } = useShell();
  const { points, bandwidth, query, similar } = state;
  const request = useMemo(() => ({ points, bandwidth, query }), [points, bandwidth, query]);
  const { answer, request: answered, failure } = useAnswer("regression", request);
  const { PointAt } = usePointerWords();
  const part = useRef<HTMLDivElement>(null);
  const { cell, byKeyboard, point } = usePointed();
  useFootnote(answer && `estimated at 242 places in ${answer.milliseconds.toFixed(1)} ms`);
  return (
    <>
      <SettingsPanel
        look={
          <>
            <Switch
              label="Draw softmax(X Xᵀ) X"
              checked={similar}
              onChange={(similar) => set({ similar })}
            />
            {similar && (
              <p class="faint">
                Every point is query, key and value. It moves to the weighted mean of those it
                resembles; scores are dot products, measured from the mean.
              </p>
            )}
          </>
        }
      >
        <LogSlider
          label="Bandwidth b"
          value={bandwidth}
          limits={allowed.bandwidth}
          onChange={(bandwidth) => set({ bandwidth })}
        />
        <p class="faint number">
          Temperature b² = {Number((bandwidth * bandwidth).toPrecision(3))}
        </p>
        <p class="row-of-buttons">
          <button
            type="button"
            disabled={points.length >= mostPoints}
            onClick={() =>
              set((now) => ({
                points: [
                  ...now.points,
                  { x: now.query, y: Math.round(100 * (answer?.average ?? 0)) / 100 },
                ],
              }))
            }
          >
            Add a point
          </button>
          <button type="button" onClick={() => set({ points: initialState.points })}>
            Start again
          </button>
        </p>
      </SettingsPanel>
      <Work title="Attention among points">
        <Roles>
          <As of="q">Query</As>: a place on the axis. <As of="k">Keys</As>: the points’ x.{" "}
          <As of="v">Values</As>: their y. Score: <span class="unbroken">−(query − key)² / 2</span>{" "}
          over the <Term name="bandwidth">temperature b²</Term>, a Gaussian <Term name="kernel" />.
        </Roles>
        <Panel name="picture">
          <div ref={part}>
            <Plane
              state={state}
              answer={answer}
              isLocked={restrictions.lock}
              onPoints={(points) => set({ points })}
              onQuery={(query) => set({ query })}
              onPoint={(row, by) => point(row === null ? null : { row, col: 0 }, by)}
            />
            <Reading
              words={cell && answer ? weightWords(points, cell.row, state, answer) : null}
              idle={`${PointAt} a point for its weight.`}
              byKeyboard={byKeyboard}
            />
            <PlotLegend
              marks={[
                ["estimate", "estimate"],
                ["average", "average, b = ∞"],
                ["kernel", "kernel e^score ÷ Σ e^score"],
              ]}
            />
          </div>
          <SaveDrawing
            part={part}
            title={`Kernel regression, bandwidth ${bandwidth}, query ${format(query, 2)}`}
            file="points"
            csv={() => pointsCsv(points, answer)}
          />
          <p class="faint">
            {restrictions.lock
              ? "Drag the query, or use the arrow keys."
              : "Drag points and query, or use the arrow keys."}
          </p>
          {failure && <p role="status">{failure}</p>}
        </Panel>
        <Panel name="weights">
          <NamedNumbers
            figures={[
              ["query x", format(query, 2)],
              ["estimate", answer ? format(answer.value) : ""],
              ["average", answer ? format(answer.average) : ""],
            ]}
          />
          <details class="row-details">
            <summary>All weights</summary>
            <RowTable title="All weights" columns={columns}>
              <tbody>
                {(answered?.points ?? points).map(({ x, y }, i) => {
                  const weight = answer?.weights[i];
                  return (
                    <tr key={i}>
                      <th scope="row">{i + 1}</th>
                      <td>{format(x, 2)}</td>
                      <td>{format(y, 2)}</td>
                      <td data-column="weight">{weight !== undefined && formatWeight(weight)}</td>
                      <td>{weight !== undefined && format(weight * y)}</td>
                    </tr>
                  );
                })}
              </tbody>
              <tfoot>
                <tr>
                  <th scope="row" colSpan={3}>
                    Sum, the estimate
                  </th>
                  <td>{answer && format(answer.weights.reduce((sum, w) => sum + w, 0))}</td>
                  <td data-column="estimate">{answer && format(answer.value)}</td>
                </tr>
              </tfoot>
            </RowTable>
          </details>
        </Panel>
      </Work>
    </>
  );
}
