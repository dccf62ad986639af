// Creates and checks configs of models.

import { describe, refuse } from "../core/error.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isLayerCount,
  isListOf,
  isObject,
  isShare,
  isText,
  isWholeNumber,
  mostBytes,
  oneOf,
} from "../core/validate.js";
import { isSeed } from "../nn/random.js";
import type { Example, Task } from "./examples.js";
import type { Architecture, ModelConfig } from "./modelConfig.js";
import { parameterCount } from "./parameterShapes.js";
import { Vocabulary } from "./vocabulary.js";

type Kind = Example["kind"];

/** The kinds of tasks that each architecture supports. */
const kindsOf: Readonly<Record<Architecture, readonly Kind[]>> = {
  transformer: ["translation"],
  decoder: ["continuation", "translation"],
  encoder: ["tagging", "series", "picture"],
  rnn: ["translation"],
  bahdanau: ["translation"],
  dot: ["translation"],
};

const isRecurrent = (architecture: Architecture) =>
  ["rnn", "bahdanau", "dot"].includes(architecture);

const isRecurrentSize: Check = {
  expected: "an even number of 2 or more, half for each direction of the encoder",
  accepts: (value) => isWholeNumber(2).accepts(value) && (value as number) % 2 === 0,
};

/** Accepts an object whose `source` and `target` both fit. */
const isPair = (expected: string, fits: (value: unknown) => boolean): Check => ({
  expected: `an object with source and target, ${expected}`,
  accepts: (value) => isObject(value) && ["source", "target"].every((side) => fits(value[side])),
});

const optionChecks = {
  size: isWholeNumber(1),
  layers: isLayerCount,
  heads: isWholeNumber(1),
  dimFeedforward: isWholeNumber(1),
  dropout: isShare,
  positions: oneOf("sinusoidal", "none"),
  seed: isSeed,
} satisfies Record<keyof ConfigOptions, Check>;

const checks = {
  task: isText,
  taskOptions: {
    expected: "an object of numbers, texts, true and false",
    accepts: (value) =>
      isObject(value) &&
      Object.values(value).every((option) =>
        ["number", "string", "boolean"].includes(typeof option),
      ),
  },
  kind: oneOf("translation", "tagging", "continuation", "series", "picture"),
  architecture: oneOf(...Object.keys(kindsOf)),
  vocabulary: isPair("lists of tokens", (list) => isListOf(list, isText.accepts)),
  longest: isPair("whole numbers from 1 to 65536", isWholeNumber(1, 2 ** 16).accepts),
  ...optionChecks,
} satisfies Record<keyof ModelConfig, Check>;

/**
 * Throws a HeedError "option" if no model can be created from the config, which may come from a
 * file.
 *
 * @throws HeedError "option" that names the field
 * @example
 * ```ts
 * const config = configOf(tasks.reverse(), "transformer");
 * checkConfig(config); // throws nothing
 * console.log(config.architecture); // prints: transformer
 * ```
 */
export function checkConfig(config: ModelConfig): void {
  checkOptions("a config", config, checks);
  for (const [name, check] of Object.entries(checks))
    checkArgument(name, config[name as keyof ModelConfig], check);
  const { kind, architecture, size, heads, vocabulary } = config;
  if (!kindsOf[architecture].includes(kind)) {
    const fitting = Object.entries(kindsOf).filter(([, kinds]) => kinds.includes(kind));
    const names = fitting.map(([name]) => describe(name)).join(" or ");
    throw refuse("option", "architecture", `${names} for a ${kind}`, describe(architecture));
  }
  for (const tokens of [vocabulary.source, vocabulary.target]) new Vocabulary(tokens);
  if (isRecurrent(architecture)) checkArgument("size", size, isRecurrentSize);
  if (isRecurrent(architecture) && heads !== 1)
    throw refuse("option", "heads", "1 in a recurrent model", String(heads));
  if (size % heads !== 0) throw refuse("option", "heads", `a divisor of size ${size}`, `${heads}`);
  const sides = {
    source: kind === "translation" || kind === "tagging",
    target: kind !== "series",
  };
  for (const [side, isNeeded] of Object.entries(sides)) {
    if (isNeeded && vocabulary[side as keyof typeof sides].length === 0)
      throw refuse("option", `vocabulary.${side}`, "one token or more", "none");
  }
}

/** Throws a HeedError "memory" if the parameters of a model cannot fit in memory, before the model is created. */
export function checkMemory(config: ModelConfig): void {
  const bytes = 4 * parameterCount(config);
  if (bytes <= mostBytes) return;
  const { size, layers, dimFeedforward } = config;
  const sizes = `size ${size}, layers ${layers} and dimFeedforward ${dimFeedforward}`;
  const expected = `parameters of at most ${mostBytes} bytes`;
  throw refuse("memory", "config", expected, `${bytes} with ${sizes}`);
}

/** The options of a config; each has a default. */
export type ConfigOptions = Partial<
  Pick<
    ModelConfig,
    "size" | "layers" | "heads" | "dimFeedforward" | "dropout" | "positions" | "seed"
  >
>;

/**
 * Creates the config of a model for a task.
 *
 * @param options by default size 64, 2 layers of 4 heads (1 in recurrent models), dimFeedforward
 *   twice the size, no dropout, sinusoidal positions, seed 0
 * @throws HeedError "option" for values that are invalid or do not fit together
 * @example
 * ```ts
 * const config = configOf(tasks.reverse(), "transformer", { size: 32, layers: 1 });
 * console.log(config.size, config.heads); // prints: 32 4
 * ```
 */
export function configOf(
  task: Task,
  architecture: Architecture,
  options: ConfigOptions = {},
): ModelConfig {
  checkArgument("task", task, { expected: "a task", accepts: isObject });
  checkOptions("configOf", options, optionChecks);
  checkArgument("architecture", architecture, checks.architecture);
  const { size = 64, layers = 2, dropout = 0, positions = "sinusoidal", seed = 0 } = options;
  const { heads = isRecurrent(architecture) ? 1 : 4 } = options;
  const { dimFeedforward = 2 * size } = options;
  const { name, kind, vocabulary, longest, options: taskOptions } = task;
  const config: ModelConfig = {
    ...{ task: name, taskOptions, kind, architecture, vocabulary, longest },
    ...{ size, layers, heads, dimFeedforward, dropout, positions, seed },
  };
  checkConfig(config);
  return config;
}
