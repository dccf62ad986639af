/**
 * The suggestions of each room: the room must understand each link, and must write the same link for the state that it
 * shows.
 */
import { expect, test } from "vitest";
import { readLink } from "../../web/src/app/link";
import * as beyondLink from "../../web/src/rooms/beyond/state";
import { suggestions as beyond } from "../../web/src/rooms/beyond/suggestions";
import * as learnLink from "../../web/src/rooms/learn/state";
import { suggestions as learn } from "../../web/src/rooms/learn/words";
import { ourSuggestions, yourSuggestions } from "../../web/src/rooms/models/language/suggestions";
import * as modelsState from "../../web/src/rooms/models/state";
import { suggestions as tasks } from "../../web/src/rooms/models/tasks/suggestions";
import * as recurrentLink from "../../web/src/rooms/recurrent/state";
import { suggestions as recurrent } from "../../web/src/rooms/recurrent/suggestions";
import * as speedLink from "../../web/src/rooms/speed/state";
import { suggestions as speed } from "../../web/src/rooms/speed/suggestions";
import * as stepsLink from "../../web/src/rooms/steps/link";
import { suggestions as steps } from "../../web/src/rooms/steps/suggestions";
import type { LinkReading } from "../../web/src/shared/room";

/** The type of the state differs between rooms. */
interface RoomLink {
  read(params: URLSearchParams): LinkReading<unknown>;
  write(state: unknown): URLSearchParams;
}

const rooms = Object.entries({
  steps: [stepsLink, steps],
  models: [modelsState, [...ourSuggestions, ...tasks, ...yourSuggestions]],
  learn: [learnLink, learn],
  recurrent: [recurrentLink, recurrent],
  beyond: [beyondLink, beyond],
  speed: [speedLink, speed],
} as const);

test("A suggestion that speaks of a text continues it only if it speaks of chance", () => {
  for (const [href] of ourSuggestions) {
    const { params } = readLink(href);
    const writes = params.get("length") !== "0";
    expect(writes, href).toBe(params.has("temperature"));
  }
});

test.each(
  rooms.flatMap(([id, [link, suggestions]]) =>
    suggestions.map(([href, name]) => ({ id, name, href, link: link as RoomLink })),
  ),
)("$name leads to $id, and its link is minimal", ({ id, href, link }) => {
  const { room, params, notices } = readLink(href);
  const { state, notices: own } = link.read(params);
  expect([room, notices, own]).toEqual([id, [], []]);
  expect([...link.write(state)].sort()).toEqual([...params].sort());
});
