/** Goes through the steps of all decoders at once, in the maps and in the lanes below. */
import { Transport } from "../../shared/Transport";
import { rightAt } from "./Mark";
import { stepsOf, usePage } from "./page";
import { visible } from "./state";

export function StepBar() {
  const page = usePage();
  const { state, solution, set } = page;
  const count = stepsOf(page);
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
