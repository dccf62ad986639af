/** Matrices in a row with signs between them, such as a sum, a step, or a product. */

import { geometryOf, type Labels, leftOf, px, textWidth, tokenAxes } from "heed/view/parts";
import type { ComponentChildren } from "preact";
import { type FigureLabels, noteOf, stageCells, useLabels } from "./figureLabels";
import { kindOf, type MatrixName } from "./matrices";
import { NamedLegend, NamedMatrix, useCommonDecimals } from "./solution";

/** Around a sign, on each side. */
const wideGap = 12;
const narrowGap = 3;
const narrowFigure = 480;
/** Labels are measured at 12 pixels; signs have 14. */
const signWidth = (sign: string) => Math.ceil((textWidth(sign) * 14) / 12);
/** Matrices are stacked rather than made narrower than this, if that gives them more space. */
const narrowest = 110;
const narrowestCell = 22;
/** A letter with an index. */
const nameWidth = 24;
/** Stacked matrices are no wider, so that both can be seen at once. */
const widestStacked = 560;
/** A single row needs a visible height, however many rows the other matrices have. */
const lowestRow = 14;

function labelsOf(name: MatrixName, before: MatrixName | null, labels: FigureLabels): Labels {
  const { rows, cols } = kindOf(name);
  const isPairs = rows === "query" && cols === "key";
  const tokens = rows === "query" ? labels.queries : rows === "key" ? labels.keys : undefined;
  // Rows of the same tokens continue from one matrix to the next, so only the first one names them.
  const known = before && kindOf(before).rows;
  const areSame = labels.queries.join() === labels.keys.join();
  const areNamed = known === rows || (areSame && (known === "query" || known === "key"));
  return {
    chips: true,
    ...(tokens && !areNamed && { rows: tokens }),
    ...(isPairs && { cols: labels.keys, ...tokenAxes }),
  };
}

export interface RowParts {
  readonly names: readonly MatrixName[];
  readonly signs: readonly string[];
}

export function RowFigure({
  names,
  signs,
  width,
  below,
}: RowParts & {
  width: number;
  /** A matrix below the first one, with aligned columns. */
  below?: { readonly name: MatrixName; readonly note: ComponentChildren };
}) {
  const labels = useLabels();
  const { sizes } = labels;
  const all = names.map((name, i) => {
    const { rows, cols } = kindOf(name);
    return {
      name,
      rows: sizes[rows],
      cols: sizes[cols],
      labels: labelsOf(name, names[i - 1] ?? null, labels),
    };
  });
  const gap = width < narrowFigure ? narrowGap : wideGap;
  const between = signs.reduce((sum, sign) => sum + signWidth(sign) + 2 * gap, 0);
  const columns = Math.max(
    1,
    all.reduce((sum, { cols }) => sum + cols, 0),
  );
  // The width of a picture is rounded up.
  const labelled = all.reduce((sum, part) => sum + leftOf(part.labels) + 1, between);
  // A name may be wider than its matrix.
  const beyond = all.map(({ cols }) => nameWidth - (cols * (width - labelled)) / columns);
  const gutters = beyond.reduce((sum, more) => sum + Math.max(0, more), labelled);
  const rows = Math.max(...all.map((part) => part.rows));
  const beside = (width - gutters) / columns;
  const widest = Math.max(...all.map(({ cols }) => cols));
  const isSmall = beside * widest < narrowest || beside < 1;
  const stacked = isSmall && beside < narrowestCell;
  const first = labelsOf(names[0] as MatrixName, null, labels);
  const room = stacked ? Math.min(width - leftOf(first), widestStacked) : width - gutters;
  const cell = stageCells(room, stacked ? widest : columns, rows);
  const lone = { ...cell, height: Math.max(cell.height, lowestRow) };
  const decimals = useCommonDecimals(names, cell);
  const parts = all.map((part) => {
    const own = stacked ? labelsOf(part.name, null, labels) : part.labels;
    const options = { cell, labels: own, decimals };
    const { top } = geometryOf(part.rows, part.cols, cell, own);
    return { ...part, own, options, top };
  });
  // Rows are at the same height in all matrices, with or without words above their columns.
  const highest = stacked ? 0 : Math.max(...parts.map(({ top }) => top));
  return (
    <div>
      <div class={stacked ? "figure-row stacked" : "figure-row"}>
        {parts.map(({ name, cols, own, options, top }, i) => [
          i > 0 && (
            <div
              key={`sign ${name}`}
              class="sign"
              style={{ margin: `0 ${px(gap)}`, width: px(signWidth(signs[i - 1] ?? "")) }}
            >
              {signs[i - 1]}
            </div>
          ),
          <div key={name} style={{ paddingTop: px(Math.max(0, highest - top)) }}>
            <NamedMatrix name={name} options={options} {...noteOf(cols * cell.width)} />
            {i === 0 && below && (
              <div class="figure-below" style={{ paddingLeft: px(leftOf(own)) }}>
                <NamedMatrix name={below.name} options={{ cell: lone }} note={below.note} />
              </div>
            )}
          </div>,
        ])}
      </div>
      <div class="legends">
        {parts.map(({ name, options }) => (
          <NamedLegend key={name} name={name} options={options} />
        ))}
        {below && <NamedLegend name={below.name} options={{ cell: lone }} />}
      </div>
    </div>
  );
}
