/** Visits to the page: the setup of every test file, and the checks after each test. */
import type { Browser, Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type BrowserName, borrow, giveBack, launch, type Server, serve } from "./browsers";
import type { OpenOptions, Room, Size } from "./room";
import { launchWebKit, listeningPage } from "./webkitPage";

interface RoomClass<R extends Room> {
  new (page: Page): R;
  readonly open: typeof Room.open;
}

interface VisitOptions extends OpenOptions {
  /**
   * Whether the server sends the headers that isolate the page; true by default. Without them the engine has one
   * thread.
   */
  readonly isolated?: boolean;
}

/**
 * WebKit has one page at a time, and SharedArrayBuffer only if `sharedMemory` is true.
 *
 * Must be called inside of a `describe`. Its tests share a browser and servers. Every page that a test opens is closed
 * after the test, and its console must have stayed empty.
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
    const launched = () => {
      if (name === "webkit") return launchWebKit({ sharedMemory });
      return flags.length === 0 ? borrow(name) : launch(name, flags);
    };
    [browser] = await Promise.all([launched(), serverOf(true)]);
  });
  afterAll(async () => {
    await kept?.close();
    await giveBack(browser);
    for (const server of await Promise.all(servers.values())) server.stop();
    await (await copy)?.remove();
  });
  afterEach(async ({ task }) => {
    const complaints = kept?.complaints.splice(0) ?? [];
    // A test that failed may have left its page in any state.
    if (kept && task.result?.state === "fail") {
      rooms.push(kept);
      kept = null;
    }
    // WebKit reports complaints only when its page is closed.
    await Promise.all(rooms.map((room) => room.close()));
    complaints.push(...rooms.flatMap((room) => room.complaints));
    rooms = [];
    expect(complaints, "the console stays empty").toEqual([]);
  });

  const linkOf = (link: string) => (link.startsWith("#") ? link : `${start}${link}`);
  /** Opens the page at `start` followed by `link`; if `link` is a whole address or begins with a #, opens that. */
  async function open(link = "", { isolated = true, ...options }: VisitOptions = {}): Promise<R> {
    const { url } = await serverOf(isolated);
    const address = URL.canParse(link) ? link : `${url}${linkOf(link)}`;
    const room = await RoomClass.open<R>(browser, address, options);
    rooms.push(room);
    return room;
  }
  /**
   * Enters the room from another room, in the page of the previous test. The room is as fresh as in a new page, in a
   * fraction of the time. For tests that change nothing outside of the room. Not for WebKit, which reports complaints
   * only at the end.
   */
  async function reenter(link = "", size: Size = {}): Promise<R> {
    if (kept) return kept.reenter(linkOf(link), size);
    const { url } = await serverOf(true);
    kept = await RoomClass.open<R>(browser, `${url}${linkOf(link)}`, size);
    return kept.ready();
  }
  return {
    open,
    reenter,
    /** Opens the page and waits for the first answer of the engine. */
    enter: async (link?: string, options?: VisitOptions): Promise<R> =>
      (await open(link, options)).ready(),
    /**
     * Declares a test of words, links and numbers, which the same code makes in every browser: only Chromium runs it.
     * Tests of pictures, layout, pointers, keys, files and threads run in both browsers.
     */
    it: (name === "chrome" ? test : () => {}) as typeof test,
  };
}
