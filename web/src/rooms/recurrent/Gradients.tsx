/** The gradient over the path length, before training and after it. */
import { useMemo } from "preact/hooks";
import { Curve } from "../../picture/Curve";
import { Choice } from "../../shared/Fields";
import { Notices } from "../../shared/Notices";
import { Prose } from "../../shared/Panel";
import { Stale } from "../../shared/Stale";
import { fieldsOf } from "../../shared/settings";
import { useAnswer } from "../../worker/engineClient";
import type { GradientQuestion } from "./gradients";
import { questionOf, settings } from "./state";
import { shortTitles, shownModels, targetOf, useRecurrentWorkspace } from "./workspace";

export function Gradients() {
  const workspace = useRecurrentWorkspace();
  const { state, solution, source, set } = workspace;
  const isTrained = state.weights === "trained";
  const models = shownModels(workspace).map(([name]) => name);
  const { base } = questionOf(state);
  const asked: GradientQuestion | null = solution && {
    ...{ base, models, source, written: targetOf(workspace), isTrained },
  };
  // By its content, because a replaced character of the answer changes the solution, but not this question.
  const question = useMemo(() => asked, [JSON.stringify(asked)]);
  const { answer, request, failure } = useAnswer("datesGradients", question, 0);
  const { pathLengths = [], means = [] } = answer ?? {};
  const series = (request?.models ?? models).map((name, i) => ({
    name: shortTitles[name],
    y: (means[i] ?? new Float32Array()).map(Math.log10),
  }));
  return (
    <div class="gradients" data-weights={request?.isTrained ? "trained" : "initial"}>
      <h3>Gradient over path length</h3>
      <Choice
        label="Weights"
        choices={[
          ["initial", "before training"],
          ["trained", "after training"],
        ]}
        {...fieldsOf(settings, { state, set })("weights")}
      />
      <Notices notices={failure ? [failure] : []} />
      <Stale isStale={request !== null && request !== question} isUnread={false}>
        <Curve
          title="Gradient over path length"
          xName="steps in the RNN"
          placeOf={(i) => `at ${pathLengths[i]} steps in the RNN`}
          yName="log₁₀ of the gradient’s length"
          x={pathLengths}
          series={series}
        />
      </Stale>
      <Prose class="words paths-words">
        The gradient of an output with respect to a character of the date: the mean of all pairs as
        far apart in the RNN. Before training, each step of the RNN takes away about two fifths of
        it; with attention it stays. In training the RNN’s gates learn to let it pass.
      </Prose>
    </div>
  );
}
