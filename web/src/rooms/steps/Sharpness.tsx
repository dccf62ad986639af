/** The sharpness of the selected query's attention: its largest weight, and the entropy of its row. */

import { at, format, shorten } from "#parts";
import type { Solution } from "./problem";
import { viewOf } from "./viewOf";
import { useStepsWorkspace } from "./workspace";

/** The softmax counts as saturated from this largest weight on. */
const saturated = 0.95;

export interface Sharp {
  readonly largest: number;
  /** The key with the largest weight; -1 if all keys are hidden. */
  readonly key: number;
  /** The entropy of the row, in bits. */
  readonly entropy: number;
  readonly visible: number;
}

function sharpnessOf(solution: Solution, head: number, row: number): Sharp | null {
  const weights = viewOf(solution, "weights", head);
  const masked = viewOf(solution, "masked", head);
  if (!weights || !masked || row >= weights.rows) return null;
  let [largest, key, visible] = [0, -1, 0];
  for (let j = 0; j < weights.cols; ++j) {
    if (at(masked, row, j) === Number.NEGATIVE_INFINITY) continue;
    ++visible;
    const weight = at(weights, row, j);
    if (weight > largest) [largest, key] = [weight, j];
  }
  const nats = solution.arrays.entropy[head * weights.rows + row] as number;
  return { largest, key, entropy: nats / Math.LN2, visible };
}

/** The entropy of equal weights on all visible keys, in bits. */
const mostEntropyOf = ({ visible }: Sharp) => Math.log2(Math.max(1, visible));

/** The rounding error of the entropy, in bits. */
const rounding = 1e-4;

/** Explains the sharpness of the weights, and how to change it. */
export function sharpnessWords(
  sharp: Sharp,
  { scaled, headSize }: { scaled: boolean; headSize: number },
): string {
  const { visible, largest, entropy } = sharp;
  if (visible === 0) return "With no key to see, it has no weights.";
  if (visible === 1) return "It may see only one key, which gets all its attention.";
  if (mostEntropyOf(sharp) - entropy < rounding)
    return "Its scores are equal, and at any temperature its weights.";
  if (largest >= saturated)
    return "The softmax is saturated: one key gets nearly all the attention.";
  if (!scaled)
    return "The division by √d is off: the longer the vectors, the larger the largest weight.";
  const way = headSize > 1 ? "Undivided, or at" : "At";
  return `${way} a lower temperature, the largest weight grows.`;
}

export function Meter({ share }: { share: number }) {
  return (
    <span class="meter" aria-hidden="true">
      <span style={{ width: `${100 * Math.max(0, Math.min(1, share))}%` }} />
    </span>
  );
}

export function Sharpness() {
  const { attention, state, solution } = useStepsWorkspace();
  const sharp = solution && sharpnessOf(solution, attention.head, attention.row);
  const query = `“${shorten(attention.queries.tokens[attention.row] ?? "", 16)}”`;
  if (!sharp) return <div class="sharpness small" />;
  const { largest, key, entropy } = sharp;
  const mostEntropy = mostEntropyOf(sharp);
  return (
    <div class="sharpness small">
      <p class="line">
        Largest weight of {query} <b class="number">{format(largest)}</b>
        <Meter share={largest} />
        <span class="faint">
          {key < 0 ? "no key may be seen" : `on “${shorten(attention.keys.tokens[key] ?? "", 16)}”`}
        </span>
      </p>
      <p class="line">
        Its entropy <b class="number">{format(entropy)} bits</b>
        <Meter share={mostEntropy > 0 ? entropy / mostEntropy : 0} />
        <span class="faint number">of at most {format(mostEntropy)}</span>
      </p>
      <p class="faint line">
        {sharpnessWords(sharp, { scaled: state.scaled, headSize: attention.headSize })}
      </p>
    </div>
  );
}
