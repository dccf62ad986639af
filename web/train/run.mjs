// One training, from the plan to the files.

import { join, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import {
  alignment,
  configOf,
  createModel,
  evaluate,
  loadModel,
  probesOf,
  saveModel,
  Trainer,
  taskOf,
} from "heed/models";
import { nn } from "heed/nn";
import { makeFolder, occupy, readIfThere, writeFiles } from "./folder.mjs";
import { misuse } from "./options.mjs";
import { reportOf } from "./report.mjs";

const checkpointName = "checkpoint.safetensors";
const examplesOfALook = 200;
const examplesOfTheTest = 1000;
/** Points of the curve of the loss. */
const mostPoints = 200;

/** Training was stopped from outside, and is kept. */
export class Interrupted extends Error {}

/**
 * Trains what a plan says, from its beginning or from where it was stopped, and writes the files.
 *
 * @throws Interrupted when the signal came, and what `misuse` makes where the plan cannot be carried out
 */
export async function train(heed, plan, { signal, isRestart, progress }) {
  const task = await sensible(() => taskOf(plan.task, plan.taskOptions));
  const model = await sensible(() =>
    createModel(heed, configOf(task, plan.architecture, { ...plan.options, seed: plan.seed })),
  );
  const { recipe, seed } = plan;
  const trainer = await sensible(() => new Trainer(model, task, { recipe, seed }));
  let leave;
  try {
    await sensible(() => makeFolder(plan.checkpoints), `${plan.checkpoints}: `);
    await sensible(() => makeFolder(plan.out), `${plan.out}: `);
    leave = await sensible(() => occupy(plan.checkpoints), `${plan.checkpoints}: `);
    const log = await begin(trainer, plan, isRestart, progress);
    try {
      await learn(trainer, plan, log, signal, progress);
      await finish(trainer, plan, log, signal, progress);
    } catch (error) {
      if (!signal.aborted) throw error;
      await keep(trainer, plan, log);
      const file = relative(process.cwd(), join(plan.checkpoints, checkpointName));
      progress.say(`step ${trainer.stepCount} of ${recipe.steps}, kept in ${file}`);
      throw new Interrupted("training was interrupted");
    }
  } finally {
    await leave?.();
    trainer.dispose();
    model.dispose();
  }
}

/** What cannot be done as it was asked for is told as such. */
async function sensible(run, prefix = "") {
  try {
    return await run();
  } catch (error) {
    if (error.code === undefined) throw error;
    throw misuse(`${prefix}${error.message}`, error);
  }
}

/** What is known of the steps done: from a checkpoint, if there is one. */
async function begin(trainer, plan, isRestart, progress) {
  const file = join(plan.checkpoints, checkpointName);
  const shown = relative(process.cwd(), file);
  const bytes = isRestart ? undefined : await sensible(() => readIfThere(file), `${shown}: `);
  const { steps } = plan.recipe;
  if (bytes === undefined) {
    progress.begin(steps);
    return { seconds: 0, points: [], open: noPoint, looks: [] };
  }
  const words = "; --restart begins anew, another --name keeps both";
  const log = await sensible(() => JSON.parse(trainer.resume(bytes)), `${shown}: `).catch(
    (error) => {
      throw misuse(`${error.message}${words}`, error);
    },
  );
  progress.begin(steps, log.looks.at(-1)?.exact);
  progress.say(`goes on after step ${trainer.stepCount} of ${steps}, from ${shown}`);
  return log;
}

const noPoint = { steps: 0, loss: 0, right: 0, tokens: 0 };

function keep(trainer, plan, log) {
  return writeFiles(plan.checkpoints, { [checkpointName]: trainer.state(JSON.stringify(log)) });
}

const draw = (task, split, seed, count) => {
  const random = new nn.Generator(seed);
  return Array.from({ length: count }, () => task.generate(random, split));
};

/** Steps until all are done, or the goal is reached twice in a row. */
async function learn(trainer, plan, log, signal, progress) {
  const { recipe, seed } = plan;
  const held = draw(trainer.task, "validation", seed, examplesOfALook);
  const every = Math.ceil(recipe.steps / mostPoints);
  const isLookDue = () => trainer.finished || trainer.stepCount % recipe.checkEvery === 0;
  const isGood = () =>
    log.looks.length > 1 && log.looks.slice(-2).every(({ exact }) => exact >= recipe.goal);
  let clock = performance.now();
  const count = () => {
    const now = performance.now();
    log.seconds += (now - clock) / 1000;
    clock = now;
  };
  for (;;) {
    const last = log.looks.at(-1)?.step ?? 0;
    if (isLookDue() && last !== trainer.stepCount) {
      const { exact } = await evaluate(trainer.model, held, { signal });
      log.looks.push({ step: trainer.stepCount, exact });
      trainer.keepIfBest(exact);
      count();
      await keep(trainer, plan, log);
      progress.look(trainer.stepCount, exact);
    }
    if (trainer.finished || isGood()) return;
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

/** Writes the best model, and what it reaches once it is loaded from its file. */
async function finish(trainer, plan, log, signal, progress) {
  const { task, best } = trainer;
  const { heed, config } = trainer.model;
  const model = createModel(heed, config);
  model.loadStateDict(best.parameters);
  const files = saveModel(model);
  model.dispose();
  const loaded = loadModel(heed, files);
  try {
    const test = draw(task, "test", plan.seed, examplesOfTheTest);
    const scores = await evaluate(loaded, test, { signal });
    const probes = await probe(loaded, plan.seed, signal);
    const heads = alignment(loaded, test);
    const report = reportOf({ trainer, plan, log, files, scores, probes, heads });
    await writeFiles(plan.out, {
      "model.safetensors": files.weights,
      "config.json": files.config,
      "report.json": report,
    });
    const reached = `exact ${(100 * scores.exact).toFixed(1)} % of ${scores.examples} examples held out`;
    progress.say(`best at step ${best.step}: ${reached}`);
    progress.say(
      `${Math.round(log.seconds)} s, files in ${relative(process.cwd(), plan.out) || "."}`,
    );
  } finally {
    loaded.dispose();
  }
}

/** The scores of what the task has beside its own examples: see probesOf. */
async function probe(model, seed, signal) {
  const { task: name, taskOptions } = model.config;
  const scores = {};
  for (const [words, changes] of Object.entries(probesOf(taskOf(name, taskOptions)))) {
    const examples = draw(
      taskOf(name, { ...taskOptions, ...changes }),
      "test",
      seed,
      examplesOfTheTest,
    );
    scores[words] = await evaluate(model, examples, { signal });
  }
  return scores;
}
