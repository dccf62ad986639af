// `./dev soak [MINUTES [SEED]] --browser`: in one Chromium, the rooms of the Playground are visited
// in any order, the page is reloaded, other pages come and go, and engines in workers compute, are
// cancelled and end. Prints a line each minute. Ends with an error if a number was wrong, a page
// reported an error, or workers or memory remained.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { complaintsOf, launch, serve, workersOf } from "../e2e/browsers";
import { serve as serveFolders } from "../harness/server.mjs";

const [minutes = "60", seedGiven] = process.argv.slice(2).filter((arg) => arg !== "--browser");
let state = Number(seedGiven ?? Date.now() % 2 ** 31);
const started = performance.now();
const elapsed = () => (performance.now() - started) / 60_000;
const MB = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
const draw = (below: number) => {
  state = (Math.imul(state, 1664525) + 1013904223) | 0;
  return Math.floor(((state >>> 1) / 2 ** 31) * below);
};
console.log(`seed ${state}: the same acts again with ./dev soak MINUTES ${state} --browser`);

const models = ["models", "models&model=pronouns", "models&model=dates", "models&model=yours"];
const rooms = ["steps", ...models, "learn", "recurrent", "beyond", "speed"];
const anyRoom = () => `#room=${rooms[draw(rooms.length)]}`;
const wrong: string[] = [];
const done = { visits: 0, reloads: 0, pages: 0, workers: 0 };

const folder = join(import.meta.dirname, "page");
mkdirSync(folder, { recursive: true });
writeFileSync(
  join(folder, "index.html"),
  '<!doctype html><link rel="icon" href="data:,"><title>Workers</title>',
);
const playground = await serve();
const files = await serveFolders({ dist: join(import.meta.dirname, "../../dist"), page: folder });
const browser = await launch("chrome", ["--js-flags=--expose-gc"]);

async function open(url: string): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage();
  const complaints = complaintsOf(page);
  // It would keep the files of this build for the next server at this address.
  await page.evaluateOnNewDocument(() => {
    Object.defineProperty(Navigator.prototype, "serviceWorker", { value: undefined });
  });
  await page.goto(url);
  return { page, complaints };
}

const first = await open(`${playground.url}#room=steps`);
const second = await open(`${files.url}/page/index.html`);

async function ready(page: Page): Promise<void> {
  await page.waitForSelector("[data-footnote]", { timeout: 120_000 });
  await page.waitForSelector("main:not(:has(progress))", { timeout: 120_000 });
}

async function visit(page: Page, room = anyRoom()): Promise<void> {
  await page.evaluate(`location.hash = "${room}"`);
  await ready(page);
  ++done.visits;
}

/**
 * In the page of workers, four workers in parallel must agree with the engine of the page, and a
 * cancelled call leaves nothing.
 */
async function compute(seed: number): Promise<string[]> {
  // Addresses of the server, which the bundler must not look for.
  const [core, worker] = ["/dist/index.js", "/dist/worker.js"];
  const { load }: typeof import("heed") = await import(core);
  const { loadInWorker }: typeof import("heed/worker") = await import(worker);
  const own = await load({ threads: 2 });
  const expected = own.scope(() => {
    const x = own.normal([1, 4, 256, 64], { seed });
    return own.sum(own.attention(x, x, x, { isCausal: true }).output).item();
  });
  own.dispose();
  const run = async (): Promise<string[]> => {
    const heed = await loadInWorker({ threads: 2 });
    const found = await heed.scope(async (scoped) => {
      const x = await scoped.normal([1, 4, 256, 64], { seed });
      const { output } = await scoped.attention(x, x, x, { isCausal: true });
      const large = await scoped.zeros([1, 8, 4096, 64]);
      const controller = new AbortController();
      const call = scoped.attention(large, large, large, { signal: controller.signal });
      setTimeout(() => controller.abort(), 20);
      // A call that was finished before is right, too.
      const code = await call.then(
        () => "cancelled",
        (error) => error.code,
      );
      return [await (await scoped.sum(output)).item(), code];
    });
    const is = JSON.stringify([...found, (await heed.memory()).tensors.count]);
    heed.dispose();
    const should = JSON.stringify([expected, "cancelled", 0]);
    return is === should ? [] : [`a worker, seed ${seed}: expected ${should}, got ${is}`];
  };
  return (await Promise.all([run(), run(), run(), run()])).flat();
}

const acts = {
  visit: () => visit(first.page),
  async reload() {
    await first.page.reload();
    await ready(first.page);
    ++done.reloads;
  },
  async page() {
    const { page, complaints } = await open(`${playground.url}${anyRoom()}`);
    await ready(page);
    await Promise.all([visit(page), visit(first.page)]);
    await page.close();
    wrong.push(...complaints);
    ++done.pages;
  },
  async workers() {
    wrong.push(...(await second.page.evaluate(compute, draw(1000))));
    done.workers += 4;
  },
};

/** The resident memory of the browser's processes, and how many there are. */
function processes(): { rss: number; count: number } {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid=,rss="], { encoding: "utf8" }).split("\n");
  const all = lines.map((line) => line.trim().split(/\s+/).map(Number) as [number, number, number]);
  const own = new Set([browser.process()?.pid]);
  // A child may be listed before its parent.
  for (let before = 0; before < own.size; ) {
    before = own.size;
    for (const [pid, parent] of all) if (own.has(parent)) own.add(pid);
  }
  const kilobytes = all.reduce((sum, [pid, , rss]) => sum + (own.has(pid) ? rss : 0), 0);
  return { rss: 1024 * kilobytes, count: own.size };
}

/**
 * Measures memory, workers and processes when both pages are as at the beginning and no more memory
 * is being freed.
 */
async function measure() {
  await first.page.goto(`${playground.url}#room=steps`);
  await first.page.reload();
  await ready(first.page);
  const heapOf = async () => {
    let sum = 0;
    for (const { page } of [first, second]) {
      const client = await page.createCDPSession();
      await client.send("HeapProfiler.collectGarbage");
      sum += (await client.send("Runtime.getHeapUsage")).usedSize;
      await client.detach();
    }
    return sum;
  };
  let heap = await heapOf();
  for (let falls = true; falls; ) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const now = await heapOf();
    falls = now < 0.99 * heap;
    heap = now;
  }
  const workers = (await workersOf(first.page)).length + second.page.workers().length;
  return { heap, workers, ...processes() };
}

// Runs every act and room once, so that their code and data are loaded.
for (const act of Object.values(acts)) await act();
for (const room of rooms) await visit(first.page, `#room=${room}`);
const before = await measure();
const line = ({ heap, rss, workers, count }: typeof before) =>
  `${done.visits} visits, ${done.reloads} reloads, ${done.pages} other pages, ${done.workers} engines in workers; ` +
  `heap ${MB(heap)}, browser ${MB(rss)} in ${count} processes, ${workers} workers; ${wrong.length} wrong`;
console.log(`0 min: ${line(before)}`);
let end = Number(minutes);
process.on("SIGINT", () => {
  end = 0;
});
for (let told = 0; elapsed() < end; ) {
  const act = Object.values(acts)[draw(4)] as () => Promise<void>;
  await act().catch((error: unknown) => wrong.push(String(error)));
  if (elapsed() < told + 1) continue;
  told = Math.floor(elapsed());
  console.log(`${told} min: ${line(await measure())}`);
}
const after = await measure();
wrong.push(...first.complaints, ...second.complaints);
if (after.workers !== before.workers)
  wrong.push(`${after.workers} workers were left, at first ${before.workers}`);
if (after.heap > 1.2 * before.heap + 4e6)
  wrong.push(`the heap grew from ${MB(before.heap)} to ${MB(after.heap)}`);
if (after.rss > 1.5 * before.rss + 100e6)
  wrong.push(`the browser grew from ${MB(before.rss)} to ${MB(after.rss)}`);
for (const text of new Set(wrong)) console.log(`wrong: ${text}`);
console.log(`${elapsed().toFixed(1)} minutes: ${line(after)}`);
await browser.close();
playground.stop();
files.stop();
process.exitCode = wrong.length === 0 ? 0 : 1;
