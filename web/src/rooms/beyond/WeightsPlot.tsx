/** The frame of a plot with the weights of its query in a row below. */
import type { ComponentChildren } from "preact";
import { px } from "#parts";
import { useWidth } from "../../shared/useWidth";

export interface Plot {
  readonly width: number;
  /** The height of all, with the numbers below the row. */
  readonly height: number;
  readonly rowTop: number;
  readonly rowBottom: number;
  readonly rowHeight: number;
}

const gap = 28;

interface WeightsPlotProps {
  label: string;
  /** The height of the plot without the row. */
  height: number;
  rowHeight: number;
  children(plot: Plot): ComponentChildren;
}

export function WeightsPlot({ label, height, rowHeight, children }: WeightsPlotProps) {
  const [ref, width] = useWidth<HTMLFieldSetElement>();
  const rowTop = height + gap;
  const rowBottom = rowTop + rowHeight;
  const plot = { width, height: rowBottom + 36, rowTop, rowBottom, rowHeight };
  return (
    <fieldset ref={ref} class="plot" style={{ height: px(plot.height) }} aria-label={label}>
      {width > 0 && children(plot)}
    </fieldset>
  );
}
