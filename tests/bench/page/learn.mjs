// Measures how long a model takes to learn its task in a page.

import { load } from "/heed/index.js";
import { configOf, createModel, evaluate, shipped, Trainer, taskOf } from "/heed/models.js";
import { nn } from "/heed/nn.js";

const held = 200;
/** Evaluations in a row that must reach the goal. */
const looks = 2;

/**
 * Trains a shipped model's plan from the beginning, and evaluates it on the validation split every fifty
 * steps. The time of the evaluations counts too.
 */
export async function learn({ name, variant, threads, goal }) {
  const plan = shipped.find((one) => one.name === name);
  if (plan === undefined)
    throw new Error(
      `--learn: expected one of ${shipped.map((one) => one.name).join(", ")}, got ${name}`,
    );
  const heed = await load({ variant, threads });
  const task = taskOf(plan.task, plan.taskOptions);
  const { recipe, seed } = plan;
  const begin = performance.now();
  const model = createModel(heed, configOf(task, plan.architecture, { ...plan.options, seed }));
  const trainer = new Trainer(model, task, { recipe, seed });
  const random = new nn.Generator(seed);
  const examples = Array.from({ length: held }, () => task.generate(random, "validation"));
  let [exact, good] = [0, 0];
  while (!trainer.finished && good < looks) {
    trainer.step();
    if (trainer.stepCount % 50 !== 0) continue;
    ({ exact } = await evaluate(model, examples));
    good = exact >= goal ? good + 1 : 0;
  }
  const seconds = (performance.now() - begin) / 1000;
  const steps = trainer.stepCount;
  heed.dispose();
  return { steps, exact, seconds, isReached: good === looks };
}
