/** Finds each matrix in the arrays of a solution. */
import { type MatrixView, transposed, viewOn } from "heed/view/parts";
import type { MatrixName } from "./matrices";
import type { Solution } from "./problem";

/** Matrix `name` of one head; null if there is none. A matrix without heads is the same for all. */
export function viewOf(
  { arrays, dims, problem }: Pick<Solution, "arrays" | "dims" | "problem">,
  name: MatrixName,
  head: number,
): MatrixView | null {
  const { L, S, E, H, D } = dims;
  const whole = (data: Float32Array | null, rows: number, cols: number): MatrixView | null =>
    data && viewOn(data, rows, cols);
  /** The columns of one head; the heads are side by side. */
  const ofHead = (data: Float32Array, rows: number): MatrixView => ({
    data,
    rows,
    cols: D,
    offset: head * D,
    rowStride: H * D,
    colStride: 1,
  });
  /** One head's rows of an [out, in] weight, as the in × out matrix that multiplies from the right. */
  const projection = (data: Float32Array) => transposed(viewOn(data, D, E, head * D * E));
  const pairs = (data: Float32Array): MatrixView => viewOn(data, L, S, head * L * S);
  switch (name) {
    case "embedding":
    case "position":
    case "input":
      return whole(arrays[name], L, E);
    case "keyEmbedding":
    case "keyPosition":
    case "keyInput":
      return whole(arrays[name], S, E);
    case "wq":
    case "wk":
    case "wv":
      return projection(arrays[name]);
    case "q":
    case "output":
      return ofHead(arrays[name], L);
    case "k":
    case "v":
      return ofHead(arrays[name], S);
    case "scores":
    case "scaled":
    case "masked":
    case "weights":
      return pairs(arrays[name]);
    case "exponentials":
      // They exist only for the row and head of the problem.
      return head === problem.head ? viewOn(arrays.exponentials, 1, S) : null;
    case "joined":
      return whole(arrays.joined, L, H * D);
    case "wo": {
      const view = whole(arrays.wo, E, H * D);
      return view && transposed(view);
    }
    case "result":
      return whole(arrays.result, L, E);
  }
}
