/** The styles of one room must not change another room. */
import { describe, expect, test } from "vitest";
import { type RoomId, rooms } from "../../web/src/app/rooms";
import { Room } from "./room";
import { visits } from "./visits";

const order = rooms.map(({ id }) => id);

/** Returns the addresses of the style sheets that the page has loaded. */
const sheets = () => Array.from(document.styleSheets, ({ href }) => href ?? "");

/** Returns the elements whose computed style changes if only the given style sheets apply. */
function changedWithout(own: readonly string[]): string[] {
  const others = [...document.styleSheets].filter(({ href }) => !own.includes(href ?? ""));
  const propertiesOf = (rule: CSSRule): string[] => {
    const { style, cssRules } = rule as Partial<CSSStyleRule>;
    return [...(style ?? []), ...[...(cssRules ?? [])].flatMap(propertiesOf)];
  };
  const properties = new Set(others.flatMap(({ cssRules }) => [...cssRules].flatMap(propertiesOf)));
  const elements = [...document.querySelectorAll("main, main *")];
  const styles = () =>
    elements.map((element) => {
      const style = getComputedStyle(element);
      return Array.from(properties, (name) => style.getPropertyValue(name)).join(";");
    });
  // The page runs no other task between the two calls.
  const before = styles();
  for (const sheet of others) sheet.disabled = true;
  const after = styles();
  for (const sheet of others) sheet.disabled = false;
  return elements
    .filter((_, i) => before[i] !== after[i])
    .map(({ outerHTML }) => outerHTML.slice(0, 80));
}

describe("The styles of a room", () => {
  const { enter } = visits(Room, "chrome");

  test("do not change another room", async () => {
    const room = await enter();
    const visit = async (id: RoomId) => {
      await room.go(`room=${id}`);
      await room.page.waitForSelector(`main.${id} *`);
    };
    const own = new Map<RoomId, string[]>();
    for (const id of order) {
      await visit(id);
      // The reload removes the style sheets of the rooms before this one.
      await room.page.reload();
      await room.ready();
      own.set(id, await room.page.evaluate(sheets));
    }
    for (const id of order) await visit(id);
    for (const id of order.toReversed()) {
      await visit(id);
      await room.ready();
      expect
        .soft(await room.page.evaluate(changedWithout, own.get(id) as string[]), id)
        .toEqual([]);
    }
    expect(await room.page.evaluate(sheets)).toHaveLength(new Set([...own.values()].flat()).size);
  }, 180_000);
});
