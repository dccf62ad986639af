/** The current room and its state, kept in sync with the address after the `#`. */
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

/** In milliseconds: browsers refuse more than about a hundred changes of the address in 30 seconds. */
const wait = 200;

/** The place that a link leads to, once its room is loaded. */
async function placeOf(hash: string): Promise<Place> {
  const { room: id, restrictions, params, notices } = readLink(hash);
  const room = await loadRoom(id);
  const reading = room.read(params);
  const { embed } = restrictions;
  const isUnknown = embed !== null && !Object.hasOwn(room.panels, embed);
  return {
    ...{ id, room, state: reading.state },
    restrictions: isUnknown ? { ...restrictions, embed: null } : restrictions,
    notices: [
      ...notices,
      ...(isUnknown ? [`The room has no panel “${embed}”, so the whole room is shown.`] : []),
      ...reading.notices,
    ],
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

export function addressOf(link: string): string {
  const page = `${location.origin}${location.pathname}`;
  return link === "" ? page : `${page}#${link}`;
}

/** A teacher's lock allows only changes of the presentation. */
function allowedChange(place: Place, change: object): object {
  if (!place.restrictions.lock) return change;
  return Object.fromEntries(
    Object.entries(change).filter(([key]) => place.room.look.includes(key)),
  );
}

export function usePlace(first: Place) {
  const [place, setPlace] = useState(first);
  const left = useRef(new Map<RoomId, string>());
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  /** The address of the place that is shown. If the page's address differs, another place is loading. */
  const address = useRef(location.hash);

  // A layout effect, so that no change of the address is missed before the first paint.
  useLayoutEffect(() => {
    const follow = async () => {
      // A pending write of the old place must not overwrite the new address.
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
      // A click on a link changes the address before `hashchange` fires: do not overwrite it in between.
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
          state: { ...(now.state as object), ...allowedChange(now, wanted) },
        };
      }),
    [],
  );
  const latest = useRef(place);
  latest.current = place;
  /** Adds an entry to the browser's history, to which Back returns. The next state replaces the new entry. */
  const remember = useCallback(() => {
    // In a frame, Back belongs to the page around it.
    if (location.hash !== address.current || latest.current.restrictions.embed !== null) return;
    const link = `#${linkOf(latest.current)}`;
    history.replaceState(null, "", link);
    history.pushState(null, "", link);
    address.current = location.hash;
  }, []);
  /** The link of a room in the navigation, which leads to the state in which the person left the room. */
  const linkTo = (id: RoomId) => {
    const params = new URLSearchParams();
    return `#${left.current.get(id) ?? writeLink({ room: id, restrictions: place.restrictions, params })}`;
  };
  return { place, set, remember, linkTo };
}
