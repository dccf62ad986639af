/** The tests that the link of every room needs. */
import { expect, test } from "vitest";
import { readLink, writeLink } from "../../web/src/app/link";
import { noRestrictions } from "../../web/src/shared/restrictions";
import type { LinkReading } from "../../web/src/shared/room";

interface RoomLink<State> {
  read(params: URLSearchParams): LinkReading<State>;
  write(state: State): URLSearchParams;
  readonly initial: State;
  /** A state in which every setting except `same` differs from the initial one. */
  readonly opposite: State;
  /** The settings that have no effect, and no place in the link, because of others in `opposite`. */
  readonly same?: readonly (keyof State)[];
  /** Texts that the link of `opposite` contains. */
  readonly contains?: readonly string[];
  /** Parameters that the room does not take. */
  readonly refused: readonly string[];
  /** A valid parameter of the same link, and its change of the state. */
  readonly beside?: readonly [parameter: string, change: Partial<State>];
}

export function testLink<State extends object>(room: RoomLink<State>): void {
  const { read, write, initial, opposite, same = [], contains = [], refused } = room;
  const [parameter, change] = room.beside ?? ["", {}];

  test("is empty for the initial state", () => {
    expect(write(initial).toString()).toBe("");
    expect(read(new URLSearchParams())).toEqual({ state: initial, notices: [] });
  });

  test("restores every setting", () => {
    const keys = Object.keys(initial) as (keyof State)[];
    expect(Object.keys(opposite).sort()).toEqual([...keys].sort());
    for (const key of keys)
      if (same.includes(key)) expect(opposite[key], `${String(key)}`).toEqual(initial[key]);
      else expect(opposite[key], `${String(key)}`).not.toEqual(initial[key]);
    const params = write(opposite);
    const link = writeLink({ room: "steps", restrictions: noRestrictions, params });
    expect(read(readLink(`#${link}`).params)).toEqual({ state: opposite, notices: [] });
    for (const text of contains) expect(link).toContain(text);
  });

  test.each(refused)("leaves out %s and reports it", (text) => {
    const { state, notices } = read(new URLSearchParams(`${text}&${parameter}`));
    expect(state).toEqual({ ...initial, ...change });
    expect(notices).toHaveLength(1);
  });
}
