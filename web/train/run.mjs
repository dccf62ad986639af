// One training of a model of a task, from the plan to the files.

import { relative } from "node:path";
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
import { writeFiles } from "./folder.mjs";
import { percent } from "./progress.mjs";
import { reportOf } from "./report.mjs";
import { asMisuse, runTraining } from "./session.mjs";

const examplesOfALook = 200;
const examplesOfTheTest = 1000;

/** Trains a model until all steps are done, or until two consecutive evaluations reach the goal: see runTraining. */
export async function train(heed, plan, session) {
  const task = await asMisuse(() => taskOf(plan.task, plan.taskOptions));
  const model = await asMisuse(() =>
    createModel(heed, configOf(task, plan.architecture, { ...plan.options, seed: plan.seed })),
  );
  const { recipe, seed } = plan;
  const trainer = await asMisuse(() => new Trainer(model, task, { recipe, seed }));
  const held = draw(task, "validation", seed, examplesOfALook);
  try {
    await runTraining(trainer, plan, session, {
      look: async (signal) => ({ exact: (await evaluate(model, held, { signal })).exact }),
      scoreOf: ({ exact }) => exact,
      describe: (look) => `exact ${percent(look?.exact)}`,
      isGood: (looks) =>
        looks.length > 1 && looks.slice(-2).every(({ exact }) => exact >= recipe.goal),
      finish: (log, signal) => finish(trainer, plan, log, signal, session.progress),
    });
  } finally {
    trainer.dispose();
    model.dispose();
  }
}

const draw = (task, split, seed, count) => {
  const random = new nn.Generator(seed);
  return Array.from({ length: count }, () => task.generate(random, split));
};

/** Writes the best model, and the scores that it reaches after it is loaded from its file. */
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

/** The scores on variants of the task: see probesOf. */
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
