/** The number of the network that a person points at or locks. */
import { useCallback } from "preact/hooks";
import { type PointedCell, usePointed as useHovered } from "../shared/Reading";
import { useEscape } from "../shared/useEscape";
import { workspaceIn } from "../shared/workspaceIn";
import type { Spot } from "./messages";
import { isSameSpot } from "./spots";

interface Pointing extends Pick<PointedCell<Spot>, "byKeyboard" | "point"> {
  readonly active: Spot | null;
  readonly isLocked: boolean;
  /** Locks a number, or releases it. */
  press(spot: Spot): void;
}

/** @param kept the number that the room stores as locked; `keep` changes it */
export function usePointing(kept: Spot | null, keep: (spot: Spot | null) => void): Pointing {
  const { cell: hovered, byKeyboard, point: hover } = useHovered<Spot>();
  useEscape(() => {
    keep(null);
    hover(null, "pointer");
  });
  const isLocked = kept !== null;
  const point = useCallback<Pointing["point"]>(
    (spot, by) => {
      hover(spot, by);
      // Moving the cursor by keyboard moves the locked number.
      if (by === "keyboard" && spot && isLocked) keep(spot);
    },
    [isLocked, keep],
  );
  const press = useCallback<Pointing["press"]>(
    (spot) => keep(isSameSpot(kept, spot) ? null : spot),
    [kept, keep],
  );
  return { active: kept ?? hovered, isLocked, byKeyboard, point, press };
}

export const [PointingContext, usePointed] = workspaceIn<Pointing>();
