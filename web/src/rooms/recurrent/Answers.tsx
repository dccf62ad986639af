/** The answer of each model by itself, with aligned tokens. */

import { hides } from "../../shared/restrictions";
import { useShell } from "../../shared/shell";
import { markOf, rightAt, Token } from "./Mark";
import type { DecoderStep, ModelAnswers, ModelName } from "./problem";
import { lastStep } from "./state";
import {
  type RecurrentWorkspace,
  shownModels,
  titles,
  usePointing,
  useRecurrentWorkspace,
} from "./workspace";

const spoken = { right: "right", wrong: "wrong", unknown: "" };

function AnswerToken({ step, place }: { step: DecoderStep | undefined; place: number }) {
  const { solution, set, state } = useRecurrentWorkspace();
  const { pointed, point } = usePointing();
  const [said] = step?.top ?? [];
  if (!said) return <span class="said-token" />;
  const mark = markOf(said.token, rightAt(solution?.target ?? null, place));
  const lit = (pointed?.row ?? state.row) === place;
  return (
    <button
      type="button"
      class={lit ? "said-token lit" : "said-token"}
      aria-pressed={state.row === place}
      onPointerEnter={() => point({ row: place }, "pointer")}
      onPointerLeave={() => point(null, "pointer")}
      onClick={() => set({ row: place })}
    >
      <span class="only-heard">{place + 1}: </span>
      <Token token={said.token} mark={mark} />
      <span class="only-heard">{spoken[mark]}</span>
      <span class="number">{said.probability.toFixed(2)}</span>
    </button>
  );
}

function verdictOf(found: ModelAnswers | null, target: readonly string[] | null): string {
  if (!found || !target) return "\u00a0";
  const { steps } = found.answer;
  const wrong = target.filter((token, place) => steps[place]?.top[0]?.token !== token).length;
  if (wrong > 0) return `${wrong} of ${target.length} wrong`;
  return steps.length === target.length + 1 ? "all right" : "does not end";
}

function AnswerLine({ name, found }: { name: ModelName; found: ModelAnswers | null }) {
  const { solution } = useRecurrentWorkspace();
  const steps = found?.answer.steps;
  const count = steps?.length ?? lastStep + 1;
  return (
    <li data-model={name}>
      <h3>
        {titles[name]}
        <span class="faint">{verdictOf(found, solution?.target ?? null)}</span>
      </h3>
      <div class="said">
        {Array.from({ length: count }, (_, place) => (
          <AnswerToken key={place} step={steps?.[place]} place={place} />
        ))}
      </div>
    </li>
  );
}

/** The number of dates that each model was trained on. */
function lessonsOf(workspace: RecurrentWorkspace): string {
  const counts = new Set(
    shownModels(workspace).map(
      ([name]) => workspace.solution?.reports.find((report) => report.name === name)?.lessons,
    ),
  );
  const [count] = counts;
  if (counts.size > 1) return "";
  // Reserves the space of the text until the number is known.
  return `Each was trained on ${count?.toLocaleString("en") ?? "…"} dates.`;
}

export function Answers() {
  const workspace = useRecurrentWorkspace();
  const { restrictions } = useShell();
  const { target } = workspace.solution ?? { target: [] };
  return (
    <section class="answers" aria-labelledby="answers-title">
      <h2 id="answers-title">Three models write it in numbers</h2>
      {!hides(restrictions, "text") && (
        <p class="words">
          Each model writes one character at a time; below each is its probability.{" "}
          {target
            ? lessonsOf(workspace)
            : "This is not a date in one of the 22 forms of the training examples, so the right answer is not known."}
        </p>
      )}
      <ol>
        {shownModels(workspace).map(([name, found]) => (
          <AnswerLine key={name} name={name} found={found} />
        ))}
      </ol>
    </section>
  );
}
