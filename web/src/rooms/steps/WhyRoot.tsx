/** Why scores are divided by √d: the weights and the gradients of vectors of length d, with and without the division. */

import { useMemo } from "preact/hooks";
import { Curve } from "../../picture/Curve";
import { Slider } from "../../shared/Fields";
import { Notices } from "../../shared/Notices";
import { useAnswer } from "../../worker/engineClient";
import { TrialTable } from "./TrialTable";
import { TrialVectors } from "./TrialVectors";
import { mostGradient, mostTrialKeys, trialSizes } from "./trial";
import type { StepsWorkspace } from "./workspace";

const exponents = trialSizes.map((size) => Math.log2(size));
const limits = { min: exponents[0] as number, max: exponents.at(-1) as number };
const sizeTexts = trialSizes.map(String);
/** The values before the engine's answer. */
const unknown = trialSizes.map(() => Number.NaN);
const gradientRange = { low: 0, high: mostGradient };

function Words() {
  return (
    <div class="why-root-words">
      <p>
        A score sums d products, so it grows with √d. Undivided, one key gets nearly all weight w,
        and the gradient ∂w/&#8288;∂score = w(1 − w) nearly vanishes.
      </p>
      <p class="faint">
        Random vectors of mean 0 and variance 1 (Vaswani et al., 2017, section 3.2.1, footnote 4).
      </p>
    </div>
  );
}

export function WhyRoot({
  state,
  attention,
  set,
}: Pick<StepsWorkspace, "state" | "attention" | "set">) {
  const { seed, trialSize } = state;
  const keys = attention.keys.tokens.slice(0, mostTrialKeys);
  const request = useMemo(
    () => (keys.length > 0 ? { keys, seed } : null),
    [JSON.stringify(keys), seed],
  );
  const { answer, failure } = useAnswer("trial", request);
  const place = trialSizes.indexOf(trialSize as (typeof trialSizes)[number]);
  const choose = (index: number) => set({ trialSize: trialSizes[index] ?? trialSize });
  const shown = { keys: answer?.request.keys ?? keys, size: trialSize, answer };
  return (
    <section class="why-root column" aria-labelledby="why-root-title">
      <h3 id="why-root-title">Why divide by √d?</h3>
      <Notices notices={failure ? [failure] : []} />
      <Words />
      <Slider
        label="Length d of the vectors"
        value={place + limits.min}
        limits={limits}
        step={1}
        text={String(trialSize)}
        onChange={(exponent) => choose(exponent - limits.min)}
      />
      <TrialVectors {...shown} />
      <TrialTable {...shown} place={place} />
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
