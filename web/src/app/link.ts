/**
 * The link is the state: readable `key=value` pairs after the `#`, only what differs from a room's first view. The shell
 * reads the room and a teacher's wishes, the room all the rest. What a link says is checked; a value that cannot be is
 * left out and named in a notice.
 */
import type { Reading } from "../shared/room";
import { isRoomId, type RoomId, rooms } from "./rooms";

/** What a teacher's link asks for. */
export interface Wishes {
  /** Parts that are not shown: "nav", "text", or panels of the room. */
  readonly hide: readonly string[];
  /** Nothing can be changed but playing and pointing. */
  readonly lock: boolean;
  /** The one panel to show, for an iframe. */
  readonly embed: string | null;
}

export const noWishes: Wishes = { hide: [], lock: false, embed: null };

export interface Link {
  readonly room: RoomId;
  readonly wishes: Wishes;
  /** What is left for the room to read. */
  readonly params: URLSearchParams;
  readonly notices: readonly string[];
}

export const firstRoom: RoomId = rooms[0].id;

/** A reader throws a RangeError that says what it takes. */
export type Readers<State> = Readonly<Record<string, (text: string) => Partial<State>>>;

export function oneOf<T extends string>(...choices: T[]) {
  return (text: string): T => {
    if (!(choices as string[]).includes(text)) throw new RangeError(`one of ${choices.join(", ")}`);
    return text as T;
  };
}

export function numberIn({ min, max }: { min: number; max: number }, whole = true) {
  return (text: string): number => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (!(value >= min && value <= max) || (whole && !Number.isInteger(value))) {
      throw new RangeError(`a ${whole ? "whole number" : "number"} from ${min} to ${max}`);
    }
    return value;
  };
}

export const onOff = (text: string): boolean => oneOf("on", "off")(text) === "on";

const names = (text: string): string[] => {
  if (!/^[a-z-]+(,[a-z-]+)*$/.test(text)) throw new RangeError("names with commas between them");
  return text.split(",");
};

/** `initial` with everything that the parameters say and that a reader takes. */
export function readParams<State>(
  params: URLSearchParams,
  initial: State,
  readers: Readers<State>,
): Reading<State> {
  let state = initial;
  const notices: string[] = [];
  for (const [key, text] of params) {
    const read = Object.hasOwn(readers, key) ? readers[key] : undefined;
    if (!read) {
      notices.push(`The link has a setting “${key.slice(0, 40)}” that this page does not know.`);
      continue;
    }
    try {
      state = { ...state, ...read(text) };
    } catch (error) {
      const wanted = (error as RangeError).message;
      notices.push(
        `The link's ${key} is “${text.slice(0, 40)}”, but it takes ${wanted}; it was left out.`,
      );
    }
  }
  return { state, notices };
}

const shellReaders: Readers<{ room: RoomId } & Wishes> = {
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
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  const own = new URLSearchParams();
  for (const key of Object.keys(shellReaders)) {
    const text = params.get(key);
    if (text !== null) own.set(key, text);
    params.delete(key);
  }
  const { state, notices } = readParams(own, { room: firstRoom, ...noWishes }, shellReaders);
  const { room, ...wishes } = state;
  return { room, wishes, params, notices };
}

export function writeLink({ room, wishes, params }: Omit<Link, "notices">): string {
  const all = new URLSearchParams();
  if (room !== firstRoom) all.set("room", room);
  for (const [key, text] of params) all.append(key, text);
  if (wishes.hide.length > 0) all.set("hide", wishes.hide.join(","));
  if (wishes.lock) all.set("lock", "on");
  if (wishes.embed !== null) all.set("embed", wishes.embed);
  // Commas, colons and semicolons mean nothing special after the #, and a link that can be read can be edited.
  return all.toString().replace(/%2C/g, ",").replace(/%3A/g, ":").replace(/%3B/g, ";");
}
