/** The prediction that the model would make if the stream ended here (the "logit lens": nostalgebraist, 2020). */
import { percent } from "../shared/format";
import { label } from "../shared/pieces";
import type { Reading } from "./messages";

const share = (value: number) => (value < 0.001 ? "< 0.1 %" : percent(value, value < 0.1 ? 1 : 0));

interface WordsProps {
  reading: Reading;
  count: number;
  /** The token that is the most likely one at the end; it is marked. */
  winner: number | undefined;
}

/** The most likely tokens of a reading. */
export function Words({ reading, count, winner }: WordsProps) {
  return (
    <span class="said-words line">
      {Array.from(reading.ids.subarray(0, count), (id, i) => (
        <span
          key={id}
          class={id === winner ? "role-o" : undefined}
          data-said={id}
          data-share={reading.shares[i]}
        >
          <bdi>{label(reading.words[i] as string)}</bdi>{" "}
          <span class="faint number">{share(reading.shares[i] as number)}</span>
        </span>
      ))}
    </span>
  );
}

export interface PredictionProps {
  readonly reading: Reading;
  readonly isLast: boolean;
  readonly winner: number | undefined;
}

export function Prediction({ reading, isLast, winner }: PredictionProps) {
  return (
    <p class="read-out line prose">
      <span class="faint">{isLast ? "It says:" : "If it ended here, it would say:"}</span>{" "}
      <Words reading={reading} count={5} winner={winner} />
    </p>
  );
}
