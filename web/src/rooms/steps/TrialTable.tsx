/** The weights and the gradients of one query, with the division by √d and without. */
import { format, formatWeight, shorten } from "#parts";
import { Meter } from "./Sharpness";
import { mostGradient, type TrialAnswer, type TrialSide } from "./trial";

/** A number with a bar, for quick comparison of the numbers in a column. */
function Bar({ value, most }: { value: number; most: number }) {
  return (
    <td class="bar-cell">
      {formatWeight(value)}
      <Meter share={value / most} />
    </td>
  );
}

function Numbers({ side, at }: { side: TrialSide; at: number }) {
  return (
    <>
      <td class="score">{format(side.scores[at] as number, 2)}</td>
      <Bar value={side.weights[at] as number} most={1} />
      <Bar value={side.gradients[at] as number} most={mostGradient} />
    </>
  );
}

function Head({ size }: { size: number }) {
  return (
    <thead>
      <tr>
        <th rowSpan={2} scope="col">
          key
        </th>
        <th colSpan={3} scope="colgroup" class="side">
          divided by √{size}
        </th>
        <th colSpan={3} scope="colgroup" class="side">
          not divided
        </th>
      </tr>
      <tr>
        {["divided", "plain"].map((side) =>
          ["score", "weight", "gradient"].map((what) => (
            <th key={`${side} ${what}`} class={what === "score" ? what : undefined} scope="col">
              {what}
            </th>
          )),
        )}
      </tr>
    </thead>
  );
}

interface TrialTableProps {
  keys: readonly string[];
  /** The length of the vectors, and its index in `trialSizes`. */
  size: number;
  place: number;
  answer: TrialAnswer | null;
}

export function TrialTable({ keys, size, place, answer }: TrialTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label="Weights and gradients">
      <table class="number">
        <Head size={size} />
        <tbody>
          {keys.map((key, j) => (
            <tr key={j}>
              <th scope="row">
                <bdi>{shorten(key, 12)}</bdi>
              </th>
              {answer ? (
                [answer.divided, answer.plain].map((side, i) => (
                  <Numbers key={i} side={side} at={place * keys.length + j} />
                ))
              ) : (
                <td colSpan={6} />
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
