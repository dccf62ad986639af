/** Plays how the stage's picture is computed: a cell term by term, its row, then row after row. */
import { useMemo } from "preact/hooks";
import { Transport } from "../../shared/Transport";
import { countOf, momentAt, paceOf, stopsOf, type Timeline } from "./time";
import { timelineOf } from "./unfolding";
import { useStepsWorkspace } from "./workspace";

function titleOf(timeline: Timeline, index: number): string {
  if (index === countOf(timeline) - 1) return "all of it";
  const stops = stopsOf(timeline);
  if (index === stops.at(-1)) return "the first row; Play continues";
  if (stops.includes(index)) return "the first cell; Play continues";
  const { matrix, terms, col } = momentAt(timeline, index);
  if (matrix === timeline.lead?.matrix) return "the sum of the row";
  if (terms !== null) return "term by term";
  return col === null ? "row by row" : "cell by cell";
}

export function Computation() {
  const { state, attention, set } = useStepsWorkspace();
  const { time } = state;
  // Compared by value, so that playing restarts only if the timeline differs.
  const now = timelineOf(state, attention);
  const timeline = useMemo(() => now, [JSON.stringify(now)]);
  const pace = useMemo(() => timeline && paceOf(timeline), [timeline]);
  if (!timeline || !pace) return null;
  const count = countOf(timeline);
  const index = Math.min(time ?? count - 1, count - 1);
  return (
    <div class="computation">
      <p class="made">
        <span class="faint">How these numbers are computed:</span> {titleOf(timeline, index)}
      </p>
      <Transport
        // Playing ends when the person leaves the stage.
        key={state.stage}
        label="How this picture is computed"
        unit="Part"
        count={count}
        index={index}
        pace={pace}
        stops={stopsOf(timeline)}
        go={(next) => set({ time: next >= count - 1 ? null : next, cell: null })}
      />
    </div>
  );
}
