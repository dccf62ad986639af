/** How far the run is, what it found in a sentence, and the buttons that begin and end one. */
import { bestOf, type Case, figureOf, isDisturbed, limitOf, type Report, speedOf } from "./report";
import { describe } from "./rows";
import { percent, threeDigits } from "./units";
import type { Measuring } from "./useRun";

/** What a person who is in a hurry wants to know. */
export function Result({ report }: { report: Report }) {
  const best = bestOf(report);
  const plain = report.contenders.find(({ variant }) => variant === null);
  if (!best || !plain) return null;
  const timeOf = (one: Case, by: typeof best) => figureOf(report, one, by)?.timing?.median;
  const longest = report.cases.findLast(
    (one) => one.kind === "attention" && timeOf(one, best) && timeOf(one, plain),
  );
  if (!longest) return null;
  const ours = timeOf(longest, best) as number;
  const theirs = timeOf(longest, plain) as number;
  const limit = limitOf(report, longest, best);
  const speed = speedOf(longest, ours);
  return (
    <>
      Attention over {longest.name}, {describe(longest)}, takes <b>{threeDigits(ours)} ms</b> in the
      engine ({best.name}) and <b>{threeDigits(theirs)} ms</b> in plain JavaScript:{" "}
      <b>{threeDigits(theirs / ours)} times</b> as long. That is {threeDigits(speed)} billion
      operations a second
      {limit !== null && `, ${percent(speed / limit)} of the most that was measured here`}.
      {isDisturbed(report) &&
        " But the rounds differ much: something else keeps this machine busy. Measure again when it is at rest."}
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
