/** Goes through the steps of all decoders at once, in the maps and in the lanes below. */
import { Transport } from "../../shared/Transport";
import { rightAt } from "./Mark";
import { visible } from "./state";
import { stepCountOf, useRecurrentWorkspace } from "./workspace";

export function StepBar() {
  const workspace = useRecurrentWorkspace();
  const { state, solution, set } = workspace;
  const count = stepCountOf(workspace);
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
        title={right === undefined ? undefined : `the right character is “${visible(right)}”`}
      />
    </div>
  );
}
