/** The cell that a person points at or locks, the highlighted areas, and the explanation. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Explanation } from "#parts";
import type { Setter } from "../../shared/room";
import { useEscape } from "../../shared/useEscape";
import { explainCell, type MatrixArea, sourcesOf } from "./explain";
import type { MatrixName } from "./matrices";
import type { MatrixCell, State } from "./settings";
import { isSameCell, locked } from "./state";
import { explainMoment, highlightsOf, type Shown } from "./unfolding";

export interface Pointing {
  /** The cell that a person points at or locks; its sources follow below. */
  readonly active: MatrixCell | null;
  readonly highlights: readonly MatrixArea[];
  /** Whether the person has just locked the cell. A link and the cursor do not count. */
  readonly justLocked: { current: boolean };
  point(cell: MatrixCell | null, by: "pointer" | "keyboard"): void;
  lock(cell: MatrixCell): void;
  readonly explanation: Explanation | null;
  /** Whether the last cell was reached by keyboard. */
  readonly byKeyboard: boolean;
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
  const [hover, setHover] = useState<MatrixCell | null>(null);
  const [byKeyboard, setByKeyboard] = useState(false);
  const { areas, listeners } = useNamedMatrices();
  const justLocked = useRef(false);
  const point = useCallback<Pointing["point"]>(
    (cell, by) => {
      setByKeyboard(by === "keyboard");
      setHover((now) => (isSameCell(now, cell) ? now : cell));
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
  useEffect(() => setHover(null), [state.stage]);
  useEscape(() => {
    set({ cell: null });
    setHover(null);
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
