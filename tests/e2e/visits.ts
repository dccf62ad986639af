/** Visits to the page: what every file of tests sets up for them, and sees to after each. */
import type { Browser, Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type BrowserName, launch, type Server, serve } from "./browsers";
import type { OpenOptions, Room } from "./room";
import { launchWebKit, listeningPage } from "./webkitPage";

interface RoomClass<R extends Room> {
  new (page: Page): R;
  readonly open: typeof Room.open;
}

interface VisitOptions extends OpenOptions {
  /** Whether the server sends the headers that isolate the page, without which it has one thread: true. */
  readonly isolated?: boolean;
}

/**
 * WebKit has one page at a time, and SharedArrayBuffer only if `sharedMemory` says so.
 *
 * To be called inside of a `describe`. Its tests share a browser and servers; what one of them opens is closed after it,
 * and must have kept the console empty.
 */
export function visits<R extends Room>(
  RoomClass: RoomClass<R>,
  name: BrowserName | "webkit",
  { start = "", flags = [] as readonly string[], sharedMemory = true } = {},
) {
  let browser: Browser;
  const copy = name === "webkit" ? listeningPage() : null;
  let rooms: R[] = [];
  let kept: R | null = null;
  const servers = new Map<boolean, Promise<Server>>();
  const serverOf = (isolated: boolean): Promise<Server> => {
    const start = async () => {
      const folder = copy ? ["--dir", (await copy).folder] : [];
      return serve(...folder, ...(isolated ? [] : ["--no-isolation"]));
    };
    const server = servers.get(isolated) ?? start();
    servers.set(isolated, server);
    return server;
  };

  beforeAll(async () => {
    const launched = name === "webkit" ? launchWebKit({ sharedMemory }) : launch(name, flags);
    [browser] = await Promise.all([launched, serverOf(true)]);
  });
  afterAll(async () => {
    await kept?.close();
    await browser?.close();
    for (const server of await Promise.all(servers.values())) server.stop();
    await (await copy)?.remove();
  });
  afterEach(async () => {
    // WebKit tells what it complained about when its page is closed.
    await Promise.all(rooms.map((room) => room.close()));
    const complaints = rooms.flatMap((room) => room.complaints);
    complaints.push(...(kept?.complaints.splice(0) ?? []));
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
  /**
   * Enters the room in the page of the test before, from another room: as fresh as in a page of its own, in a fraction of
   * the time. For tests that change nothing but the room; not in WebKit, which tells its complaints only at the end.
   */
  async function reenter(link = ""): Promise<R> {
    if (kept) return kept.reenter(`${start}${link}`);
    const { url } = await serverOf(true);
    kept = await RoomClass.open<R>(browser, `${url}${start}${link}`);
    return kept.ready();
  }
  return {
    open,
    reenter,
    /** Opens the page and waits for the first answer of the engine. */
    enter: async (link?: string, options?: VisitOptions): Promise<R> =>
      (await open(link, options)).ready(),
  };
}
