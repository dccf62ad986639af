/** The answer that each model generates from its own tokens, with aligned tokens. */
import { useRef, useState } from "preact/hooks";
import { markOf, rightAt, Token } from "./Mark";
import { endToken, type ModelName } from "./problem";
import type { ModelAnswers } from "./solve";
import { choosing, lastStep, rowShown } from "./state";
import { shownModels, titles, usePointing, useRecurrentWorkspace } from "./workspace";

interface AnswerTokenProps {
  found: ModelAnswers | null;
  place: number;
  /** Whether the Tab key stops here. It stops at one character of each answer; arrow keys move to the others. */
  isStop: boolean;
}

function AnswerToken({ found, place, isStop }: AnswerTokenProps) {
  const { solution, set, state } = useRecurrentWorkspace();
  const { cell: pointed, point } = usePointing();
  const { steps, places } = found?.answer ?? { steps: [], places: [] };
  const [said] = steps[place]?.top ?? [];
  if (!said) return <span class="said-token" />;
  const mark = markOf(said.token, solution?.target ?? null, places[place]);
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
      <span class="only-heard">{mark !== "unknown" && mark}</span>
      <span class="faint number">{said.probability.toFixed(2)}</span>
    </button>
  );
}

/** Counts the edits between the answer and the right one. */
function verdictOf(found: ModelAnswers | null, target: readonly string[] | null): string {
  if (!found || !target) return "\u00a0";
  const { steps, places } = found.answer;
  const outputs = steps.map(({ top }) => top[0]?.token);
  const count = (is: (place: number | null, i: number) => boolean) => places.filter(is).length;
  const isWrong = (place: number | null, i: number) =>
    place !== null && outputs[i] !== rightAt(target, place);
  const counts = [
    [count(isWrong), "wrong"],
    [count((place) => place === null), "too many"],
    [target.filter((_, place) => !places.includes(place)).length, "missing"],
  ] as const;
  const words = counts.flatMap(([count, word]) => (count > 0 ? `${count} ${word}` : []));
  if (outputs.at(-1) !== endToken) words.push("it does not end");
  return words.join(", ") || "all right";
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
  const count = found?.answer.steps.length ?? lastStep + 1;
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
          <AnswerToken key={place} {...{ found, place }} isStop={place === stop} />
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
