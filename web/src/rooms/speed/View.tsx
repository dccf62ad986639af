/** The room "Speed": its settings, and the run. */
import { Choice, NumberField, Switch } from "../../shared/Fields";
import { Fold } from "../../shared/Fold";
import { Notices } from "../../shared/Notices";
import { Panel } from "../../shared/Panel";
import { hides, shows } from "../../shared/restrictions";
import type { RoomProps } from "../../shared/room";
import { SettingsPanel } from "../../shared/SettingsPanel";
import { fieldsOf } from "../../shared/settings";
import { useFootnote, useShell } from "../../shared/shell";
import { TryNext } from "../../shared/TryNext";
import { Measurements } from "./Measurements";
import { Operations, Progress } from "./Progress";
import { Roofline } from "./Roofline";
import { bytesRead } from "./report";
import { describe, seconds } from "./rows";
import { type ChartAxis, initialState, longestLengths, type State, settings } from "./state";
import { suggestions } from "./suggestions";
import { Threads } from "./Threads";
import { useRun } from "./useRun";

export function View({ state, set, notices }: RoomProps<State>) {
  const { restrictions } = useShell();
  const measuring = useRun(state);
  const { report, isStale, news, failure } = measuring;
  const [one] = report?.cases ?? [];
  useFootnote(
    !news && report && one ? `measured in ${seconds(report)} with ${describe(one)}` : null,
  );
  const isAlone = (panel: string) => restrictions.embed === panel;
  return (
    <>
      <Notices notices={[...notices, ...(failure ? [failure] : [])]} />
      <Settings {...{ state, set }} />
      <div class="work speed-work column">
        <Panel name="run">
          <Progress measuring={measuring} />
        </Panel>
        <div class={isStale ? "speed-parts column stale" : "speed-parts column"}>
          <Panel name="picture">
            <Fold
              title="Operations a second, and what limits them"
              isWanted={isAlone("picture") || state.axis !== initialState.axis}
              isPrinted
            >
              <Choice<ChartAxis>
                label="over"
                choices={[
                  ["length", "length"],
                  ["intensity", "operations per byte"],
                ]}
                {...fieldsOf(settings, { state, set })("axis")}
              />
              <Roofline report={report} axis={state.axis} />
              <Operations report={report} />
            </Fold>
          </Panel>
          {!hides(restrictions, "text") && shows(restrictions, "picture") && (
            <Fold title="How it is measured">
              <Explanation axis={state.axis} />
            </Fold>
          )}
          <Panel name="table">
            <Fold title="All figures" isWanted={isAlone("table")}>
              <Measurements report={report} isComplete={news === null} />
            </Fold>
          </Panel>
          <Panel name="threads">
            <Fold title="Threads, and how to get more" isWanted={isAlone("threads")}>
              <Threads report={report} />
            </Fold>
          </Panel>
        </div>
      </div>
      <TryNext suggestions={suggestions} />
    </>
  );
}

const lengthChoices = longestLengths.map((length) => [String(length), String(length)] as const);

function Settings({ state, set }: Pick<RoomProps<State>, "state" | "set">) {
  const field = fieldsOf(settings, { state, set });
  return (
    <SettingsPanel>
      <div class="group">
        <NumberField label="Heads" {...field("heads")} />
        <NumberField label="Numbers in each" {...field("size")} />
        <Switch label="Causal mask" {...field("causal")} />
        <NumberField label="Window, 0 for all" {...field("window")} />
      </div>
      <div class="group">
        <Choice
          label="“Measure at length” goes up to"
          value={String(state.longest)}
          choices={lengthChoices}
          onChange={(longest) => set({ longest: Number(longest) })}
        />
        <p class="faint">tokens, with every number of threads, and a multi-head layer.</p>
      </div>
    </SettingsPanel>
  );
}

function Explanation({ axis }: { axis: ChartAxis }) {
  return (
    <div class="speed-words">
      <p>
        <b>What.</b> Self-attention over random numbers. Every answer is compared with plain
        JavaScript’s; then all take turns, round after round. A point is the median of the rounds,
        its line from the slowest to the fastest.
      </p>
      <p>
        <b>Compared with.</b> Plain JavaScript: the simplest loops over Float32Arrays, in one
        thread. The limits are two loops: one only multiplies and adds, one only reads{" "}
        {bytesRead / 2 ** 20} MiB of memory.{" "}
        {axis === "intensity"
          ? "On the slope, memory is the limit: few operations for each byte."
          : "The gap to the limit is mostly the softmax, whose exponentials are not counted, and access to memory."}
      </p>
      <p>
        <b>What disturbs it.</b> Other programs, a battery, a hot processor. Runs differ; compare
        within one.
      </p>
    </div>
  );
}
