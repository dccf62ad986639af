/** Runs measurements one at a time, each in its own worker, which ends with the run. */
import { useEffect, useRef, useState } from "preact/hooks";
import { EngineClient } from "../../worker/engineClient";
import type { MeasuringNews, MeasuringRequest, SpeedReport, SpeedSettings } from "./report";

export type Measuring = ReturnType<typeof useRun>;

/** Milliseconds without a further change before new settings are measured. */
const patience = 500;

/** The settings that every run depends on. */
const keys = ["heads", "size", "causal", "window"] as const;

/** Measures in a worker of its own, which ends with the measurement or when the signal is aborted. */
async function measure(
  request: MeasuringRequest,
  signal: AbortSignal,
  progress: (news: MeasuringNews) => void,
): Promise<SpeedReport> {
  const engine = new EngineClient();
  signal.addEventListener("abort", () => engine.dispose());
  try {
    return await engine.ask("speed", request, { signal, progress });
  } finally {
    engine.dispose();
  }
}

export function useRun(settings: SpeedSettings) {
  const { heads, size, causal, window, longest } = settings;
  /** The report of the current run, or of the last one. */
  const [report, setReport] = useState<SpeedReport | null>(null);
  /** Null while no measurement is running. */
  const [news, setNews] = useState<Pick<MeasuringNews, "share" | "doing"> | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const current = useRef<AbortController | null>(null);

  const start = async (isLong: boolean, writing: MeasuringRequest["writing"] = null) => {
    current.current?.abort();
    const controller = new AbortController();
    const { signal } = controller;
    current.current = controller;
    setFailure(null);
    setNews({ share: 0, doing: "starting an engine" });
    // Absolute, because the worker's base address differs from the page's.
    const base = new URL(".", document.baseURI).href;
    const request = { base, settings: { heads, size, causal, window, longest }, isLong, writing };
    try {
      const measured = await measure(request, signal, ({ report, ...news }) => {
        if (signal.aborted) return;
        setNews(news);
        if (report) setReport(report);
      });
      if (!signal.aborted) setReport(measured);
    } catch (error) {
      if (!signal.aborted) setFailure((error as Error).message);
    }
    if (current.current === controller) setNews(null);
  };
  const cancel = () => {
    current.current?.abort();
    current.current = null;
    setNews(null);
    setFailure(
      report
        ? "Cancelled: what was measured until then is shown."
        : "Cancelled before anything was measured.",
    );
  };

  // The short run starts automatically, and again when the settings change.
  const isFirst = useRef(true);
  useEffect(() => {
    const writing = typeof report?.writing === "object" ? report.writing : null;
    const timer = setTimeout(() => void start(false, writing), isFirst.current ? 0 : patience);
    isFirst.current = false;
    return () => clearTimeout(timer);
  }, [heads, size, causal, window]);
  useEffect(() => () => current.current?.abort(), []);

  const measured = report?.request.settings;
  /** Whether the report belongs to other settings, because the run of the present ones has no figures yet. */
  const isStale = measured !== undefined && keys.some((key) => measured[key] !== settings[key]);
  return { report, isStale, news, failure, start: (isLong: boolean) => void start(isLong), cancel };
}
