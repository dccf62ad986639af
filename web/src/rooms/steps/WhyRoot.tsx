/** Why scores are divided by √d: the weights and the gradients of vectors of length d, with and without the division. */

import { useMemo } from "preact/hooks";
import {
  format,
  formatWeight,
  leftOf,
  type MatrixView,
  shorten,
  signedPalette,
  viewOn,
} from "#parts";
import { Curve } from "../../picture/Curve";
import { HeatMap, usePicture } from "../../picture/Matrix";
import { Slider } from "../../shared/Fields";
import { Notices } from "../../shared/Notices";
import { useShell } from "../../shared/shell";
import { useWidth } from "../../shared/useWidth";
import { useAnswer } from "../../worker/engineClient";
import { Meter } from "./Sharpness";
import {
  mostGradient,
  mostTrialKeys,
  mostTrialSize,
  type TrialAnswer,
  type TrialSide,
  trialSizes,
} from "./trial";
import type { StepsWorkspace } from "./workspace";

const exponents = trialSizes.map((size) => Math.log2(size));
const limits = { min: 0, max: trialSizes.length - 1 };
const sizeTexts = trialSizes.map(String);
/** The values before the engine's answer. */
const unknown = trialSizes.map(() => Number.NaN);
const gradientRange = { low: 0, high: mostGradient };

interface TrialProps {
  keys: readonly string[];
  /** The length of the vectors that is shown. */
  size: number;
  answer: TrialAnswer | null;
}

/** Numbers that are farther from 0 have the same colour. Few normal numbers are. */
const farthest = 3;
const rowHeight = 20;
const widestCell = 36;

/** The vectors of the trial: the numbers of one query, and below them the numbers of each key. */
function TrialVectors({ keys, size, answer }: TrialProps) {
  const { theme } = useShell();
  const [ref, width] = useWidth<HTMLDivElement>();
  const rows = keys.length + 1;
  const view = useMemo((): MatrixView | null => {
    // Shorter vectors are the first numbers of longer ones.
    return answer && { ...viewOn(answer.vectors, rows, mostTrialSize), cols: size };
  }, [answer, rows, size]);
  const labels = { rows: ["query", ...keys.map((key) => shorten(key, 12))] };
  const room = Math.max(0, width - leftOf(labels) - 1);
  const picture = usePicture({
    ...{ view, rows, cols: size, labels },
    palette: useMemo(() => signedPalette(farthest, theme), [theme]),
    cell: { width: Math.min(widestCell, room / size), height: rowHeight },
  });
  return (
    <div ref={ref} class="trial-vectors">
      {width > 0 && (
        <HeatMap name="trialVectors" title={`Vectors of ${size} numbers`} picture={picture} />
      )}
    </div>
  );
}

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

function TrialHead({ size }: { size: number }) {
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

/**
 * The weights and the gradients of one query, with the division by √d and without.
 *
 * @param props.place the index of the length in `trialSizes`
 */
function TrialTable({ keys, size, place, answer }: TrialProps & { place: number }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label="Weights and gradients">
      <table class="number">
        <TrialHead size={size} />
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
      <div class="why-root-words">
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
        value={place}
        limits={limits}
        step={1}
        text={String(trialSize)}
        onChange={choose}
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
