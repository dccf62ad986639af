/** Finds each matrix in the arrays of a solution. */
import { type MatrixView, transposed, viewOn } from "#parts";
import { kindOf, type MatrixName } from "./matrices";
import type { Solution } from "./problem";

/** Matrix `name` of one head; null if there is none. A matrix without heads is the same for all. */
export function viewOf(
  { arrays, dims, problem }: Pick<Solution, "arrays" | "dims" | "problem">,
  name: MatrixName,
  head: number,
): MatrixView | null {
  const data = arrays[name];
  if (!data) return null;
  const { L, S, E, H, D } = dims;
  const unit = (arrays.units?.length ?? 0) / L;
  const sizes = { query: L, key: S, embedding: E, head: D, joined: H * D, unit, selected: 1 };
  const kind = kindOf(name);
  const [rows, cols] = [sizes[kind.rows], sizes[kind.cols]];
  // Exponentials exist only for the row and head of the problem.
  if (kind.rows === "selected") return head === problem.head ? viewOn(data, rows, cols) : null;
  if (kind.cols === "key") return viewOn(data, rows, cols, head * rows * cols);
  // Weights are stored as [out, in]; the page draws the in × out matrices that multiply from the right.
  if (name === "wo") return transposed(viewOn(data, cols, rows));
  if (kind.rows === "embedding") return transposed(viewOn(data, cols, rows, head * rows * cols));
  if (kind.cols !== "head") return viewOn(data, rows, cols);
  // The heads are side by side.
  return { data, rows, cols, offset: head * D, rowStride: H * D, colStride: 1 };
}
