/** The legend of a plot, with each line and mark drawn as in the plot. */
import type { ComponentChildren } from "preact";

type PlotMark = "estimate" | "average" | "straight" | "truth" | "kernel" | "ring";

function LegendMark({ kind }: { kind: PlotMark }) {
  if (kind === "ring") return <circle class="ring" cx="12" cy="6" r="5" />;
  return <path class={kind} d={kind === "kernel" ? "M0 2H24V10H0Z" : "M0 6H24"} />;
}

export function PlotLegend({
  marks,
}: {
  marks: readonly (readonly [PlotMark, ComponentChildren])[];
}) {
  return (
    <p class="plot-legend curve-legend line small faint">
      {marks.map(([kind, words]) => (
        <span key={kind}>
          <svg width="24" height="12" aria-hidden="true">
            <LegendMark kind={kind} />
          </svg>{" "}
          {words}
        </span>
      ))}
    </p>
  );
}
