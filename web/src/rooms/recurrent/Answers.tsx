/** The answer of each model by itself, with aligned tokens. */

import { hides } from "../../shared/restrictions";
import { useShell } from "../../shared/shell";
import { markOf, rightAt, Token } from "./Mark";
import { type Page, shownModels, titles, usePage, usePointing } from "./page";
import type { Found, ModelName, Step } from "./problem";
import { lastStep } from "./state";

const spoken = { right: "right", wrong: "wrong", unknown: "" };

function Said({ step, place }: { step: Step | undefined; place: number }) {
  const { solution, set, state } = usePage();
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

function verdictOf(found: Found | null, target: readonly string[] | null): string {
  if (!found || !target) return "\u00a0";
  const { steps } = found.answer;
  const wrong = target.filter((token, place) => steps[place]?.top[0]?.token !== token).length;
  if (wrong > 0) return `${wrong} of ${target.length} wrong`;
  return steps.length === target.length + 1 ? "all right" : "does not end";
}

function AnswerLine({ name, found }: { name: ModelName; found: Found | null }) {
  const { solution } = usePage();
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
          <Said key={place} step={steps?.[place]} place={place} />
        ))}
      </div>
    </li>
  );
}

/** The number of dates that each model was trained on. */
function lessonsOf(page: Page): string {
  const counts = new Set(
    shownModels(page).map(
      ([name]) => page.solution?.reports.find((report) => report.name === name)?.lessons,
    ),
  );
  const [count] = counts;
  if (counts.size > 1) return "";
  // Reserves the space of the text until the number is known.
  return `Each has learned from ${count?.toLocaleString("en") ?? "so many"} dates.`;
}

export function Answers() {
  const page = usePage();
  const { restrictions } = useShell();
  const { target } = page.solution ?? { target: [] };
  return (
    <section class="answers" aria-labelledby="answers-title">
      <h2 id="answers-title">Three models write it in numbers</h2>
      {!hides(restrictions, "text") && (
        <p class="words">
          Each writes one character at a time, and under it stands how sure it was.{" "}
          {target
            ? lessonsOf(page)
            : "This is not quite a date in one of the 22 forms of the lessons, so no one knows what is right."}
        </p>
      )}
      <ol>
        {shownModels(page).map(([name, found]) => (
          <AnswerLine key={name} name={name} found={found} />
        ))}
      </ol>
    </section>
  );
}
