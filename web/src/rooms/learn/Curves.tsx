/** Charts of loss and accuracy over the kept steps. Dragging selects a step. */
import { useMemo } from "preact/hooks";
import { Curve } from "../../picture/Curve";
import { type Interval, rangeOfAll } from "../../picture/scale";
import type { Setter } from "../../shared/room";
import type { BeginAnswer, CourseSnapshot, Snapshot } from "./messages";
import type { State } from "./state";
import type { Lesson } from "./useLesson";
import { bestMass, headsWords } from "./words";

interface Chart {
  readonly title: string;
  readonly yName: string;
  readonly range: Interval;
  readonly series: readonly { readonly name: string; readonly y: readonly number[] }[];
}

const share: Interval = { low: 0, high: 1 };

/** The range from 0 to the maximum, which shows that a falling curve approaches 0. */
function fromZero(lines: readonly (readonly number[])[]): Interval {
  return { low: 0, high: Math.max(rangeOfAll(lines.flat()).high, 1e-3) };
}

function chartsOf(begun: BeginAnswer, past: readonly Snapshot[]): Chart[] {
  const line = (course: number, of: (snapshot: CourseSnapshot) => number) =>
    past.map(({ courses }) => of(courses[course] as CourseSnapshot));
  if (begun.courses.length === 1) {
    const losses = [line(0, ({ loss }) => loss), line(0, ({ heldLoss }) => heldLoss)] as const;
    return [
      {
        ...{ title: "Loss", yName: "loss", range: fromZero(losses) },
        series: [
          { name: "training", y: losses[0] },
          { name: "held out", y: losses[1] },
        ],
      },
      {
        ...{ title: "Answers and attention", yName: "share", range: share },
        series: [
          { name: "answered correctly", y: line(0, ({ exact }) => exact) },
          { name: "best head, right places", y: line(0, bestMass) },
          { name: "uniform attention", y: past.map(() => begun.chance) },
        ],
      },
    ];
  }
  const both = (of: (snapshot: CourseSnapshot) => number) =>
    begun.courses.map(({ heads }, i) => ({
      name: headsWords(heads),
      y: line(i, of),
    }));
  const losses = both(({ heldLoss }) => heldLoss);
  return [
    {
      ...{ title: "Loss, held out", yName: "loss" },
      ...{ range: fromZero(losses.map(({ y }) => y)), series: losses },
    },
    {
      ...{ title: "Answered correctly", yName: "share", range: share },
      series: both(({ exact }) => exact),
    },
    {
      ...{ title: "Attention on the right places", yName: "share", range: share },
      series: both(bestMass),
    },
  ];
}

/** All numbers of the page belong to the same snapshot, so the charts are drawn in the same frame. */
function OneChart({
  total,
  set,
  chart: { title, ...chart },
  x,
  index,
}: {
  total: number;
  set: Setter<State>;
  chart: Chart;
  x: readonly number[];
  index: number;
}) {
  return (
    <div>
      <h2>{title}</h2>
      <Curve
        {...{ title, x, ...chart }}
        xName="step"
        domain={{ low: 0, high: total }}
        height={150}
        plays
        cursor={index}
        onCursor={(to) => set({ at: to >= x.length - 1 ? null : (x[to] ?? null) })}
      />
    </div>
  );
}

export function Curves({
  lesson,
  index,
  set,
}: {
  lesson: Lesson;
  index: number;
  set: Setter<State>;
}) {
  const { begun, past, setups } = lesson;
  const charts = useMemo(() => chartsOf(begun, past), [begun, past]);
  const x = useMemo(() => past.map(({ step }) => step), [past]);
  const total = setups[0]?.recipe.steps ?? 1;
  return (
    <section class="learn-curves" aria-label="Curves">
      {charts.map((chart) => (
        <OneChart key={chart.title} {...{ chart, x, index, total, set }} />
      ))}
      <p class="faint learn-hint">Drag in a curve to go back.</p>
    </section>
  );
}
