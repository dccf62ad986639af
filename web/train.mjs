/**
 * Trains the small models of heed/models.
 *
 *   node web/train.mjs TASK [--model M] [--seed N] ...        see `./dev train --help`
 *
 * It computes with the binary without relaxed SIMD, whose results are the same bits on every machine and with any number
 * of threads: the same command makes the same files everywhere. The language model takes too long for that: it is
 * trained with the fastest binary, which gives the same bits on machines of the same kind.
 */
import { load } from "heed";
import { parse } from "./train/options.mjs";
import { Progress } from "./train/progress.mjs";
import { train } from "./train/run.mjs";
import { Interrupted } from "./train/session.mjs";
import { trainText } from "./train/text/run.mjs";

const interruption = new AbortController();
// Once: whoever presses Ctrl-C again does not want to wait for the end of a step.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => interruption.abort());
// Whoever read along has gone: `./dev train ... | head`.
process.stdout.on("error", () => interruption.abort());

/** The binary for merged vectors in a Node that merges them, which ./dev train looks for; else what load chooses. */
function fastest() {
  const merges = process.execArgv.some((option) =>
    /^--(experimental-)?wasm-revectorize$/.test(option),
  );
  return merges ? { variant: "wide" } : {};
}

const { plans, threads, isRestart, command } = parse(process.argv.slice(2));
let heed;
try {
  const isText = plans.some(({ kind }) => kind === "text");
  heed = await load({ ...(isText ? fastest() : { variant: "simd" }), threads });
  for (const plan of plans)
    await (isText ? trainText : train)(heed, plan, {
      signal: interruption.signal,
      isRestart,
      progress: new Progress(plan.name, process.stdout),
    });
} catch (error) {
  const isInterrupted = error instanceof Interrupted;
  if (!isInterrupted && error.code === undefined) throw error;
  console.error(`heed: ${error.message}`);
  if (isInterrupted) console.error(`heed: the same command goes on from there: ${command}`);
  // 130 is what a shell gives for an interruption, 2 for what was asked for and cannot be.
  process.exitCode = isInterrupted ? 130 : error.isMisuse ? 2 : 1;
} finally {
  heed?.dispose();
}
