/** The settings of the task, the model and the pictures. */
import { ColourChoice } from "../../picture/ColourChoice";
import { exhibitOf } from "../../shared/catalogue";
import { Choice, NumberField, Switch } from "../../shared/Fields";
import { LogSlider } from "../../shared/LogSlider";
import type { Setter } from "../../shared/room";
import { SettingsPanel } from "../../shared/SettingsPanel";
import { fieldsOf } from "../../shared/settings";
import { useReducedMotion } from "../../shared/useMedia";
import { type State, settings, sizes, taskNames, tasks } from "./state";

const counts = [
  ["heads", "Heads"],
  ["layers", "Layers"],
  ["size", "Vector size"],
] as const;

interface Beginning {
  state: State;
  /** Begins another training. */
  begin(change: Partial<State>): void;
}

function TaskControls({ state, begin }: Beginning) {
  const { task } = state;
  const { min, max } = settings.length.limits;
  return (
    <>
      <Choice
        label="Learn to"
        value={task}
        choices={taskNames.map((name) => [name, exhibitOf(name).name] as const)}
        onChange={(task) => begin({ task, ...tasks[task].plan, text: null })}
      />
      {tasks[task].hasLetters && (
        <NumberField
          label={`Letters, at most (${min} to ${max})`}
          {...fieldsOf(settings, { state, set: begin })("length")}
        />
      )}
    </>
  );
}

function ModelControls({ state, begin }: Beginning) {
  const field = fieldsOf(settings, { state, set: begin });
  return (
    <>
      <div class="group">
        {counts.map(([name, label]) => (
          <Choice
            key={name}
            label={label}
            value={String(state[name])}
            choices={sizes[name].map((count) => [String(count), String(count)] as const)}
            onChange={(text) => begin({ [name]: Number(text) })}
          />
        ))}
      </div>
      <div class="group">
        <Switch
          label={`Compare with ${state.heads === 1 ? "4 heads" : "one head"}`}
          {...field("compare")}
        />
        <Switch label="Add positions" {...field("positions")} />
      </div>
    </>
  );
}

export function Controls({ state, set }: { state: State; set: Setter<State> }) {
  /** A new training has no snapshots yet, and may have other heads. */
  const begin = (change: Partial<State>) =>
    set({ at: null, head: null, cell: null, row: null, ...change });
  const field = fieldsOf(settings, { state, set });
  const reduced = useReducedMotion();
  const trained = fieldsOf(settings, { state, set: begin });
  const look = (
    <div class="group">
      <Switch label="Outline answer positions" {...field("outlined")} />
      <ColourChoice range={state.range} curve={state.curve} onChange={set} />
    </div>
  );
  return (
    <SettingsPanel look={look}>
      <TaskControls state={state} begin={begin} />
      <ModelControls state={state} begin={begin} />
      <LogSlider label="Learning rate" perDecade={10} {...trained("rate")} />
      <NumberField label={`Seed (0 to ${settings.seed.limits.max})`} {...trained("seed")} />
      {!reduced && <Switch label="Starts by itself" {...field("starts")} />}
    </SettingsPanel>
  );
}
