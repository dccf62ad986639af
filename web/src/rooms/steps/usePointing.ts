/** The cell that a person points at or locks, the highlighted areas, and the explanation. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Explanation } from "#parts";
import { type PointedCell, usePointed } from "../../shared/Reading";
import type { Setter } from "../../shared/room";
import { useEscape } from "../../shared/useEscape";
import { explainCell, type MatrixArea, sourcesOf } from "./explain";
import type { MatrixName } from "./matrices";
import type { MatrixCell, State } from "./settings";
import { locked } from "./state";
import { explainMoment, highlightsOf, type Shown } from "./unfolding";

export interface Pointing extends Pick<PointedCell<MatrixCell>, "byKeyboard" | "point"> {
  /** The cell that a person points at or locks; its sources follow below. */
  readonly active: MatrixCell | null;
  readonly highlights: readonly MatrixArea[];
  /** Whether the person has just locked the cell. A link and the cursor do not count. */
  readonly justLocked: { current: boolean };
  lock(cell: MatrixCell): void;
  readonly explanation: Explanation | null;
  /** The listeners of the element with the words that name matrices. */
  readonly listeners: Readonly<Record<string, (event: Event) => void>>;
}

/** The matrices of the word that the person points at. */
function useNamedMatrices() {
  /** Their names, separated by spaces. */
  const [names, setNames] = useState("");
  const hear = ({ target }: Event) => {
    const word = (target as Element).closest("[data-highlights]");
    setNames(word?.getAttribute("data-highlights") ?? "");
  };
  const forget = () => setNames("");
  const areas =
    names === "" ? null : names.split(" ").map((name) => ({ matrix: name as MatrixName }));
  return {
    areas,
    listeners: { onPointerOver: hear, onPointerLeave: forget, onFocusIn: hear, onFocusOut: forget },
  };
}

export function usePointing(
  { state, attention, solution, unfolding }: Shown,
  set: Setter<State>,
): Pointing {
  const { cell: hover, byKeyboard, point: pointAt } = usePointed<MatrixCell>();
  const forget = () => pointAt(null, "pointer");
  const { areas, listeners } = useNamedMatrices();
  const justLocked = useRef(false);
  const point = useCallback<Pointing["point"]>(
    (cell, by) => {
      pointAt(cell, by);
      // Moving the cursor by keyboard moves the locked cell, within its matrix.
      if (by === "keyboard" && cell)
        set((now) => (now.cell?.matrix === cell.matrix ? { cell } : {}));
    },
    [set],
  );
  const lock = useCallback<Pointing["lock"]>(
    (cell) => {
      justLocked.current = true;
      set((now) => locked(now, cell, attention));
    },
    [set, attention],
  );
  // A canvas that disappears under the pointer or with the focus sends no event.
  useEffect(forget, [state.stage]);
  useEscape(() => {
    set({ cell: null });
    forget();
  });

  const pointed = state.cell ?? hover;
  const highlightsOfMoment = (): readonly MatrixArea[] => {
    if (pointed) return sourcesOf(pointed, attention, state);
    return unfolding ? highlightsOf(unfolding, attention, state) : [];
  };
  const explanationOfMoment = () => {
    if (!solution) return null;
    if (pointed) return explainCell(pointed, solution, state, attention);
    return unfolding && explainMoment(unfolding, solution, state, attention);
  };
  return {
    active: areas ? null : (pointed ?? unfolding?.cell ?? null),
    highlights: areas ?? highlightsOfMoment(),
    explanation: explanationOfMoment(),
    ...{ byKeyboard, justLocked, point, lock, listeners },
  };
}
