/** Matrices in a row with signs between them, such as a sum, a step, or a product. */

import type { ComponentChildren } from "preact";
import { leftOf, px, rowLayout } from "#parts";
import { type FigureLabels, figureMatrix, noteOf, useLabels } from "./figureLabels";
import type { MatrixName } from "./matrices";
import { NamedLegend, NamedMatrix, useCommonDecimals } from "./solution";

export interface RowParts {
  readonly names: readonly MatrixName[];
  readonly signs: readonly string[];
}

/** Whether these matrices do not fit next to one another. */
export function isStacked({ names, signs }: RowParts, width: number, labels: FigureLabels) {
  const matrices = names.map((name) => figureMatrix(name, labels));
  return rowLayout(matrices, signs, width, labels).stacked;
}

interface RowFigureProps extends RowParts {
  width: number;
  /** A matrix below the first one, with aligned columns. */
  below?: { readonly name: MatrixName; readonly note: ComponentChildren };
}

export function RowFigure({ names, signs, width, below }: RowFigureProps) {
  const labels = useLabels();
  const matrices = names.map((name) => figureMatrix(name, labels));
  const layout = rowLayout(matrices, signs, width, labels);
  const { gap, signWidths, stacked, cell, lone, parts } = layout;
  /** Whether a sign fits before the name of the matrix below it. */
  const isBesideName = (i: number) =>
    stacked && (signWidths[i - 1] ?? 0) + gap <= leftOf(parts[i]?.labels ?? {});
  const decimals = useCommonDecimals(names, cell);
  const optionsOf = (part: (typeof parts)[number]) => ({ cell, labels: part.labels, decimals });
  return (
    <div>
      <div class={stacked ? "figure-row stacked" : "figure-row"}>
        {parts.map((part, i) => [
          i > 0 && (
            <div
              key={`sign ${part.name}`}
              class={`sign small faint ${isBesideName(i) ? "beside-name" : ""}`}
              style={{ margin: `0 ${px(gap)}`, width: px(signWidths[i - 1] ?? 0) }}
            >
              {signs[i - 1]}
            </div>
          ),
          <div key={part.name} style={{ paddingTop: px(part.above) }}>
            <NamedMatrix
              name={part.name}
              options={optionsOf(part)}
              {...noteOf(part.cols * cell.width)}
            />
            {i === 0 && below && (
              <div class="figure-below" style={{ paddingLeft: px(leftOf(part.labels)) }}>
                <NamedMatrix name={below.name} options={{ cell: lone }} note={below.note} />
              </div>
            )}
          </div>,
        ])}
      </div>
      <div class="legends">
        {parts.map((part) => (
          <NamedLegend key={part.name} name={part.name} options={optionsOf(part)} />
        ))}
        {below && <NamedLegend name={below.name} options={{ cell: lone }} />}
      </div>
    </div>
  );
}
