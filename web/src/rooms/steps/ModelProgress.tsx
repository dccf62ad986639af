/** How much of our language model has come. */
import { useMemo, useRef } from "preact/hooks";
import { loadingOf, type News } from "../../shared/loading";
import { Progress } from "../../shared/Progress";

export function ModelProgress({ news, cancel }: { news: News; cancel(): void }) {
  const loadingAt = useRef(loadingOf("Our language model"));
  const loading = useMemo(() => loadingAt.current(news), [news]);
  return <Progress {...{ loading, cancel }} />;
}
