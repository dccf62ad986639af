/** Explains the number of threads, and how to get more. */
import type { SpeedReport } from "./report";
import { coresOf, threadsOf } from "./units";

const headers = `Cross-Origin-Opener-Policy: same-origin
Cross-Origin-Embedder-Policy: require-corp`;

function Now({ report }: { report: SpeedReport }) {
  const threads = report.contenders[0]?.threads ?? 1;
  if (!report.isIsolated)
    return (
      <p>
        Here the engine has <b>one thread</b>; <code>heed.info.reason</code> says why:{" "}
        <q>{report.reason}</q>.
      </p>
    );
  return (
    <p>
      This page is isolated and the browser reports {coresOf(report.cores)}: the engine uses{" "}
      <b>{threadsOf(threads)}</b>
      {report.cores > threads && `, its default limit; load({ threads }) asks for more`}.
      {report.reason && ` It also reports: ${report.reason}.`}
    </p>
  );
}

export function Threads({ report }: { report: SpeedReport | null }) {
  return (
    <section class="threads column" aria-label="Threads">
      {report && <Now report={report} />}
      <How />
    </section>
  );
}

function How() {
  return (
    <>
      <p>
        Threads share memory, which makes a clock so precise that a page could read other data in
        its process (Spectre, 2018). So browsers allow them only in a page that is{" "}
        <b>cross-origin isolated</b>. A server isolates it with two headers:
      </p>
      <pre>{headers}</pre>
      <ul class="column">
        <li>
          On a host that cannot send them, this Playground's service worker adds them: it needs a
          secure address (https or localhost) and reloads the page on the first visit.
        </li>
        <li>
          In a frame, the page around it must be isolated too and allow it:{" "}
          <code>{'<iframe allow="cross-origin-isolated">'}</code>.
        </li>
        <li>
          What the page loads from another origin must allow this, by{" "}
          <code>Cross-Origin-Resource-Policy</code> or CORS.
        </li>
        <li>Without isolation everything works in one thread, with the same numbers.</li>
      </ul>
    </>
  );
}
