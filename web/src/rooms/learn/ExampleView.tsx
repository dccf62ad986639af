/** The example held out whose weights are shown, and what a model says of it. */
import { TokenRow } from "../../components/TokenRow";
import type { Said, Seen } from "./orders";
import type { TaskName } from "./state";
import type { Lesson } from "./useLesson";
import { percent } from "./words";

export function ExampleView({ task, lesson }: { task: TaskName; lesson: Lesson | null }) {
  return (
    <div class={`learn-example ${task}`}>
      <p>
        <b>{lesson?.begun.about ?? "The engine is starting."}</b>{" "}
        <span class="faint">An example that training never sees:</span>
      </p>
      <TokenRow
        tokens={(lesson?.begun.source ?? []).map((token) => (token === " " ? "␣" : token))}
      />
    </div>
  );
}

function Word({ of, token, isRight }: Said) {
  return (
    <li class={isRight ? "right" : "wrong"}>
      <span class="token">
        {of !== null && <span class="faint">{of} = </span>}
        <bdi>{token === "<end>" ? "end" : token}</bdi>
      </span>
      <span class="token-number" role="img" aria-label={isRight ? "right" : "wrong"}>
        {isRight ? "✓" : "✗"}
      </span>
    </li>
  );
}

export function AnswerView({ seen }: { seen: Seen }) {
  const answer = seen.answer;
  return (
    <div class="learn-answer">
      <p class="faint">
        Its answer{" "}
        <span class="number">
          {`· ${percent(seen.exact)} of the examples held out answered without a fault`}
        </span>
      </p>
      <ol class="tokens">
        {answer.map((said, i) => (
          <Word key={i} {...said} />
        ))}
      </ol>
    </div>
  );
}
