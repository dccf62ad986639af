// The tasks, by name.

import { describe, refuse } from "../error.js";
import type { Task } from "./examples.js";
import { brackets } from "./tasks/brackets.js";
import { dates } from "./tasks/dates.js";
import { pronouns } from "./tasks/pronouns.js";
import { copy, reverse, sort } from "./tasks/sequences.js";
import { series } from "./tasks/series.js";
import { shapes } from "./tasks/shapes.js";

/** What makes each task, from those of its options that are to be different. */
export const tasks = { brackets, copy, dates, pronouns, reverse, series, shapes, sort };

export type TaskName = keyof typeof tasks;

/**
 * A task by its name, as a command line or a model's config has it.
 * @throws HeedError "option" that names what is not known or makes no sense
 */
export function taskOf(name: string, options: Task["options"] = {}): Task {
  if (!Object.hasOwn(tasks, name))
    throw refuse("option", "task", `one of ${Object.keys(tasks).join(", ")}`, describe(name));
  return (tasks[name as TaskName] as (options: object) => Task)(options);
}
