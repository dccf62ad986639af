/** The cell of a picture that a person points at or locks. The room's link stores the locked one. */

import { useCallback } from "preact/hooks";
import { type Cell, isSame } from "#parts";
import { type PointedCell, usePointed } from "./Reading";
import type { Setter } from "./room";
import { useEscape } from "./useEscape";

interface WithCell {
  /** The locked cell. */
  readonly cell: Cell | null;
}

/**
 * @param size the picture's rows and columns; a cell outside of them is not active
 * @param lock returns the changes of state that locking a cell causes; it must be memoised
 */
export function useCells<State extends WithCell>(
  { cell }: State,
  set: Setter<State>,
  { rows, columns }: { rows: number; columns: number },
  lock: (cell: Cell) => Partial<State>,
) {
  const { cell: hover, byKeyboard, point: pointAt } = usePointed();
  const within = (cell: Cell | null) =>
    cell && cell.row < rows && cell.col < columns ? cell : null;
  const change = set as Setter<WithCell>;
  const point = useCallback<PointedCell["point"]>(
    (cell, by) => {
      pointAt(cell, by);
      // Moving the cursor by keyboard moves the locked cell.
      if (by === "keyboard" && cell) change((now) => (now.cell ? { cell } : {}));
    },
    [change],
  );
  const press = useCallback(
    (cell: Cell) => change((now) => (isSame(now.cell, cell) ? { cell: null } : lock(cell))),
    [change, lock],
  );
  useEscape(() => {
    change({ cell: null });
    pointAt(null, "pointer");
  });
  return { active: within(cell) ?? within(hover), byKeyboard, point, press };
}
