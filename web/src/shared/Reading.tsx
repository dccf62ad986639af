/** The explanation of the active cell. It is visible, and announced if the person reached the cell by keyboard. */

import { useCallback, useMemo, useState } from "preact/hooks";
import type { Cell } from "#parts";
import { Announced } from "./Announced";

export interface PointedCell<Place = Cell> {
  readonly cell: Place | null;
  readonly byKeyboard: boolean;
  point(cell: Place | null, by: "pointer" | "keyboard"): void;
}

/** The cell, or another place of a picture, that a person points at. */
export function usePointed<Place = Cell>(): PointedCell<Place> {
  const [cell, setCell] = useState<Place | null>(null);
  const [byKeyboard, setByKeyboard] = useState(false);
  const point = useCallback<PointedCell<Place>["point"]>((next, by) => {
    setByKeyboard(by === "keyboard");
    setCell((now) => (JSON.stringify(now) === JSON.stringify(next) ? now : next));
  }, []);
  return useMemo(() => ({ cell, byKeyboard, point }), [cell, byKeyboard]);
}

interface ReadingProps<Place> {
  pointed: PointedCell<Place>;
  /** The explanation of a cell; null while its numbers are unknown. */
  words(cell: Place): string | null;
  /** The text while no cell is active. */
  idle: string;
}

export function Reading<Place>(props: ReadingProps<Place>) {
  const { pointed, words, idle } = props;
  const { cell, byKeyboard } = pointed;
  const explanation = cell === null ? null : words(cell);
  return (
    <>
      <p class="faint number reading">{explanation ?? idle}</p>
      <Announced>{byKeyboard ? explanation : ""}</Announced>
    </>
  );
}
