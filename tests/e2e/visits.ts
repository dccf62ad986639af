/** Visits to the page: what every file of tests sets up for them, and sees to after each. */
import type { Browser, Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type BrowserName, launch, type Server, serve } from "./browsers";
import type { OpenOptions, Room } from "./room";

interface RoomClass<R extends Room> {
  new (page: Page): R;
  readonly open: typeof Room.open;
}

/**
 * To be called inside of a `describe`. Its tests share a server and a browser; what one of them opens is closed after it,
 * and must have kept the console empty.
 */
export function visits<R extends Room>(
  RoomClass: RoomClass<R>,
  name: BrowserName,
  { start = "", isolated = true } = {},
) {
  let server: Server;
  let browser: Browser;
  let rooms: R[] = [];

  beforeAll(async () => {
    [server, browser] = await Promise.all([
      serve(...(isolated ? [] : ["--no-isolation"])),
      launch(name),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    server?.stop();
  });
  afterEach(async () => {
    const complaints = rooms.flatMap((room) => room.complaints);
    await Promise.all(rooms.map((room) => room.close()));
    rooms = [];
    expect(complaints, "the console stays empty").toEqual([]);
  });

  /** Opens the page at `start` and what follows it, or another address as it is. */
  async function open(link = "", options: OpenOptions = {}): Promise<R> {
    const url = URL.canParse(link) ? link : `${server.url}${start}${link}`;
    const room = await RoomClass.open<R>(browser, url, options);
    rooms.push(room);
    return room;
  }
  return {
    open,
    /** Opens the page and waits for the first answer of the engine. */
    enter: async (link?: string, options?: OpenOptions): Promise<R> =>
      (await open(link, options)).ready(),
    /** The address of the page without what follows the `#`. */
    url: () => server.url,
  };
}
