/**
 * Matrix products: one factor on the left, one or more above it, and their products in the corners. A row and a column
 * meet in their cell.
 */
import { productGap, productLayout, px } from "#parts";
import { type FigureLabels, figureMatrix, noteOf, useLabels } from "./figureLabels";
import type { MatrixName } from "./matrices";
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

/** The largest height of a matrix of few rows above another one, in pixels. */
const fewRowsHeight = 220;

export function layoutOf({ left, columns }: Product, width: number, labels: FigureLabels) {
  const matrix = (name: MatrixName) => figureMatrix(name, labels);
  const product = {
    left: matrix(left),
    columns: columns.map(({ top, flip = false, corner }) => ({
      ...{ top: matrix(top), flip, corner: matrix(corner) },
    })),
  };
  const { topCell: whole, ...layout } = productLayout(product, width, labels);
  const { inner } = layout;
  // The more rows a matrix above another one has, the lower it is, so that the product is visible too.
  const lowest = Math.max(width / 6, fewRowsHeight - inner) / inner;
  const topCell = { ...whole, height: Math.min(whole.height, lowest) };
  return { ...layout, topCell, height: layout.height - inner * (whole.height - topCell.height) };
}

export function ProductFigure({ product, width }: { product: Product; width: number }) {
  const { left } = product;
  const layout = layoutOf(product, width, useLabels());
  const { leftLabels, parts, inner, cell, topCell } = layout;
  const leftOptions: PictureOptions = { cell, labels: leftLabels };
  const place = (row: number, column: number) => ({ gridRow: row, gridColumn: column });
  const topOptions = ({ topLabels: labels, flip }: (typeof parts)[number]): PictureOptions => ({
    ...{ cell: topCell, labels, flip },
  });
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
        {parts.map((part, i) => {
          const note = noteOf(part.size * cell.width);
          return [
            <div key={part.top} style={place(1, i + 2)} {...(part.flip && { "data-flipped": "" })}>
              <NamedMatrix name={part.top} options={topOptions(part)} {...note} />
            </div>,
            <div key={part.corner} style={place(2, i + 2)}>
              <NamedMatrix name={part.corner} options={{ cell }} {...note} />
            </div>,
          ];
        })}
      </div>
      <div class="legends">
        <NamedLegend name={left} options={leftOptions} />
        {parts.map(({ corner }) => (
          <NamedLegend key={corner} name={corner} options={{ cell }} />
        ))}
        {parts.map((part) => (
          <NamedLegend key={part.top} name={part.top} options={topOptions(part)} />
        ))}
      </div>
    </div>
  );
}
