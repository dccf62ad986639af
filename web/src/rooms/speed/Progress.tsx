/** The progress of a run, its result in a sentence, and the buttons that start and cancel one. */
import { percent } from "../../shared/format";
import {
  type Case,
  type Contender,
  defaultContenderOf,
  isDisturbed,
  limitOf,
  measurementOf,
  ratioOf,
  type SpeedReport,
  speedOf,
  type Timing,
} from "./report";
import { describe } from "./rows";
import { threeDigits } from "./units";
import type { Measuring } from "./useRun";

/**
 * The ratio to the time for half as many tokens; null if a mask or a window hides pairs, or if the rounds differ much.
 */
function growthOf(report: SpeedReport, one: Case, by: Contender): number | null {
  const { queries, causal, window } = one.sizes;
  const half = report.cases.find(
    ({ kind, sizes }) => kind === "attention" && sizes.queries === queries / 2,
  );
  const [whole, less] = [one, half].map((each) => each && measurementOf(report, each, by)?.timing);
  const isLesson = !causal && window === 0 && !isDisturbed(report);
  return isLesson && whole && less ? whole.median / less.median : null;
}

/** The speedup by threads in this run, case by case; null if there is only one thread. */
export function threadWords(report: SpeedReport, { variant, threads }: Contender): string | null {
  const alone = report.contenders.find((other) => other.variant === variant && other.threads === 1);
  const many = report.contenders.find(
    (other) => other.variant === variant && other.threads === threads,
  );
  if (!alone || !many || threads === 1) return null;
  const gains = report.cases.flatMap((one) => {
    const [slow, fast] = [alone, many].map((by) => measurementOf(report, one, by)?.timing);
    return one.kind === "attention" && slow && fast
      ? [{ name: one.sizes.queries, gain: ratioOf(slow, fast) }]
      : [];
  });
  if (gains.length === 0) return null;
  const list = gains.map(({ name, gain }) => `${threeDigits(gain)} at ${name}`).join(", ");
  const lost = gains.filter(({ gain }) => gain < 1).length;
  const verdict =
    lost === 0
      ? ""
      : lost === gains.length
        ? " The threads did not help in this run: another program may be using the other core."
        : " Where the speedup is below 1, the threads made it slower.";
  return `Speedup of ${threads} threads over one: ${list} tokens.${verdict}`;
}

/** The result of a run in a sentence. */
export function Result({ report }: { report: SpeedReport }) {
  const best = defaultContenderOf(report);
  const plain = report.contenders.find(({ variant }) => variant === null);
  if (!best || !plain) return null;
  const timingOf = (one: Case, by: typeof best) => measurementOf(report, one, by)?.timing;
  const longest = report.cases.findLast(
    (one) => one.kind === "attention" && timingOf(one, best) && timingOf(one, plain),
  );
  if (!longest) return null;
  const [our, their] = [timingOf(longest, best), timingOf(longest, plain)] as [Timing, Timing];
  const [ours, theirs, ratio] = [our.median, their.median, ratioOf(their, our)];
  const limit = limitOf(report, longest, best);
  const speed = speedOf(longest, ours);
  const growth = growthOf(report, longest, best);
  const threads = threadWords(report, best);
  return (
    <>
      Attention over {longest.name}, {describe(longest)}, takes <b>{threeDigits(ours)} ms</b> in the
      engine ({best.name}) and <b>{threeDigits(theirs)} ms</b> in plain JavaScript:{" "}
      <b>{threeDigits(ratio)} times</b> as long. The engine performs {threeDigits(speed)} billion
      operations a second
      {limit !== null && `, ${percent(speed / limit)} of the limit that was measured here`}.
      {growth !== null &&
        ` Twice the tokens are four times the pairs: ${longest.name} took ${threeDigits(growth)} times as long as half of them.`}
      {threads !== null && ` ${threads}`}
      {isDisturbed(report) &&
        " But the rounds differ widely, because the machine is busy. Measure again when it is idle."}
    </>
  );
}

export function Progress({ measuring }: { measuring: Measuring }) {
  const { report, news, start, cancel } = measuring;
  return (
    <section class="run" aria-label="The run">
      <p class="run-result" aria-live="polite">
        {!news && report && <Result report={report} />}
        {news && `Measuring: ${news.doing} …`}
      </p>
      <div class="run-line">
        {news ? (
          <>
            <progress aria-label="Progress of the run" max={1} value={news.share} />
            <button type="button" onClick={cancel}>
              Cancel
            </button>
          </>
        ) : (
          <>
            <button type="button" onClick={() => start(false)}>
              Measure again
            </button>
            <button type="button" onClick={() => start(true)}>
              Measure at length
            </button>
          </>
        )}
      </div>
    </section>
  );
}
