/** One matrix on the left, one or more above it, and in the corners their products: a row meets a column in its cell. */
import {
  geometryOf,
  heightOf,
  type Labels,
  leftOf,
  px,
  tokenAxes,
  topCellsFor,
} from "heed/view/parts";
import { type FigureLabels, noteOf, stageCells, useLabels } from "./figureLabels";
import { kindOf, type MatrixName } from "./matrices";
import { NamedLegend, NamedMatrix, type PictureOptions } from "./solution";

export interface Product {
  readonly left: MatrixName;
  readonly columns: readonly ProductColumn[];
}

interface ProductColumn {
  readonly top: MatrixName;
  readonly flip?: boolean;
  readonly corner: MatrixName;
}

/** Between two matrices. */
export const productGap = 16;
const nameHeight = 28;

export function layoutOf({ left, columns }: Product, width: number, labels: FigureLabels) {
  const { queries, keys, sizes } = labels;
  const leftKind = kindOf(left);
  const leftLabels: Labels = {
    rows: leftKind.rows === "query" ? queries : keys,
    chips: true,
    ...(columns.some(({ flip }) => flip) && { rowAxis: tokenAxes.rowAxis }),
  };
  const parts = columns.map(({ top, flip = false, corner }) => {
    const topLabels: Labels = flip ? { cols: keys, colAxis: tokenAxes.colAxis, chips: true } : {};
    return { top, flip, corner, topLabels, size: sizes[kindOf(corner).cols] };
  });
  const inner = sizes[leftKind.cols];
  const rows = sizes[leftKind.rows];
  // The width of a picture is rounded up.
  const gutters = parts.reduce(
    (all, { topLabels }) => all + leftOf(topLabels) + productGap + 1,
    leftOf(leftLabels) + 1,
  );
  const total = inner + parts.reduce((all, { size }) => all + size, 0);
  const cell = stageCells(width - gutters, total, rows);
  const topCell = topCellsFor(cell, inner);
  const above = Math.max(
    ...parts.map(({ topLabels, size }) => heightOf(geometryOf(inner, size, topCell, topLabels))),
  );
  const height = above + productGap / 2 + 2 * nameHeight + rows * cell.height;
  return { leftLabels, parts, inner, cell, topCell, height };
}

export function ProductFigure({ product, width }: { product: Product; width: number }) {
  const { left } = product;
  const { leftLabels, parts, inner, cell, topCell } = layoutOf(product, width, useLabels());
  const leftOptions: PictureOptions = { cell, labels: leftLabels };
  const place = (row: number, column: number) => ({ gridRow: row, gridColumn: column });
  return (
    <div>
      <div
        class="figure-grid"
        style={{
          gridTemplateColumns: `repeat(${parts.length + 1}, max-content)`,
          columnGap: px(productGap),
          rowGap: px(productGap / 2),
        }}
      >
        <div style={place(2, 1)}>
          <NamedMatrix name={left} options={leftOptions} {...noteOf(inner * cell.width)} />
        </div>
        {parts.map(({ top, flip, corner, topLabels, size }, i) => [
          <div key={top} style={place(1, i + 2)} {...(flip && { "data-flipped": "" })}>
            <NamedMatrix
              name={top}
              options={{ cell: topCell, labels: topLabels, flip }}
              {...noteOf(size * cell.width)}
            />
          </div>,
          <div key={corner} style={place(2, i + 2)}>
            <NamedMatrix name={corner} options={{ cell }} {...noteOf(size * cell.width)} />
          </div>,
        ])}
      </div>
      <div class="legends">
        <NamedLegend name={left} options={leftOptions} />
        {parts.map(({ corner }) => (
          <NamedLegend key={corner} name={corner} options={{ cell }} />
        ))}
        {parts.map(({ top, flip, topLabels }) => (
          <NamedLegend key={top} name={top} options={{ cell: topCell, labels: topLabels, flip }} />
        ))}
      </div>
    </div>
  );
}
