// One training of any kind: it starts, or continues from a checkpoint, evaluates on held-out data at intervals, and
// writes files at the end.

import { join, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import { makeFolder, occupy, readIfThere, writeFiles } from "./folder.mjs";
import { misuse } from "./options.mjs";

const checkpointName = "checkpoint.safetensors";
/** The maximum number of points of the loss curve. */
const mostPoints = 200;

/** The training was stopped from outside, and a checkpoint was written. */
export class Interrupted extends Error {}

/**
 * Trains by a plan, from the first step or from the checkpoint, and writes the files.
 *
 * @param kind the functions that depend on the kind of training: `look(signal)` evaluates on held-out examples,
 * `scoreOf(look)` is higher for a better result, `describe(look)` describes a result or its absence, `isGood(looks)`
 * ends the training early, and `finish(log, signal)` writes the files
 * @throws Interrupted after the signal, or an error of `misuse` if the plan cannot be carried out
 */
export async function runTraining(trainer, plan, { signal, isRestart, progress }, kind) {
  let leave;
  try {
    await asMisuse(() => makeFolder(plan.checkpoints), `${plan.checkpoints}: `);
    await asMisuse(() => makeFolder(plan.out), `${plan.out}: `);
    leave = await asMisuse(() => occupy(plan.checkpoints), `${plan.checkpoints}: `);
    const log = await begin(trainer, plan, isRestart, progress, kind);
    try {
      if (!plan.isFinishing) await learn(trainer, plan, log, signal, progress, kind);
      else if (trainer.best === undefined) throw misuse("there is no checkpoint to finish");
      await kind.finish(log, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      if (!plan.isFinishing) await keep(trainer, plan, log);
      const file = relative(process.cwd(), join(plan.checkpoints, checkpointName));
      progress.say(`step ${trainer.stepCount} of ${plan.recipe.steps}, kept in ${file}`);
      throw new Interrupted("training was interrupted");
    }
  } finally {
    await leave?.();
  }
}

/** Runs a function and converts system errors to errors of the request. */
export async function asMisuse(run, prefix = "") {
  try {
    return await run();
  } catch (error) {
    if (error.code === undefined) throw error;
    throw misuse(`${prefix}${error.message}`, error);
  }
}

/** The log of the steps done so far: from a checkpoint if there is one. */
async function begin(trainer, plan, isRestart, progress, { describe }) {
  const file = join(plan.checkpoints, checkpointName);
  const shown = relative(process.cwd(), file);
  const bytes = isRestart ? undefined : await asMisuse(() => readIfThere(file), `${shown}: `);
  const { steps } = plan.recipe;
  if (bytes === undefined) {
    progress.begin(steps, describe());
    return emptyLog();
  }
  const words = "; --restart begins anew, another --name keeps both";
  const log = await asMisuse(() => JSON.parse(trainer.resume(bytes)), `${shown}: `).catch(
    (error) => {
      throw misuse(`${error.message}${words}`, error);
    },
  );
  progress.begin(steps, describe(log.looks.at(-1)));
  progress.say(`goes on after step ${trainer.stepCount} of ${steps}, from ${shown}`);
  return { ...emptyLog(), ...log };
}

const noPoint = { steps: 0, loss: 0, right: 0, tokens: 0 };

/** Seconds of the clock, and processor seconds of all threads, which do not include the share of other programs. */
const emptyLog = () => ({ seconds: 0, processorSeconds: 0, points: [], open: noPoint, looks: [] });

function keep(trainer, plan, log) {
  return writeFiles(plan.checkpoints, { [checkpointName]: trainer.state(JSON.stringify(log)) });
}

/** Trains until all steps are done, or until the result on held-out data is good enough. */
async function learn(trainer, plan, log, signal, progress, kind) {
  const { recipe } = plan;
  const every = Math.ceil(recipe.steps / mostPoints);
  const isLookDue = () => trainer.finished || trainer.stepCount % recipe.checkEvery === 0;
  let [clock, processor] = [performance.now(), process.cpuUsage()];
  const count = () => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(processor);
    log.seconds += (now - clock) / 1000;
    log.processorSeconds += (user + system) / 1e6;
    [clock, processor] = [now, process.cpuUsage()];
  };
  for (;;) {
    const last = log.looks.at(-1)?.step ?? 0;
    if (isLookDue() && last !== trainer.stepCount) {
      const look = await kind.look(signal);
      log.looks.push({ step: trainer.stepCount, ...look });
      trainer.keepIfBest(kind.scoreOf(look));
      count();
      await keep(trainer, plan, log);
      progress.look(trainer.stepCount, kind.describe(look));
    }
    if (trainer.finished || kind.isGood(log.looks)) return;
    const before = performance.now();
    const done = trainer.step();
    progress.step(done, performance.now() - before);
    addPoint(log, done, every);
    count();
    // Signals are delivered only between tasks.
    await setImmediate();
    signal.throwIfAborted();
  }
}

/** Adds a point to the curve, which is the mean of several steps. */
function addPoint(log, { step, loss, right, tokens }, every) {
  const open = {
    steps: log.open.steps + 1,
    loss: log.open.loss + loss,
    right: log.open.right + (right ?? 0) * tokens,
    tokens: log.open.tokens + tokens,
  };
  log.open = open;
  if (step % every !== 0) return;
  log.points.push({
    ...{ step, loss: open.loss / open.steps },
    ...(right !== undefined && { right: open.right / open.tokens }),
  });
  log.open = noPoint;
}
