/** The number of the network that a person points at or locks. */
import { useCallback, useState } from "preact/hooks";
import { useEscape } from "../shared/useEscape";
import { workspaceIn } from "../shared/workspaceIn";
import type { Spot } from "./messages";
import { isSameSpot } from "./spots";

interface Pointing {
  readonly active: Spot | null;
  readonly isLocked: boolean;
  readonly byKeyboard: boolean;
  point(spot: Spot | null, by: "pointer" | "keyboard"): void;
  /** Locks a number, or releases it. */
  press(spot: Spot): void;
}

/** @param kept the number that the room stores as locked; `keep` changes it */
export function usePointing(kept: Spot | null, keep: (spot: Spot | null) => void): Pointing {
  const [hovered, setHovered] = useState<Spot | null>(null);
  const [byKeyboard, setByKeyboard] = useState(false);
  useEscape(() => {
    keep(null);
    setHovered(null);
  });
  const isLocked = kept !== null;
  const point = useCallback<Pointing["point"]>(
    (spot, by) => {
      setByKeyboard(by === "keyboard");
      setHovered((now) => (isSameSpot(now, spot) ? now : spot));
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
