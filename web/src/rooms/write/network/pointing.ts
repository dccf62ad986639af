/** The number of the network that is pointed at or kept. */
import { createContext } from "preact";
import { useCallback, useContext, useState } from "preact/hooks";
import type { Cell } from "../../../picture/layout";
import { useEscape } from "../../../shared/useEscape";
import type { Place } from "./explain";

/** A cell of one of the pictures. */
export interface Spot extends Cell {
  readonly picture: string;
  readonly place: Place;
}

export interface Pointing {
  readonly active: Spot | null;
  readonly isLocked: boolean;
  readonly byKeyboard: boolean;
  point(spot: Spot | null, by: "pointer" | "keyboard"): void;
  /** Keeps a cell, or releases it. */
  press(spot: Spot): void;
}

const isSame = (a: Spot | null, b: Spot | null) =>
  a?.picture === b?.picture && a?.row === b?.row && a?.col === b?.col;

export function usePointing(): Pointing {
  const [hovered, setHovered] = useState<Spot | null>(null);
  const [locked, setLocked] = useState<Spot | null>(null);
  const [byKeyboard, setByKeyboard] = useState(false);
  useEscape(() => {
    setLocked(null);
    setHovered(null);
  });
  const point = useCallback<Pointing["point"]>((spot, by) => {
    setByKeyboard(by === "keyboard");
    setHovered((now) => (isSame(now, spot) ? now : spot));
    // Moving the cursor by keyboard moves the kept cell.
    if (by === "keyboard" && spot) setLocked((now) => now && spot);
  }, []);
  const press = useCallback<Pointing["press"]>(
    (spot) => setLocked((now) => (isSame(now, spot) ? null : spot)),
    [],
  );
  return { active: locked ?? hovered, isLocked: locked !== null, byKeyboard, point, press };
}

export const PointingContext = createContext<Pointing | null>(null);

export function usePointed(): Pointing {
  const pointing = useContext(PointingContext);
  if (!pointing) throw new Error("usePointed needs a PointingContext around it");
  return pointing;
}
