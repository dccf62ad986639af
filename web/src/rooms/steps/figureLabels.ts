/** The labels of the pictures of a stage, and the sizes of its matrices. */

import { useMemo } from "preact/hooks";
import { type FigureMatrix, type FigureWords, hasSizeNote, shorten } from "#parts";
import { kindOf, type MatrixAxis, type MatrixName, sizeOf } from "./matrices";
import { sizesOf } from "./state";
import type { Tokens } from "./tokens";
import { useStepsWorkspace } from "./workspace";

const longestLabel = 12;

export interface FigureLabels extends FigureWords {
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

export function figureMatrix(name: MatrixName, { sizes }: FigureLabels): FigureMatrix<MatrixName> {
  const { rows, cols } = kindOf(name);
  return { name, ...sizeOf(name, sizes), rowsAre: rows, colsAre: cols };
}

/** The note after the letter of a matrix. It is empty if the matrix is too narrow for its size. */
export function noteOf(width: number): { note?: string } {
  return hasSizeNote(width) ? {} : { note: "" };
}
