// One training of any kind: it begins or goes on from a checkpoint, looks at what is held out now and then, and
// ends in files.

import { join, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import { makeFolder, occupy, readIfThere, writeFiles } from "./folder.mjs";
import { misuse } from "./options.mjs";

const checkpointName = "checkpoint.safetensors";
/** Points of the curve of the loss. */
const mostPoints = 200;

/** Training was stopped from outside, and is kept. */
export class Interrupted extends Error {}

/**
 * Trains what a plan says, from its beginning or from where it was stopped, and writes the files.
 *
 * @param kind what differs between kinds of training: `look(signal)` returns what is measured on examples
 *   held out, `scoreOf(look)` is higher for a better one, `describe(look)` tells of it, also of none,
 *   `isGood(looks)` ends the training early, and `finish(log, signal)` writes the files
 * @throws Interrupted when the signal came, and what `misuse` makes where the plan cannot be carried out
 */
export async function pursue(trainer, plan, { signal, isRestart, progress }, kind) {
  let leave;
  try {
    await sensible(() => makeFolder(plan.checkpoints), `${plan.checkpoints}: `);
    await sensible(() => makeFolder(plan.out), `${plan.out}: `);
    leave = await sensible(() => occupy(plan.checkpoints), `${plan.checkpoints}: `);
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

/** What cannot be done as it was asked for is told as such. */
export async function sensible(run, prefix = "") {
  try {
    return await run();
  } catch (error) {
    if (error.code === undefined) throw error;
    throw misuse(`${prefix}${error.message}`, error);
  }
}

/** What is known of the steps done: from a checkpoint, if there is one. */
async function begin(trainer, plan, isRestart, progress, { describe }) {
  const file = join(plan.checkpoints, checkpointName);
  const shown = relative(process.cwd(), file);
  const bytes = isRestart ? undefined : await sensible(() => readIfThere(file), `${shown}: `);
  const { steps } = plan.recipe;
  if (bytes === undefined) {
    progress.begin(steps, describe());
    return emptyLog();
  }
  const words = "; --restart begins anew, another --name keeps both";
  const log = await sensible(() => JSON.parse(trainer.resume(bytes)), `${shown}: `).catch(
    (error) => {
      throw misuse(`${error.message}${words}`, error);
    },
  );
  progress.begin(steps, describe(log.looks.at(-1)));
  progress.say(`goes on after step ${trainer.stepCount} of ${steps}, from ${shown}`);
  return { ...emptyLog(), ...log };
}

const noPoint = { steps: 0, loss: 0, right: 0, tokens: 0 };

/** Seconds on the clock, and of all threads on processors, which does not count other programs' share. */
const emptyLog = () => ({ seconds: 0, processorSeconds: 0, points: [], open: noPoint, looks: [] });

function keep(trainer, plan, log) {
  return writeFiles(plan.checkpoints, { [checkpointName]: trainer.state(JSON.stringify(log)) });
}

/** Steps until all are done, or what is held out is good enough. */
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
    // Signals arrive only when nothing runs.
    await setImmediate();
    signal.throwIfAborted();
  }
}

/** A point of the curve is the mean of some steps. */
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
