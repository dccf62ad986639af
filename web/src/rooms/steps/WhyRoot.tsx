/** Why scores are divided by √d: the weights and the gradients of vectors of length d, with and without the division. */

import { format, formatWeight, shorten } from "heed/view/parts";
import { useMemo } from "preact/hooks";
import { Curve } from "../../picture/Curve";
import { Slider } from "../../shared/Fields";
import { Notices } from "../../shared/Notices";
import { useAnswer } from "../../worker/engineClient";
import { Meter } from "./Sharpness";
import { mostTrialKeys, type TrialSide, trialSizes } from "./trial";
import { useStepsWorkspace } from "./workspace";

/** The maximum of the gradient w(1 − w), at w = one half. */
const mostGradient = 0.25;

const exponents = trialSizes.map((size) => Math.log2(size));
const limits = { min: exponents[0] as number, max: exponents.at(-1) as number };
const sizeTexts = trialSizes.map(String);
/** The values before the engine's answer. */
const unknown = trialSizes.map(() => Number.NaN);
const gradientRange = { low: 0, high: mostGradient };

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

export function WhyRoot() {
  const { state, attention, set } = useStepsWorkspace();
  const { seed, trialSize } = state;
  const keys = attention.keys.tokens.slice(0, mostTrialKeys);
  const request = useMemo(
    () => (keys.length > 0 ? { keys, seed } : null),
    [JSON.stringify(keys), seed],
  );
  const { answer, failure } = useAnswer("trial", request);
  const place = trialSizes.indexOf(trialSize as (typeof trialSizes)[number]);
  const choose = (index: number) => set({ trialSize: trialSizes[index] ?? trialSize });
  const shown = answer?.request.keys ?? keys;
  return (
    <section class="why-root" aria-labelledby="why-root-title">
      <div class="why-root-words">
        <h3 id="why-root-title">Why divide by √d?</h3>
        <Notices notices={failure ? [failure] : []} />
        <p>
          A score sums d products, so it grows with √d. Undivided, one key gets nearly all weight w,
          and the gradient ∂w/&#8288;∂score = w(1 − w) nearly vanishes.
        </p>
        <p class="faint">
          Random vectors of mean 0 and variance 1 (Vaswani et al., 2017, section 3.2.1, footnote 4).
        </p>
      </div>
      <Slider
        label="Length d of the vectors"
        value={place + limits.min}
        limits={limits}
        step={1}
        text={String(trialSize)}
        onChange={(exponent) => choose(exponent - limits.min)}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label="Weights and gradients">
        <table>
          <thead>
            <tr>
              <th rowSpan={2} scope="col">
                key
              </th>
              <th colSpan={3} scope="colgroup" class="side">
                divided by √{trialSize}
              </th>
              <th colSpan={3} scope="colgroup" class="side">
                not divided
              </th>
            </tr>
            <tr>
              {["divided", "plain"].map((side) => [
                <th key={`${side} score`} class="score" scope="col">
                  score
                </th>,
                <th key={`${side} weight`} scope="col">
                  weight
                </th>,
                <th key={`${side} gradient`} scope="col">
                  gradient
                </th>,
              ])}
            </tr>
          </thead>
          <tbody>
            {shown.map((key, j) => (
              <tr key={j}>
                <th scope="row">
                  <bdi>{shorten(key, 12)}</bdi>
                </th>
                {answer ? (
                  [answer.divided, answer.plain].map((side, i) => (
                    <Numbers key={i} side={side} at={place * shown.length + j} />
                  ))
                ) : (
                  <td colSpan={6} />
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <Curve
        title="Mean gradient"
        xName="d"
        xTexts={sizeTexts}
        yName="mean gradient of 64 queries"
        x={exponents}
        series={[
          { name: "divided by √d", y: answer?.divided.meanGradients ?? unknown },
          { name: "not divided", y: answer?.plain.meanGradients ?? unknown },
        ]}
        range={gradientRange}
        height={140}
        cursor={place}
        onCursor={choose}
      />
    </section>
  );
}
