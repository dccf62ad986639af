// The tasks by name.

import { describe, refuse } from "../core/error.js";
import { checkArgument, isText, isTexts, oneOf } from "../core/validate.js";
import { isGenerator } from "../nn/random.js";
import type { Example, Task } from "./examples.js";
import { brackets } from "./tasks/brackets.js";
import { dates } from "./tasks/dates.js";
import { pronouns } from "./tasks/pronouns.js";
import { copy, reverse, sort } from "./tasks/sequences.js";
import { series } from "./tasks/series.js";
import { shapes } from "./tasks/shapes.js";

const isSplit = oneOf("train", "validation", "test");

/** Wraps a task so that its functions check their arguments. */
function checked<O, E extends Example>(make: (given?: O) => Task<E>): (given?: O) => Task<E> {
  return (given) => {
    const task = make(given);
    const { read, solve, write } = task;
    return {
      ...task,
      generate(random, split) {
        checkArgument("random", random, isGenerator);
        checkArgument("split", split, isSplit);
        return task.generate(random, split);
      },
      ...(read && {
        read(text) {
          checkArgument("text", text, { ...isText, expected: "a text that is not empty" });
          return read(text);
        },
      }),
      ...(solve && {
        solve(text) {
          checkArgument("text", text, isText);
          return solve(text);
        },
      }),
      ...(write && {
        write(tokens) {
          checkArgument("tokens", tokens, isTexts);
          return write(tokens);
        },
      }),
    };
  };
}

/**
 * The functions that create each task. Options that are not given have defaults.
 *
 * @example
 * ```ts
 * const task = tasks.reverse({ maxLength: 6 });
 * const example = task.generate(new nn.Generator(1), "train");
 * console.log(example.target.join("") === [...example.source].reverse().join("")); // prints: true
 * ```
 */
export const tasks = {
  brackets: checked(brackets),
  copy: checked(copy),
  dates: checked(dates),
  pronouns: checked(pronouns),
  reverse: checked(reverse),
  series: checked(series),
  shapes: checked(shapes),
  sort: checked(sort),
};

/**
 * The name of a task.
 *
 * @example
 * ```ts
 * const name: TaskName = "dates";
 * console.log(tasks[name]().kind); // prints: translation
 * ```
 */
export type TaskName = keyof typeof tasks;

/**
 * Creates a task by its name, which may come from a command line or a model's config.
 *
 * @throws HeedError "option" that names the unknown task, or the unknown or invalid option
 * @example
 * ```ts
 * console.log(taskOf("dates").read!("the 3rd of March, 2021").kind); // prints: translation
 * ```
 */
export function taskOf(name: string, options: Task["options"] = {}): Task {
  checkArgument("task", name, isText);
  if (!Object.hasOwn(tasks, name))
    throw refuse("option", "task", `one of ${Object.keys(tasks).join(", ")}`, describe(name));
  return (tasks[name as TaskName] as (options: object) => Task)(options);
}
