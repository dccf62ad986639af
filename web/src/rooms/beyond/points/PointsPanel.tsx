/** Kernel regression: attention whose score is the distance along one axis. */
import { useMemo, useRef } from "preact/hooks";
import { format, formatWeight, rowsCsv } from "#parts";
import { SaveDrawing } from "../../../picture/SaveDrawing";
import { Switch } from "../../../shared/Fields";
import { LogSlider } from "../../../shared/LogSlider";
import { Panel } from "../../../shared/Panel";
import { Reading, usePointed } from "../../../shared/Reading";
import { RowTable } from "../../../shared/RowTable";
import { SettingsPanel } from "../../../shared/SettingsPanel";
import { fieldsOf } from "../../../shared/settings";
import { useFootnote, useShell } from "../../../shared/shell";
import { Term } from "../../../shared/Term";
import { usePointerWords } from "../../../shared/useMedia";
import { useAnswer } from "../../../worker/engineClient";
import { NamedNumbers } from "../NamedNumbers";
import { PlotLegend } from "../PlotLegend";
import { mostPoints, type PanelProps, type PlanePoint, type State, settings } from "../state";
import { type RoleWords, Work } from "../Work";
import { Plane } from "./Plane";
import type { Regression } from "./solve";

// A function, because a stored element would keep the earlier elements of the page in memory.
const roleWords = (): RoleWords => ({
  query: "a place on the axis",
  keys: "the points’ x",
  values: "the points’ y",
  score: (
    <>
      <span class="unbroken">−½ (query − key)²</span> over the{" "}
      <Term name="bandwidth">temperature b²</Term>: a Gaussian <Term name="kernel" />
    </>
  ),
});

const pointsCsv = (points: readonly PlanePoint[], answer: Regression | null) =>
  rowsCsv([
    ["point", "x", "y", "weight"],
    ...points.map(({ x, y }, i) => [i + 1, x, y, answer?.weights[i] ?? Number.NaN]),
  ]);

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

function Controls({ state, set, average }: PanelProps & { average: number }) {
  const { points, bandwidth, similar } = state;
  const field = fieldsOf(settings, { state, set });
  const add = () =>
    set(({ points, query }) => ({
      points: [...points, { x: query, y: Math.round(100 * average) / 100 }],
    }));
  const look = (
    <>
      <Switch label="Draw softmax(X Xᵀ) X" {...field("similar")} />
      {similar && (
        <p class="faint similar-words">
          Every point is query, key and value, and moves to the weighted mean of all. Scores are dot
          products, measured from the mean of all: points far out in its direction get the most
          weight, even if others are nearer.
        </p>
      )}
    </>
  );
  return (
    <SettingsPanel look={look}>
      <LogSlider label="Bandwidth b" {...field("bandwidth")} />
      <p class="faint number">Temperature b² = {Number((bandwidth * bandwidth).toPrecision(3))}</p>
      <p class="row-of-buttons">
        <button type="button" disabled={points.length >= mostPoints} onClick={add}>
          Add a point
        </button>
        <button type="button" onClick={() => set({ points: settings.points.initial })}>
          Start again
        </button>
      </p>
    </SettingsPanel>
  );
}

/** The plane, its legend, and the explanation of a weight. */
function PlanePicture({ state, set, answer }: PanelProps & { answer: Regression | null }) {
  const { lock } = useShell().restrictions;
  const { points, bandwidth, query } = state;
  const { PointAt } = usePointerWords();
  const part = useRef<HTMLDivElement>(null);
  const pointed = usePointed<number>();
  return (
    <>
      <div ref={part}>
        <Plane {...{ state, set, answer, isLocked: lock, point: pointed.point }} />
        <Reading
          pointed={pointed}
          words={(index) => answer && weightWords(points, index, state, answer)}
          idle={`${PointAt} a point for its weight.`}
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
      <p class="faint">Drag {lock ? "the query" : "points and query"}, or use the arrow keys.</p>
    </>
  );
}

function AllWeights(props: { points: readonly PlanePoint[]; answer: Regression | null }) {
  const { points, answer } = props;
  const [x, y] = [<span class="role-k">x</span>, <span class="role-v">y</span>];
  return (
    <details class="row-details">
      <summary>All weights</summary>
      <RowTable title="All weights" columns={["point", x, y, "weight", "weight × y"]}>
        <tbody>
          {points.map(({ x, y }, i) => {
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
  );
}

export function PointsPanel(props: PanelProps) {
  const { points, bandwidth, query } = props.state;
  const request = useMemo(() => ({ points, bandwidth, query }), [points, bandwidth, query]);
  const { answer, request: answered, failure } = useAnswer("regression", request);
  useFootnote(answer && `estimated at 242 places in ${answer.milliseconds.toFixed(1)} ms`);
  return (
    <>
      <Controls {...props} average={answer?.average ?? 0} />
      <Work title="Attention among points" words={roleWords()}>
        <Panel name="picture">
          <PlanePicture {...props} answer={answer} />
          {failure && <p role="status">{failure}</p>}
        </Panel>
        <Panel name="weights">
          <NamedNumbers
            figures={[
              ["query x", format(query, 2)],
              ["estimate", answer?.value],
              ["average", answer?.average],
            ]}
          />
          <AllWeights points={answered?.points ?? points} answer={answer} />
        </Panel>
      </Work>
    </>
  );
}
