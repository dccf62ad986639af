/** The axes of a plot: faint lines and numbers around it. */
import type { Box, Tick } from "./scale";

interface AxesProps {
  box: Box;
  xTicks: readonly Tick[];
  yTicks: readonly Tick[];
  /** Whether the numbers along x stay between the ends of the axis. */
  isInside?: boolean;
}

export function Axes({ box, xTicks, yTicks, isInside = false }: AxesProps) {
  const anchorAt = (at: number) =>
    isInside && at === box.left ? "start" : isInside && at > box.right - 16 ? "end" : "middle";
  return (
    <g class="plot-axes number">
      {yTicks.map(({ at, text }) => (
        <g key={at}>
          <path d={`M${box.left} ${at}H${box.right}`} />
          <text x={box.left - 6} y={at} text-anchor="end" dy="0.35em">
            {text}
          </text>
        </g>
      ))}
      {xTicks.map(({ at, text }) => (
        <text key={at} x={at} y={box.bottom + 16} text-anchor={anchorAt(at)}>
          {text}
        </text>
      ))}
    </g>
  );
}
