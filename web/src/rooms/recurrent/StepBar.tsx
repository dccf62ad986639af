/** Goes through the steps of all decoders at once: the maps and the lanes below follow. */
import { Transport } from "../../components/Transport";
import { rightAt } from "./Mark";
import { usePage } from "./page";
import { lastStep, visible } from "./state";

export function StepBar() {
  const { state, solution, set } = usePage();
  const runs = solution?.models.flatMap(({ alone, taught }) => (taught ? [alone, taught] : alone));
  const count = Math.max(lastStep + 1, ...(runs ?? []).map(({ steps }) => steps.length));
  const index = Math.min(state.step, count - 1);
  const right = rightAt(solution?.target ?? null, index);
  return (
    <div class="step-bar">
      <Transport
        count={count}
        index={index}
        label="Steps of the decoders"
        pace={900}
        go={(step) => set({ step, row: step })}
        title={right === undefined ? undefined : `right: ${visible(right)}`}
      />
    </div>
  );
}
