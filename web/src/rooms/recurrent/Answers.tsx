/** The answer that each model generates from its own tokens, with aligned tokens. */

import { useRef, useState } from "preact/hooks";
import { markOf, rightAt, Token } from "./Mark";
import type { DecoderStep, ModelAnswers, ModelName } from "./problem";
import { choosing, lastStep, rowShown } from "./state";
import { shownModels, titles, usePointing, useRecurrentWorkspace } from "./workspace";

const heardWords = { right: "right", wrong: "wrong", unknown: "" };

function AnswerToken({
  step,
  place,
  isStop,
}: {
  step: DecoderStep | undefined;
  place: number;
  /** Whether the Tab key stops here. It stops at one character of each answer; arrow keys move to the others. */
  isStop: boolean;
}) {
  const { solution, set, state } = useRecurrentWorkspace();
  const { pointed, point } = usePointing();
  const [said] = step?.top ?? [];
  if (!said) return <span class="said-token" />;
  const mark = markOf(said.token, rightAt(solution?.target ?? null, place));
  const lit = (pointed?.row ?? rowShown(state)) === place;
  return (
    <button
      type="button"
      class={lit ? "said-token lit" : "said-token"}
      aria-pressed={rowShown(state) === place}
      tabIndex={isStop ? 0 : -1}
      onPointerEnter={() => point({ row: place }, "pointer")}
      onPointerLeave={() => point(null, "pointer")}
      onClick={() => set(choosing(place))}
    >
      <span class="only-heard">{place + 1}: </span>
      <Token token={said.token} mark={mark} />
      <span class="only-heard">{heardWords[mark]}</span>
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

/** The position to which a key moves; undefined if the key does not move. */
function placeAfter(key: string, place: number, last: number): number | undefined {
  const moved = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: last }[key];
  return moved === undefined ? undefined : Math.max(0, Math.min(last, moved));
}

function AnswerLine({ name, found }: { name: ModelName; found: ModelAnswers | null }) {
  const { solution, state } = useRecurrentWorkspace();
  const line = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<number | null>(null);
  const steps = found?.answer.steps;
  const count = steps?.length ?? lastStep + 1;
  const stop = Math.min(focused ?? rowShown(state), count - 1);
  return (
    <li data-model={name}>
      <h3>
        {titles[name]} <span class="faint">{verdictOf(found, solution?.target ?? null)}</span>
      </h3>
      <div
        ref={line}
        class="said"
        role="toolbar"
        aria-label={`${titles[name]}: its characters; arrow keys go through them`}
        onKeyDown={(event) => {
          const place = placeAfter(event.key, stop, count - 1);
          if (place === undefined) return;
          line.current?.querySelectorAll("button")[place]?.focus();
          event.preventDefault();
        }}
        onFocusIn={({ target }) => {
          const buttons = [...(line.current?.querySelectorAll("button") ?? [])];
          setFocused(buttons.indexOf(target as HTMLButtonElement));
        }}
      >
        {Array.from({ length: count }, (_, place) => (
          <AnswerToken key={place} step={steps?.[place]} place={place} isStop={place === stop} />
        ))}
      </div>
    </li>
  );
}

export function Answers() {
  const workspace = useRecurrentWorkspace();
  return (
    <section class="answers" aria-labelledby="answers-title">
      <h2 id="answers-title">Three answers</h2>
      <button
        type="button"
        class="skip"
        onClick={() => document.querySelector<HTMLElement>("#maps-title")?.focus()}
      >
        Skip to the maps
      </button>
      <ol>
        {shownModels(workspace).map(([name, found]) => (
          <AnswerLine key={name} name={name} found={found} />
        ))}
      </ol>
    </section>
  );
}
