/** Where matrices stand that are computed from each other, in the width that there is: a product, or a row with signs. */
import {
  type CellSize,
  cellsFor,
  geometryOf,
  heightOf,
  type Labels,
  leftOf,
  textWidth,
  tokenAxes,
  topCellsFor,
} from "../picture/layout.js";

/** A matrix of a figure, and what its rows and columns stand for. */
export interface FigureMatrix<Name extends string = string> {
  readonly name: Name;
  readonly rows: number;
  readonly cols: number;
  /** "query" and "key" rows have the words of these; others have none. */
  readonly rowsAre: string;
  readonly colsAre: string;
}

/** The words of queries and keys, short enough for a picture. */
export interface FigureWords {
  readonly queries: readonly string[];
  readonly keys: readonly string[];
  /** The font in which they are drawn; the page's by default. */
  readonly family?: string;
}

/** Rows are lower than elsewhere, so that a whole stage is seen beside its words. */
const highestCell = 30;

/** In a figure narrower than this, which stands on a telephone, all of a step must be in view, too. */
export const narrowFigure = 480;
/** So the rows that stand above each other there are no higher than this in all, unless they would be too low. */
const narrowHeight = 200;
const lowestRow = 10;

/** Cells for matrices of `cols` columns in all that stand side by side in `width` pixels. */
function stageCells(width: number, cols: number, rows: number): CellSize {
  const cell = cellsFor(width, cols, rows);
  return { ...cell, height: Math.min(highestCell, cell.height) };
}

/** Cells of a narrow figure in which `rows` rows stand above each other. */
function lowered(cell: CellSize, rows: number): CellSize {
  return { ...cell, height: Math.min(cell.height, Math.max(lowestRow, narrowHeight / rows)) };
}

/** A matrix that is narrower than this has no size after its name. */
const noteWidth = 84;

/** Whether the name of a matrix of this width has its size after it. */
export function hasSizeNote(width: number): boolean {
  return width >= noteWidth;
}

/** Between two matrices. */
export const productGap = 16;
const nameHeight = 28;

/** One matrix on the left, and above each of its products the matrix that it is multiplied by. */
export interface ProductOf<Name extends string = string> {
  readonly left: FigureMatrix<Name>;
  readonly columns: readonly {
    readonly top: FigureMatrix<Name>;
    /** Whether it is drawn transposed, as keys are where they meet the queries. */
    readonly flip?: boolean;
    readonly corner: FigureMatrix<Name>;
  }[];
}

export function productLayout<Name extends string>(
  { left, columns }: ProductOf<Name>,
  width: number,
  { queries, keys, family }: FigureWords,
) {
  const font = family === undefined ? {} : { family };
  const leftLabels: Labels = {
    rows: left.rowsAre === "query" ? queries : keys,
    chips: true,
    ...(left.colsAre === "key" && { cols: keys, ...tokenAxes }),
    ...(columns.some(({ flip }) => flip) && { rowAxis: tokenAxes.rowAxis }),
    ...font,
  };
  const parts = columns.map(({ top, flip = false, corner }) => {
    const topLabels: Labels = flip
      ? { cols: keys, colAxis: tokenAxes.colAxis, chips: true, ...font }
      : font;
    return { top: top.name, flip, corner: corner.name, topLabels, size: corner.cols };
  });
  const inner = left.cols;
  // The width of a picture is rounded up. What is above has no words on its left.
  const gutters = leftOf(leftLabels) + 1 + parts.length * (productGap + 1);
  const total = inner + parts.reduce((all, { size }) => all + size, 0);
  const fitting = stageCells(width - gutters, total, left.rows);
  const cell = width < narrowFigure ? lowered(fitting, left.rows + inner) : fitting;
  const topCell = topCellsFor(cell, inner);
  const above = Math.max(
    ...parts.map(({ topLabels, size }) => heightOf(geometryOf(inner, size, topCell, topLabels))),
  );
  const height = above + productGap / 2 + 2 * nameHeight + left.rows * cell.height;
  return { leftLabels, parts, inner, cell, topCell, height };
}

/** Around a sign, on each side. */
const wideGap = 12;
const narrowGap = 3;
/** Matrices are stacked rather than made narrower than this, if that gives them more space. */
const narrowest = 110;
const narrowestCell = 22;
/** A letter with an index. */
const nameWidth = 24;
/** Stacked matrices are no wider, so that both can be seen at once. */
const widestStacked = 560;
/** Cells beside each other may share a pixel of the screen, but at least half of one is seen of each. */
const leastBeside = 0.5;
/** A single row needs a visible height, however many rows the other matrices have. */
const loneRow = 14;

function labelsIn(
  { rowsAre, colsAre }: FigureMatrix,
  before: FigureMatrix | null,
  { queries, keys, family }: FigureWords,
  above?: FigureMatrix,
): Labels {
  const words = rowsAre === "query" ? queries : rowsAre === "key" ? keys : undefined;
  // Rows of the same tokens continue from one matrix to the next, so only the first one names them.
  const known = before?.rowsAre;
  const areSame = queries.join() === keys.join();
  const areNamed = known === rowsAre || (areSame && (known === "query" || known === "key"));
  return {
    chips: true,
    ...(words && !areNamed && { rows: words }),
    ...(rowsAre === "query" &&
      colsAre === "key" &&
      // Words over the same columns may stand above them already.
      (above?.colsAre === colsAre ? { rowAxis: tokenAxes.rowAxis } : { cols: keys, ...tokenAxes })),
    ...(family !== undefined && { family }),
  };
}

/** Matrices in a row with signs between them, or below each other where that gives them more space. */
export function rowLayout<Name extends string>(
  matrices: readonly FigureMatrix<Name>[],
  signs: readonly string[],
  width: number,
  words: FigureWords,
) {
  const all = matrices.map((matrix, i) => ({
    ...matrix,
    labels: labelsIn(matrix, matrices[i - 1] ?? null, words),
  }));
  const gap = width < narrowFigure ? narrowGap : wideGap;
  /** Labels are measured at 12 pixels; signs have 14. */
  const signWidths = signs.map((sign) => Math.ceil((textWidth(sign, words.family) * 14) / 12));
  const between = signWidths.reduce((sum, sign) => sum + sign + 2 * gap, 0);
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
  const isSmall = beside * widest < narrowest || beside < leastBeside;
  const stacked = isSmall && beside < narrowestCell;
  const first = all[0]?.labels ?? {};
  const room = stacked ? Math.min(width - leftOf(first), widestStacked) : width - gutters;
  const fitting = stageCells(room, stacked ? widest : columns, rows);
  // Of many, a cell beside others is smaller than a pixel.
  const cell = stacked
    ? lowered(fitting, rows * all.length)
    : { ...fitting, width: Math.min(fitting.width, beside) };
  const parts = all.map(({ labels, ...part }, i) => {
    const own = stacked ? labelsIn(part, null, words, matrices[i - 1]) : labels;
    return { ...part, labels: own, top: geometryOf(part.rows, part.cols, cell, own).top };
  });
  // Rows are at the same height in all matrices, with or without words above their columns.
  const highest = stacked ? 0 : Math.max(...parts.map(({ top }) => top));
  return {
    ...{ gap, signWidths, stacked, cell },
    /** The cells of a matrix of one row. */
    lone: { ...cell, height: Math.max(cell.height, loneRow) },
    parts: parts.map((part) => ({ ...part, above: Math.max(0, highest - part.top) })),
  };
}
