/** Places matrices that are computed from each other in the available width: a product, or a row with signs. */
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

/** A matrix of a figure, and the meaning of its rows and columns. */
export interface FigureMatrix<Name extends string = string> {
  readonly name: Name;
  readonly rows: number;
  readonly cols: number;
  /** "query" and "key" rows have these words as labels; others have none. */
  readonly rowsAre: string;
  readonly colsAre: string;
}

/** The words of queries and keys, shortened for a picture. */
export interface FigureWords {
  readonly queries: readonly string[];
  readonly keys: readonly string[];
  /** The font of the words; the page's by default. */
  readonly family?: string;
}

/** The largest height of a cell: lower than elsewhere, so that a whole stage and its words are visible together. */
const highestCell = 30;

/** A figure narrower than this is on a telephone, where a whole step must also be visible. */
export const narrowFigure = 480;
/**
 * In a narrow figure, the rows of matrices above each other have at most this total height, unless
 * they would be too low.
 */
const narrowHeight = 200;
const lowestRow = 10;

/** The cell size for matrices next to each other in `width` pixels, with `cols` columns in total. */
function stageCells(width: number, cols: number, rows: number, least?: number): CellSize {
  const cell = cellsFor(width, cols, rows, least);
  return { ...cell, height: Math.min(highestCell, cell.height) };
}

/** The cell size in a narrow figure with a total of `rows` rows above each other. */
function lowered(cell: CellSize, rows: number): CellSize {
  return { ...cell, height: Math.min(cell.height, Math.max(lowestRow, narrowHeight / rows)) };
}

/** Cells side by side may share a pixel of the screen, but each is at least this many pixels wide. */
const leastBeside = 0.5;

/** A matrix that is narrower than this does not show its size after its name. */
const noteWidth = 84;

/** Whether a matrix of this width shows its size after its name. */
export function hasSizeNote(width: number): boolean {
  return width >= noteWidth;
}

/** The gap between two matrices. */
export const productGap = 16;
const nameHeight = 28;

/** One matrix on the left, and above each of its products the matrix by which it is multiplied. */
interface ProductOf<Name extends string = string> {
  readonly left: FigureMatrix<Name>;
  readonly columns: readonly {
    readonly top: FigureMatrix<Name>;
    /** Whether the matrix is drawn transposed, like the keys above the scores. */
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
  // The width of a picture is rounded up. The matrices above have no words on their left.
  const gutters = leftOf(leftLabels) + 1 + parts.length * (productGap + 1);
  const total = inner + parts.reduce((all, { size }) => all + size, 0);
  const fitting = stageCells(width - gutters, total, left.rows, leastBeside);
  const cell = width < narrowFigure ? lowered(fitting, left.rows + inner) : fitting;
  const topCell = topCellsFor(cell, inner);
  const above = Math.max(
    ...parts.map(({ topLabels, size }) => heightOf(geometryOf(inner, size, topCell, topLabels))),
  );
  const height = above + productGap / 2 + 2 * nameHeight + left.rows * cell.height;
  return { leftLabels, parts, inner, cell, topCell, height };
}

/** The gap on each side of a sign. */
const wideGap = 12;
const narrowGap = 3;
/** If matrices would be narrower than this, they are stacked, provided that this gives them more space. */
const narrowest = 110;
const narrowestCell = 22;
/** The width of a letter with an index. */
const nameWidth = 24;
/** The largest width of stacked matrices, so that both are visible together. */
const widestStacked = 560;
/** The height of a single row, which must be visible even if the other matrices have many rows. */
const loneRow = 14;

function labelsIn(
  { rowsAre, colsAre }: FigureMatrix,
  before: FigureMatrix | null,
  { queries, keys, family }: FigureWords,
  above?: FigureMatrix,
): Labels {
  const words = rowsAre === "query" ? queries : rowsAre === "key" ? keys : undefined;
  // Rows of the same tokens continue from one matrix to the next, so only the first matrix labels them.
  const known = before?.rowsAre;
  const areSame = queries.join() === keys.join();
  const areNamed = known === rowsAre || (areSame && (known === "query" || known === "key"));
  return {
    chips: true,
    ...(words && !areNamed && { rows: words }),
    ...(rowsAre === "query" &&
      colsAre === "key" &&
      // A matrix above may show the words of the same columns already.
      (above?.colsAre === colsAre ? { rowAxis: tokenAxes.rowAxis } : { cols: keys, ...tokenAxes })),
    ...(family !== undefined && { family }),
  };
}

/** Matrices in a row with signs between them, or below each other if that gives them more space. */
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
  /** The font size is 12 pixels for measured labels and 14 for signs. */
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
  // In a row of many columns, a cell may be smaller than a pixel.
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
    /** The cells of a matrix with one row. */
    lone: { ...cell, height: Math.max(cell.height, loneRow) },
    parts: parts.map((part) => ({ ...part, above: Math.max(0, highest - part.top) })),
  };
}
