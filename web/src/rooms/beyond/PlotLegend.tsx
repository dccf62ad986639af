/** The legend of a plot, with each line and mark drawn as in the plot. */
import type { ComponentChildren } from "preact";

type PlotMark = "estimate" | "average" | "straight" | "truth" | "kernel" | "ring";

type Mark = readonly [PlotMark, ComponentChildren];

export function PlotLegend({ marks }: { marks: readonly Mark[] }) {
  return (
    <p class="plot-legend curve-legend line small faint">
      {marks.map(([kind, words]) => (
        <span key={kind}>
          <svg width="24" height="12" aria-hidden="true">
            {kind === "ring" && <circle class={kind} cx="12" cy="6" r="5" />}
            {kind !== "ring" && (
              <path class={kind} d={kind === "kernel" ? "M0 2H24V10H0Z" : "M0 6H24"} />
            )}
          </svg>{" "}
          {words}
        </span>
      ))}
    </p>
  );
}
