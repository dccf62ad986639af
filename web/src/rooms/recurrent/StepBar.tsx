/** Steps through all decoders together, in the maps and in the lanes below. */
import { Transport, useClock } from "../../shared/Transport";
import { rightAt } from "./Mark";
import { rowShown, visible } from "./state";
import { stepCountOf, useRecurrentWorkspace } from "./workspace";

const pace = 900;

export function StepBar() {
  const workspace = useRecurrentWorkspace();
  const { state, solution, set } = workspace;
  const count = stepCountOf(workspace);
  // The shown step is the one that the formulas explain, even if later rows are visible.
  const index = Math.min(rowShown(state), count - 1);
  const isWhole = state.step >= count - 1;
  const go = (step: number) => set({ step, row: step });
  const { isPlaying, setPlaying } = useClock({ count, index, go, pace });
  const target = solution?.target;
  return (
    <div class="step-bar">
      <Transport
        {...{ count, index, go }}
        label="Steps of the decoders"
        title={target ? `the right answer has “${visible(rightAt(target, index))}”` : undefined}
        live={{
          ...{ isPlaying, isMotion: true },
          setPlaying(wanted: boolean) {
            // If all steps are visible, playing starts from the first one, not from the explained one.
            if (wanted && isWhole) go(0);
            setPlaying(wanted);
          },
        }}
      />
    </div>
  );
}
