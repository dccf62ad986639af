/** The suggestion that the person is trying. Its words end with its settings. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Suggestion } from "../shared/room";
import { readLink } from "./link";
import type { Place } from "./usePlace";

/** Whether the room still has the settings that a suggestion names. The presentation may differ. */
function hasSettingsOf([href]: Suggestion, { id, room, state }: Place): boolean {
  const link = readLink(href);
  if (link.room !== id) return false;
  const wanted = room.read(link.params).state as Record<string, unknown>;
  const look = Object.fromEntries(room.look.map((key) => [key, wanted[key as string]]));
  const now = room.write({ ...(state as object), ...look });
  return [...room.write(wanted)].every(([key, text]) => now.get(key) === text);
}

export function useTried(place: Place) {
  const [chosen, setTried] = useState<Suggestion | null>(null);
  const arrived = useRef<Suggestion | null>(null);
  const isTried = chosen !== null && hasSettingsOf(chosen, place);
  useEffect(() => {
    if (isTried) arrived.current = chosen;
    else if (arrived.current === chosen) setTried(null);
  }, [chosen, isTried]);
  /** Null until the room has arrived at its settings, and from the first change of these. */
  const tried = isTried ? chosen : null;
  return { tried, setTried };
}
