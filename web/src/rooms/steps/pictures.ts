/** The picture of a named matrix: palette, hidden cells, labels and highlights. */
import { useMemo } from "preact/hooks";
import { type Palette, signedPalette, weightPalette } from "../../picture/colour";
import type { CellSize, Labels } from "../../picture/layout";
import type { Area, Picture } from "../../picture/paint";
import { usePicture } from "../../picture/usePicture";
import { at, rangeOf, transposed, type View } from "../../picture/view";
import { useShell } from "../../shared/shell";
import { kindOf, type MatrixName } from "./matrices";
import { usePage } from "./page";
import { sizesOf } from "./state";
import { partOf } from "./unfolding";
import { viewOf } from "./viewOf";

/** Matrices of attention weights are shares; all others are signed numbers. */
export function isShare(name: MatrixName): boolean {
  return name === "weights";
}

export interface PictureOptions {
  readonly cell: CellSize;
  readonly labels?: Labels;
  /** Whether it is drawn transposed, as keys are where they meet the queries. */
  readonly flip?: boolean;
  /** The head, if not the selected one. */
  readonly head?: number;
  /** Draws no highlights. */
  readonly quiet?: boolean;
  /** Draws the pooled matrix, in the same space. */
  readonly small?: boolean;
  /** Shows only what the playing computation has reached. */
  readonly unfolds?: boolean;
}

/** Matrices with hidden cells. */
const ofMask: readonly MatrixName[] = ["masked", "exponentials", "weights"];

const hides = (score: number) => score === Number.NEGATIVE_INFINITY;

function hasHidden(masked: View): boolean {
  for (let i = 0; i < masked.rows; ++i)
    for (let j = 0; j < masked.cols; ++j) if (hides(at(masked, i, j))) return true;
  return false;
}

function rowOf(view: View, row: number): View {
  return { ...view, rows: 1, offset: view.offset + row * view.rowStride };
}

function transposedArea({ row, col }: Area): Area {
  return { ...(col !== undefined && { row: col }), ...(row !== undefined && { col: row }) };
}

function usePalette(name: MatrixName, head: number): Palette {
  const { state, solution } = usePage();
  const { theme } = useShell();
  return useMemo(() => {
    if (isShare(name)) return weightPalette(state.range, state.curve, theme);
    const view = solution && viewOf(solution, name, head);
    const [low, high] = (view && rangeOf(view)) ?? [0, 1];
    return signedPalette(Math.max(-low, high), theme);
  }, [name, head, solution, state.range, state.curve, theme]);
}

export function useMatrixPicture(name: MatrixName, options: PictureOptions): Picture {
  const page = usePage();
  const { scene, solution } = page;
  const { cell, labels, flip = false, head = scene.head, quiet = false } = options;
  const { unfolds = false, small = false } = options;
  const unfolding = unfolds && page.unfolding?.targets.includes(name) ? page.unfolding : null;
  const kind = kindOf(name);
  const sizes = sizesOf(scene);
  const source = useMemo(
    () => (small && solution ? { ...solution, ...solution.small } : solution),
    [solution, small],
  );
  const whole = useMemo(() => source && viewOf(source, name, head), [source, name, head]);
  const all = { rows: sizes[kind.rows], cols: sizes[kind.cols] };
  const shape = small && whole ? { rows: whole.rows, cols: whole.cols } : all;
  const view = useMemo(() => {
    const upright = whole && unfolding ? partOf(whole, name, unfolding) : whole;
    return upright && (flip ? transposed(upright) : upright);
  }, [whole, name, unfolding, flip]);
  const isHidden = useMemo(() => {
    const all = ofMask.includes(name) && source && viewOf(source, "masked", head);
    if (!all || !solution) return undefined;
    const masked = name === "exponentials" ? rowOf(all, solution.problem.row) : all;
    if (!hasHidden(masked)) return undefined;
    return (row: number, col: number) =>
      hides(at(masked, row, col)) && (!unfolding || unfolding.isMade(name, row, col));
  }, [source, name, head, unfolding]);
  const palette = usePalette(name, head);

  const areaOf = ({ row, col }: Area) => (flip ? transposedArea({ row, col }) : { row, col });
  const { row, col, matrix } = page.active ?? {};
  return usePicture({
    view,
    ...(flip ? { rows: shape.cols, cols: shape.rows } : shape),
    palette,
    cell: {
      width: (cell.width * all.cols) / Math.max(1, shape.cols),
      height: (cell.height * all.rows) / Math.max(1, shape.rows),
    },
    ...(labels && { labels }),
    isHidden,
    selected: !quiet && kind.rows === "query" ? { row: scene.row } : null,
    highlights: quiet ? [] : page.highlights.filter((at) => at.matrix === name).map(areaOf),
    marked: quiet
      ? []
      : [...page.state.edits.values()]
          .filter((edit) => edit.matrix === name && edit.head === head)
          .map(areaOf),
    active: !quiet && matrix === name ? areaOf({ row, col }) : null,
  });
}
