/** The labels of the pictures of a stage, and the sizes that they leave for the cells. */

import { type CellSize, cellsFor, shorten } from "heed/view/parts";
import { useMemo } from "preact/hooks";
import type { MatrixAxis } from "./matrices";
import { sizesOf } from "./state";
import type { Tokens } from "./tokens";
import { useStepsWorkspace } from "./workspace";

const longestLabel = 12;

/** A matrix that is narrower than this has no size after its name. */
const noteWidth = 84;

export interface FigureLabels {
  readonly queries: readonly string[];
  readonly keys: readonly string[];
  readonly sizes: Record<MatrixAxis, number>;
}

export function useLabels(): FigureLabels {
  const { attention } = useStepsWorkspace();
  const words = useMemo(() => {
    const short = ({ tokens }: Tokens) => tokens.map((token) => shorten(token, longestLabel));
    return { queries: short(attention.queries), keys: short(attention.keys) };
  }, [attention]);
  return { ...words, sizes: sizesOf(attention) };
}

/** Rows are lower than elsewhere, so that a whole stage is seen beside its words. */
const highestCell = 30;

/** Cells for matrices of `cols` columns in all that stand side by side in `width` pixels. */
export function stageCells(width: number, cols: number, rows: number): CellSize {
  const cell = cellsFor(width, cols, rows);
  return { ...cell, height: Math.min(highestCell, cell.height) };
}

/** What a narrow matrix shows after its letter: nothing, instead of its size. */
export function noteOf(width: number): { note?: string } {
  return width < noteWidth ? { note: "" } : {};
}
