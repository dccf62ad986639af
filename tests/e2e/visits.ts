/** Visits to the page: what every file of tests sets up for them, and sees to after each. */
import type { Browser, Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type BrowserName, launch, type Server, serve } from "./browsers";
import type { OpenOptions, Room } from "./room";

interface RoomClass<R extends Room> {
  new (page: Page): R;
  readonly open: typeof Room.open;
}

interface VisitOptions extends OpenOptions {
  /** Whether the server sends the headers that isolate the page, without which it has one thread: true. */
  readonly isolated?: boolean;
}

/**
 * To be called inside of a `describe`. Its tests share a browser and servers; what one of them opens is closed after it,
 * and must have kept the console empty.
 */
export function visits<R extends Room>(
  RoomClass: RoomClass<R>,
  name: BrowserName,
  { start = "", flags = [] as readonly string[] } = {},
) {
  let browser: Browser;
  let rooms: R[] = [];
  const servers = new Map<boolean, Promise<Server>>();
  const serverOf = (isolated: boolean): Promise<Server> => {
    const server = servers.get(isolated) ?? serve(...(isolated ? [] : ["--no-isolation"]));
    servers.set(isolated, server);
    return server;
  };

  beforeAll(async () => {
    [browser] = await Promise.all([launch(name, flags), serverOf(true)]);
  });
  afterAll(async () => {
    await browser?.close();
    for (const server of await Promise.all(servers.values())) server.stop();
  });
  afterEach(async () => {
    const complaints = rooms.flatMap((room) => room.complaints);
    await Promise.all(rooms.map((room) => room.close()));
    rooms = [];
    expect(complaints, "the console stays empty").toEqual([]);
  });

  /** Opens the page at `start` and what follows it, or another address as it is. */
  async function open(link = "", { isolated = true, ...options }: VisitOptions = {}): Promise<R> {
    const { url } = await serverOf(isolated);
    const address = URL.canParse(link) ? link : `${url}${start}${link}`;
    const room = await RoomClass.open<R>(browser, address, options);
    rooms.push(room);
    return room;
  }
  return {
    open,
    /** Opens the page and waits for the first answer of the engine. */
    enter: async (link?: string, options?: VisitOptions): Promise<R> =>
      (await open(link, options)).ready(),
  };
}
