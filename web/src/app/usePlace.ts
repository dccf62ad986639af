/** Where one is: the room and its state live in the address after the `#`, both ways. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Restrictions } from "../shared/restrictions";
import type { Setter } from "../shared/room";
import { readLink, writeLink } from "./link";
import { type AnyRoom, loadRoom, type RoomId, rooms } from "./rooms";

export interface Place {
  readonly id: RoomId;
  readonly room: AnyRoom;
  readonly state: unknown;
  readonly restrictions: Restrictions;
  readonly notices: readonly string[];
}

/** Browsers refuse more than some hundred changes of the address in half a minute; a drag would make more. */
const wait = 200;

/** The place that a link leads to, once its room is loaded. */
async function placeOf(hash: string): Promise<Place> {
  const { room: id, restrictions, params, notices } = readLink(hash);
  const room = await loadRoom(id);
  const reading = room.read(params);
  return {
    id,
    room,
    restrictions,
    state: reading.state,
    notices: [...notices, ...reading.notices],
  };
}

/** The place of the page's own address, which may change while a room is loading. */
export async function arrive(): Promise<Place> {
  for (;;) {
    const { hash } = location;
    const place = await placeOf(hash);
    if (hash === location.hash) return place;
  }
}

export function linkOf({ id, room, state, restrictions }: Place): string {
  return writeLink({ room: id, restrictions, params: room.write(state) });
}

/** Under a teacher's lock only the look changes. */
function allowed(place: Place, change: object): object {
  if (!place.restrictions.lock) return change;
  return Object.fromEntries(
    Object.entries(change).filter(([key]) => place.room.look.includes(key)),
  );
}

export function usePlace(first: Place): {
  place: Place;
  set: Setter<object>;
  /** Where each room's name in the navigation leads: to where one left it. */
  linkTo(id: RoomId): string;
} {
  const [place, setPlace] = useState(first);
  const left = useRef(new Map<RoomId, string>());
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  /** The address of the place that is shown; another one has been asked for where the page's own differs. */
  const address = useRef(location.hash);

  // Before the page is painted, so that no change of the address goes unheard.
  useLayoutEffect(() => {
    const follow = async () => {
      // What the old place still has to write must not overwrite the new address.
      clearTimeout(timer.current);
      const { hash } = location;
      try {
        const next = await placeOf(hash);
        if (hash !== location.hash) return;
        address.current = hash;
        setPlace(next);
      } catch {
        address.current = hash;
        const { room } = readLink(hash);
        const name = rooms.find(({ id }) => id === room)?.name;
        const notice = `The room “${name}” could not be loaded. Is there a connection? Reload the page to try again.`;
        setPlace((now) => ({ ...now, notices: [notice] }));
      }
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);

  useEffect(() => {
    timer.current = setTimeout(() => {
      const link = linkOf(place);
      left.current.set(place.id, link);
      // A click on a link changes the address at once, and tells of it a moment later: in between it is not ours.
      if (location.hash !== address.current) return;
      if (link !== location.hash.slice(1)) history.replaceState(null, "", `#${link}`);
      address.current = location.hash;
    }, wait);
    return () => clearTimeout(timer.current);
  }, [place]);

  const set = useCallback<Setter<object>>(
    (change) =>
      setPlace((now) => {
        const wanted =
          typeof change === "function" ? change(now.state as object) : (change as object);
        return {
          ...now,
          notices: [],
          state: { ...(now.state as object), ...allowed(now, wanted) },
        };
      }),
    [],
  );
  const linkTo = (id: RoomId) => {
    const params = new URLSearchParams();
    return `#${left.current.get(id) ?? writeLink({ room: id, restrictions: place.restrictions, params })}`;
  };
  return { place, set, linkTo };
}
