/**
 * Trains the small models of heed/models.
 *
 *   node web/train.mjs TASK [--model M] [--seed N] ...        see `./dev train --help`
 *
 * It computes with the binary without relaxed SIMD. Its results are bit-identical on every machine and with any number of
 * threads, so the same command makes the same files everywhere. This binary is too slow for the language model, which
 * is trained with the fastest one. Its results are bit-identical only on machines of the same kind.
 */
import { load } from "heed";
import { parse } from "./train/options.mjs";
import { Progress } from "./train/progress.mjs";
import { train } from "./train/run.mjs";
import { Interrupted } from "./train/session.mjs";
import { trainText } from "./train/text/run.mjs";

const interruption = new AbortController();
// Only the first signal is handled: a second Ctrl-C ends the process without waiting for the end of a step.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => interruption.abort());
// The reader of the output has closed it: `./dev train ... | head`.
process.stdout.on("error", () => interruption.abort());

/**
 * The binary with merged vectors if Node merges them (./dev train looks for such a Node); otherwise the default of
 * `load`.
 */
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
  // 130 is the shell's code for an interruption; 2 means that the request cannot be carried out.
  process.exitCode = isInterrupted ? 130 : error.isMisuse ? 2 : 1;
} finally {
  heed?.dispose();
}
