/** The page's worker: it owns the engine, so that the page itself never waits. */
import { type Heed, load } from "heed";
import type { FromWorker, Problem } from "./protocol";
import { solve } from "./solve";

function reply(message: FromWorker, transfer: Transferable[] = []): void {
  self.postMessage(message, { transfer });
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function answer(heed: Heed, problem: Problem): void {
  try {
    const solution = solve(heed, problem);
    // A sentence that attends to itself has one array under two names, and a buffer may be transferred only once.
    const buffers = new Set(
      Object.values(solution.arrays).flatMap((array) => (array ? [array.buffer] : [])),
    );
    reply({ kind: "solved", solution }, [...buffers]);
  } catch (error) {
    reply({ kind: "refused", message: wordsOf(error) });
  }
}

async function start(): Promise<void> {
  try {
    const heed = await load();
    self.onmessage = ({ data }: MessageEvent<Problem>) => answer(heed, data);
    const { version, variant, threads, reason } = heed.info;
    reply({ kind: "ready", info: { version, variant, threads, reason } });
  } catch (error) {
    reply({ kind: "failed", message: wordsOf(error) });
  }
}

void start();
