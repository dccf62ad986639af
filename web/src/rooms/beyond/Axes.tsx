/** The axes of a plot: faint lines and numbers around it. */
import type { Box } from "./axes";

/** Not the page's number format, because ticks are round already. */
const words = (tick: number) => String(tick).replace("-", "−");

export function Axes({
  box,
  xTicks,
  yTicks,
  placeX,
  placeY,
}: {
  box: Box;
  xTicks: readonly number[];
  yTicks: readonly number[];
  placeX(value: number): number;
  placeY(value: number): number;
}) {
  return (
    <g class="plot-axes number">
      {yTicks.map((tick) => (
        <g key={tick}>
          <path d={`M${box.left} ${placeY(tick)}H${box.right}`} />
          <text x={box.left - 6} y={placeY(tick)} text-anchor="end" dy="0.35em">
            {words(tick)}
          </text>
        </g>
      ))}
      {xTicks.map((tick) => (
        <text key={tick} x={placeX(tick)} y={box.bottom + 16} text-anchor="middle">
          {words(tick)}
        </text>
      ))}
    </g>
  );
}
