/** The settings of the task, the model and the pictures. */
import { ColourChoice } from "../../picture/ColourChoice";
import { Choice, NumberField, Slider, Switch } from "../../shared/Fields";
import type { Setter } from "../../shared/room";
import { SettingsPanel } from "../../shared/SettingsPanel";
import { allowed, planOf, type State, type TaskName, taskNames, tasks } from "./state";

/** The slider is logarithmic, with ten steps to a factor of ten. */
const rates = { min: -50, max: 30 } as const;

function Counts({
  label,
  value,
  counts,
  onChange,
}: {
  label: string;
  value: number;
  counts: readonly number[];
  onChange(count: number): void;
}) {
  return (
    <Choice
      label={label}
      value={String(value)}
      choices={counts.map((count) => [String(count), String(count)] as const)}
      onChange={(text) => onChange(Number(text))}
    />
  );
}

export function Controls({ state, set }: { state: State; set: Setter<State> }) {
  /** A new training has no snapshots yet, and may have other heads. */
  const begin = (change: Partial<State>) =>
    set({ at: null, head: null, cell: null, row: null, ...change });
  const look = (
    <div class="group">
      <Switch
        label="Outline right places"
        checked={state.outlined}
        onChange={(outlined) => set({ outlined })}
      />
      <ColourChoice range={state.range} curve={state.curve} onChange={set} />
    </div>
  );
  return (
    <SettingsPanel look={look}>
      <Choice<TaskName>
        label="Learn to"
        value={state.task}
        choices={taskNames.map((name) => [name, tasks[name].title] as const)}
        onChange={(task) => begin({ task, ...planOf(task), text: null })}
      />
      {tasks[state.task].hasLetters && (
        <NumberField
          label={`Letters, at most (${allowed.length.min} to ${allowed.length.max})`}
          value={state.length}
          limits={allowed.length}
          onChange={(length) => begin({ length })}
        />
      )}
      <div class="group">
        <Counts
          label="Heads"
          value={state.heads}
          counts={allowed.heads}
          onChange={(heads) => begin({ heads })}
        />
        <Counts
          label="Layers"
          value={state.layers}
          counts={allowed.layers}
          onChange={(layers) => begin({ layers })}
        />
        <Counts
          label="Vector size"
          value={state.size}
          counts={allowed.size}
          onChange={(size) => begin({ size })}
        />
      </div>
      <div class="group">
        <Switch
          label={`Compare with ${state.heads === 1 ? "4 heads" : "one head"}`}
          checked={state.compare}
          onChange={(compare) => begin({ compare })}
        />
        <Switch
          label="Add positions"
          checked={state.positions}
          onChange={(positions) => begin({ positions })}
        />
      </div>
      <Slider
        label="Learning rate"
        value={Math.round(10 * Math.log10(state.rate))}
        limits={rates}
        step={1}
        text={String(state.rate)}
        onChange={(place) => begin({ rate: Number((10 ** (place / 10)).toPrecision(2)) })}
      />
      <NumberField
        label={`Seed (0 to ${allowed.seed.max})`}
        value={state.seed}
        limits={allowed.seed}
        onChange={(seed) => begin({ seed })}
      />
      <Switch
        label="Starts by itself"
        checked={state.starts}
        onChange={(starts) => set({ starts })}
      />
    </SettingsPanel>
  );
}
