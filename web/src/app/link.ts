/**
 * The link is the state: readable `key=value` pairs after the `#`, with only what differs from a room's initial state. The
 * shell reads the room and a teacher's restrictions; the room reads the rest. Every value is checked, and an invalid one
 * is ignored and named in a notice.
 */
import { onOff, type Readers, readParams } from "../shared/linkReaders";
import { noRestrictions, type Restrictions } from "../shared/restrictions";
import { isRoomId, type RoomId, rooms, withPresentNames } from "./rooms";

export interface Link {
  readonly room: RoomId;
  readonly restrictions: Restrictions;
  /** The remaining parameters, which the room reads. */
  readonly params: URLSearchParams;
  readonly notices: readonly string[];
}

const firstRoom: RoomId = rooms[0].id;

const names = (text: string): string[] => {
  if (!/^[a-z-]+(,[a-z-]+)*$/.test(text)) throw new RangeError("names with commas between them");
  return text.split(",");
};

const shellReaders: Readers<{ room: RoomId } & Restrictions> = {
  room: (text) => {
    if (!isRoomId(text)) throw new RangeError(`one of ${rooms.map(({ id }) => id).join(", ")}`);
    return { room: text };
  },
  hide: (text) => ({ hide: names(text) }),
  lock: (text) => ({ lock: onOff(text) }),
  embed: (text) => {
    const [embed, ...more] = names(text);
    if (!embed || more.length > 0) throw new RangeError("the name of one panel");
    return { embed };
  },
};

export function readLink(hash: string): Link {
  const params = withPresentNames(new URLSearchParams(hash.replace(/^#/, "")));
  const own = new URLSearchParams();
  for (const key of Object.keys(shellReaders)) {
    const text = params.get(key);
    if (text !== null) own.set(key, text);
    params.delete(key);
  }
  const { state, notices } = readParams(own, { room: firstRoom, ...noRestrictions }, shellReaders);
  const { room, ...restrictions } = state;
  return { room, restrictions, params, notices };
}

export function writeLink({ room, restrictions, params }: Omit<Link, "notices">): string {
  const all = new URLSearchParams();
  if (room !== firstRoom) all.set("room", room);
  for (const [key, text] of params) all.append(key, text);
  if (restrictions.hide.length > 0) all.set("hide", restrictions.hide.join(","));
  if (restrictions.lock) all.set("lock", "on");
  if (restrictions.embed !== null) all.set("embed", restrictions.embed);
  // Commas, colons and semicolons need no escaping after the #, and unescaped they keep the link readable.
  return all.toString().replace(/%2C/g, ",").replace(/%3A/g, ":").replace(/%3B/g, ";");
}
