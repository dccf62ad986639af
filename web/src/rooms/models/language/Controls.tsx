/** How the next token is drawn, how heads are measured and ordered, and how weights are coloured. */

import { patternNames, patterns } from "#parts";
import { NumberField, Slider } from "../../../shared/Fields";
import { HeadLook } from "../../../shared/HeadLook";
import { Prose } from "../../../shared/Panel";
import type { Setter } from "../../../shared/room";
import { SettingsPanel } from "../../../shared/SettingsPanel";
import { fieldsOf } from "../../../shared/settings";
import type { ReadAnswer } from "./messages";
import { type State, settings } from "./state";

interface ControlsProps {
  readonly state: State;
  readonly set: Setter<State>;
  /** Our model has its controls while it loads. */
  readonly writes: boolean;
  /** Null until a text is read. */
  readonly answer: ReadAnswer | null;
  /** The selected token. */
  readonly place: number;
}

function Drawing({ state, set, answer, place }: Omit<ControlsProps, "writes">) {
  const { temperature, topP, seed } = state;
  /** The tokens up to the current place stay; the others are generated again. */
  const change = (next: Partial<State>) => {
    const kept = answer ? answer.ids.slice(answer.given, place + 1) : state.kept;
    set({ ...next, kept, place });
  };
  const field = fieldsOf(settings, { state, set: change });
  return (
    <>
      <Slider
        label="Temperature"
        step={0.05}
        text={temperature === 0 ? "0: the likeliest" : temperature.toFixed(2)}
        {...field("temperature")}
      />
      <Slider
        label="Top-p"
        step={0.05}
        text={topP === 1 ? "1: all" : topP.toFixed(2)}
        {...field("topP")}
      />
      <NumberField label="Top-k (0: all)" {...field("topK")} />
      <NumberField label="Seed" {...field("seed")} />
      <div class="row-of-buttons">
        <button
          type="button"
          onClick={() => change({ seed: (seed + 1) % (settings.seed.limits.max + 1) })}
        >
          Another seed
        </button>
      </div>
      <Prose class="faint">A change rewrites what follows.</Prose>
    </>
  );
}

export function Controls({ writes, ...props }: ControlsProps) {
  const { state, set } = props;
  const look = (
    <details>
      <summary>Measures and colours</summary>
      <div class="controls">
        <HeadLook {...{ state, set, settings }} names={patternNames} measures={patterns} />
      </div>
    </details>
  );
  return <SettingsPanel look={look}>{writes && <Drawing {...props} />}</SettingsPanel>;
}
