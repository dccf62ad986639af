/** The progress of a run, its result in a sentence, and the buttons that start and cancel a run. */
import { percent } from "../../shared/format";
import { Term } from "../../shared/Term";
import {
  type Case,
  type Contender,
  isDisturbed,
  limitOf,
  measurementOf,
  ratioOf,
  type SpeedReport,
  speedOf,
  type WritingSpeed,
} from "./report";
import { describe } from "./rows";
import { threeDigits } from "./units";
import type { Measuring } from "./useRun";

/** The ratio to the time for half the tokens; null if pairs are hidden, or if the rounds differ much. */
function growthOf(report: SpeedReport, one: Case, by: Contender): number | null {
  const { queries, causal, window } = one.sizes;
  const half = report.cases.find(
    ({ kind, sizes }) => kind === "attention" && sizes.queries === queries / 2,
  );
  const [whole, less] = [one, half].map((each) => each && measurementOf(report, each, by)?.timing);
  const isLesson = !causal && window === 0 && !isDisturbed(report);
  return isLesson && whole && less ? whole.median / less.median : null;
}

/** The speedup by threads in this run, for each case; null if there is only one thread. */
function threadWords(report: SpeedReport, { variant, threads }: Contender): string | null {
  const by = (count: number) =>
    report.contenders.find((other) => other.variant === variant && other.threads === count);
  const [alone, many] = [by(1), by(threads)];
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
  const some = lost === 0 ? "" : " Below 1 they made it slower.";
  const verdict =
    lost === gains.length ? " They did not help: another program may use the other cores." : some;
  return `Speedup of ${threads} threads over one: ${list} tokens.${verdict}`;
}

/** The longest case that both the engine and plain JavaScript computed, with their timings. */
function comparisonOf(report: SpeedReport) {
  const [best] = report.contenders;
  const plain = report.contenders.find(({ variant }) => variant === null);
  const compared = report.cases.flatMap((longest) => {
    const [ours, theirs] = [best, plain].map(
      (by) => by && measurementOf(report, longest, by)?.timing,
    );
    return longest.kind === "attention" && best && ours && theirs
      ? [{ longest, best, ours, theirs }]
      : [];
  });
  return compared.at(-1) ?? null;
}

/** How fast our language model writes, in words. */
function WritingWords({ writing }: { writing: WritingSpeed }) {
  const { tokens, cached, uncached, words } = writing;
  return (
    <>
      Our language model writes <b>{threeDigits(cached)} tokens a second</b> here, about{" "}
      {threeDigits(cached * words)} words. Without its <Term name="cache" /> it writes{" "}
      <b>{threeDigits(uncached)}</b>, over {tokens} tokens.
    </>
  );
}

/** The result of a run in a sentence, or the reason why there is none yet. */
export function Result({ report, news, failure }: Pick<Measuring, "report" | "news" | "failure">) {
  const found = report && comparisonOf(report);
  if (!found) {
    if (!report && failure !== null) return <>Attention has not been measured yet.</>;
    return report && !news ? null : <>Attention is being measured in this browser …</>;
  }
  const { longest, ours, theirs } = found;
  return (
    <>
      Attention over {longest.name} takes <b>{threeDigits(ours.median)} ms</b> here, and{" "}
      <b>{threeDigits(theirs.median)} ms</b> in plain JavaScript:{" "}
      <b>{threeDigits(ratioOf(theirs, ours))} times</b> as long.
    </>
  );
}

/** Further results of a run, one in each line. Those that arrive late are at the end, so that they move nothing. */
export function Facts({ report }: { report: SpeedReport }) {
  const found = comparisonOf(report);
  const { writing } = report;
  const threads = found && threadWords(report, found.best);
  const growth = found && growthOf(report, found.longest, found.best);
  return (
    <>
      {threads && <li>{threads}</li>}
      {growth && (
        <li>
          Twice the tokens, four times the pairs: {found.longest.name} took {threeDigits(growth)}{" "}
          times as long as half.
        </li>
      )}
      {isDisturbed(report) && (
        <li>The rounds differ widely: the machine is busy. Measure again later.</li>
      )}
      {typeof writing === "string" && <li>Our language model was not measured: {writing}</li>}
    </>
  );
}

/** The result in operations a second. */
export function Operations({ report }: { report: SpeedReport | null }) {
  const found = report && comparisonOf(report);
  const limit = found && limitOf(report, found.longest, found.best);
  const speed = found ? speedOf(found.longest, found.ours.median) : 0;
  return (
    <p class="operations number">
      {found &&
        `${describe(found.longest)}, ${found.longest.name}, computed by ${found.best.name}: ${threeDigits(speed)} billion operations a second`}
      {limit && `, ${percent(speed / limit)} of the limit`}
    </p>
  );
}

export function Progress({ measuring }: { measuring: Measuring }) {
  const { report, news, failure, isStale, start, cancel } = measuring;
  return (
    <section class="run" aria-label="The run">
      {/* Partial results are visible, but screen readers announce only the last one. */}
      <p class={isStale ? "run-result stale" : "run-result"} aria-live={news ? "off" : "polite"}>
        <Result {...{ report, news, failure }} />
      </p>
      <p class={isStale ? "run-writing stale" : "run-writing"} aria-live="polite">
        {report?.writing && typeof report.writing !== "string" && (
          <WritingWords writing={report.writing} />
        )}
      </p>
      <div class="run-line line">
        {news ? (
          <>
            <button type="button" onClick={cancel}>
              Cancel
            </button>
            <progress aria-label="Progress of the run" max={1} value={news.share} />
            <span class="faint run-doing truncated">Measuring: {news.doing} …</span>
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
      <ul class="run-facts column number">{report && <Facts report={report} />}</ul>
    </section>
  );
}
