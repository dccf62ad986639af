// `./dev soak [MINUTES]`: random calls, caches, training steps and reloads, in two threads of one process, compared with
// the reference. Prints a line each minute, and a summary at the end or after Ctrl-C. Ends with an error if a number was
// wrong, something was left behind, or memory grew.

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { counts, endurance, labels } from "./endurance.js";
import { Soak, type Tally } from "./soak.js";

const [minutes = "60", seedGiven] = process.argv.slice(2);
const seed = Number(seedGiven ?? Date.now() % 2 ** 31);
const started = performance.now();
const elapsed = () => (performance.now() - started) / 60_000;
const MB = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
const count = (number: number) => number.toLocaleString("en");

const own = new Soak(seed);
// A worker would inherit the options of the process, and refuses --expose-gc.
const worker = new Worker(new URL(import.meta.url.replace(/main\.mjs$/, "soak.mjs")), {
  workerData: seed ^ 0x5bd1e995,
  execArgv: [],
});
let others: Tally | undefined;
let fault: unknown;
worker.on("message", (tally: Tally) => {
  others = tally;
});
worker.on("error", (error) => {
  fault = error;
  own.isStopped = true;
});

function total(): Tally {
  const sum = structuredClone(own.tally);
  if (others === undefined) return sum;
  for (const [name, value] of Object.entries(others) as [keyof Tally, number | string[]][])
    if (typeof value === "number") (sum[name] as number) += value;
  sum.wrong.push(...others.wrong);
  return sum;
}

/** The memory of the process: the heap of the main thread after the garbage collector ran. */
function memory() {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapUsed, rss };
}

const line = (tally: Tally, { heapUsed, rss }: ReturnType<typeof memory>) =>
  `${count(tally.calls)} calls, ${count(tally.refused)} refused, ${count(tally.trainingSteps)} training steps, ` +
  `${count(tally.reloads)} reloads; heap ${MB(heapUsed)}, engines ${MB(tally.engineUsed)} of ` +
  `${MB(tally.engineSize)}, RSS ${MB(rss)}; ${tally.wrong.length} wrong`;

console.log(`seed ${seed}: the same calls again with ./dev soak MINUTES ${seed}`);
const measured: ReturnType<typeof memory>[] = [];
let told = 0;
const shown = new Set<string>();
function tell(wrong: readonly string[]): void {
  for (const text of wrong) {
    if (!shown.has(text)) console.log(`wrong: ${text}`);
    shown.add(text);
  }
}
const ticker = setInterval(() => {
  worker.postMessage("tally");
  if (elapsed() >= Number(minutes)) own.isStopped = true;
  if (elapsed() < told + 1) return;
  told = Math.floor(elapsed());
  measured.push(memory());
  const tally = total();
  tell(tally.wrong);
  console.log(`${told} min: ${line(tally, measured.at(-1) as ReturnType<typeof memory>)}`);
}, 1000);
let isInterrupted = false;
process.on("SIGINT", () => {
  own.isStopped = true;
  isInterrupted = true;
});

await own.run();
clearInterval(ticker);
if (fault === undefined) {
  worker.postMessage("stop");
  await once(worker, "exit");
}
const tally = total();
// Actions with many repetitions run last, each alone, so that its memory can be measured.
for (const [name, times] of Object.entries(counts) as [keyof typeof counts, number][]) {
  if (isInterrupted) break;
  const { before, after } = await endurance[name](times);
  const grown = after.heap - before.heap > 10e6 || after.rss - before.rss > 100e6;
  const text =
    `${count(times)} ${labels[name]}: heap ${MB(before.heap)} to ${MB(after.heap)}, ` +
    `RSS ${MB(before.rss)} to ${MB(after.rss)}, threads ${before.threads} to ${after.threads}`;
  console.log(text);
  if (grown || after.threads > before.threads) tally.wrong.push(text);
}
if (fault !== undefined) tally.wrong.push(`the second thread ended: ${fault}`);
const last = memory();
// The first minutes include code that runs for the first time, and code that is still being
// compiled.
const [first = last] = measured.slice(Math.min(2, measured.length - 1));
if (measured.length > 5 && last.heapUsed > 1.2 * first.heapUsed + 4e6)
  tally.wrong.push(`the heap grew from ${MB(first.heapUsed)} to ${MB(last.heapUsed)}`);
if (measured.length > 5 && last.rss > 1.3 * first.rss + 50e6)
  tally.wrong.push(`the process grew from ${MB(first.rss)} to ${MB(last.rss)}`);
tell(tally.wrong);
console.log(`${elapsed().toFixed(1)} minutes: ${line(tally, last)}`);
process.exitCode = tally.wrong.length === 0 ? 0 : 1;
