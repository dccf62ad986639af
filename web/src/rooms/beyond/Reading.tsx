/** The explanation of the active cell. It is visible, and announced if the person reached the cell by keyboard. */

import type { Cell } from "heed/view/parts";
import { useCallback, useState } from "preact/hooks";
import { Announced } from "../../shared/Announced";

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

export function Reading({
  words,
  idle,
  byKeyboard,
}: {
  words: string | null;
  idle: string;
  byKeyboard: boolean;
}) {
  return (
    <>
      <p class="faint number reading">{words ?? idle}</p>
      <Announced>{byKeyboard ? words : ""}</Announced>
    </>
  );
}
