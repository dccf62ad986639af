/** Charts of loss and accuracy over the kept steps. Dragging selects a step. */
import { useMemo } from "preact/hooks";
import { Curve, type CurveSeries } from "../../picture/Curve";
import { type Interval, rangeOfAll } from "../../picture/scale";
import type { Setter } from "../../shared/room";
import type { CourseSnapshot, Snapshot } from "./messages";
import { stepAt } from "./past";
import type { BeginAnswer } from "./solve";
import type { State } from "./state";
import type { Lesson } from "./useLesson";
import { bestMass, headsWords } from "./words";

interface Chart {
  readonly title: string;
  readonly yName: string;
  readonly range: Interval;
  readonly isLog?: boolean;
  readonly series: readonly CurveSeries[];
}

const inPercent = { yName: "percent", range: { low: 0, high: 100 } };

/** A logarithmic axis, because a loss that has become small goes on falling. */
function lossAxis(lines: readonly CurveSeries[]) {
  const losses = lines.flatMap(({ y }) => Array.from(y)).filter((loss) => loss > 0);
  const { low, high } = rangeOfAll(losses.length > 0 ? losses : [1]);
  const power = 10 ** Math.floor(Math.log10(Math.max(low, 1e-6)));
  return { yName: "loss", range: { low: power, high: Math.max(high, 2 * power) }, isLog: true };
}

function chartsOf({ courses, chance }: BeginAnswer, past: readonly Snapshot[]): Chart[] {
  const line = (name: string, of: (snapshot: CourseSnapshot) => number, course = 0) => ({
    name,
    y: past.map(({ courses }) => of(courses[course] as CourseSnapshot)),
  });
  const heldLoss = ({ heldLoss }: CourseSnapshot) => heldLoss;
  const exact = ({ exact }: CourseSnapshot) => 100 * exact;
  const mass = (snapshot: CourseSnapshot) => 100 * bestMass(snapshot);
  if (courses.length === 1) {
    const losses = [line("training", ({ loss }) => loss), line("unseen examples", heldLoss)];
    const shares = [
      line("unseen examples right", exact),
      line("best head, answer positions", mass),
      line("uniform attention", () => 100 * chance),
    ];
    return [
      { title: "Loss", ...lossAxis(losses), series: losses },
      { title: "Answers and attention", ...inPercent, series: shares },
    ];
  }
  const both = (of: (snapshot: CourseSnapshot) => number) =>
    courses.map(({ heads }, i) => line(headsWords(heads), of, i));
  const losses = both(heldLoss);
  return [
    { title: "Loss, unseen examples", ...lossAxis(losses), series: losses },
    { title: "Unseen examples right", ...inPercent, series: both(exact) },
    { title: "Attention on the answer positions", ...inPercent, series: both(mass) },
  ];
}

export function Curves(props: { lesson: Lesson; index: number; set: Setter<State> }) {
  const { lesson, index, set } = props;
  const { begun, past, setups } = lesson;
  const charts = useMemo(() => chartsOf(begun, past), [begun, past]);
  const x = useMemo(() => past.map(({ step }) => step), [past]);
  const total = setups[0]?.recipe.steps ?? 1;
  return (
    <section class="learn-curves column" aria-label="Curves">
      {charts.map((chart) => (
        <div key={chart.title}>
          <h2>
            {chart.title}
            {chart.yName === inPercent.yName && ", %"}
          </h2>
          <Curve
            {...{ x, ...chart }}
            xName="step"
            domain={{ low: 0, high: total }}
            height={150}
            plays
            cursor={index}
            onCursor={(to) => set({ at: stepAt(past, to) })}
          />
        </div>
      ))}
      <p class="faint learn-hint small">Drag in a curve to go back.</p>
    </section>
  );
}
