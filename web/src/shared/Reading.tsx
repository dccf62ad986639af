/** The explanation of the active cell. It is visible, and announced if the person reached the cell by keyboard. */

import { useCallback, useState } from "preact/hooks";
import type { Cell } from "#parts";
import { Announced } from "./Announced";

export interface PointedCell {
  readonly cell: Cell | null;
  readonly byKeyboard: boolean;
  point(cell: Cell | null, by: "pointer" | "keyboard"): void;
}

export function usePointed(): PointedCell {
  const [pointed, setPointed] = useState<Pick<PointedCell, "cell" | "byKeyboard">>({
    cell: null,
    byKeyboard: false,
  });
  const point = useCallback<PointedCell["point"]>(
    (cell, by) => setPointed({ cell, byKeyboard: by === "keyboard" }),
    [],
  );
  return { ...pointed, point };
}

interface ReadingProps {
  pointed: PointedCell;
  /** The explanation of a cell; null while its numbers are unknown. */
  words(cell: Cell): string | null;
  /** The text while no cell is active. */
  idle: string;
}

export function Reading({ pointed: { cell, byKeyboard }, words, idle }: ReadingProps) {
  const explanation = cell && words(cell);
  return (
    <>
      <p class="faint number reading">{explanation ?? idle}</p>
      <Announced>{byKeyboard ? explanation : ""}</Announced>
    </>
  );
}
