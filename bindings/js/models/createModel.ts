// From a config to the model that it describes.

import { describe, refuse } from "../error.js";
import type { Heed } from "../ops.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isShare,
  isWholeNumber,
  oneOf,
} from "../validate.js";
import { EncoderModel } from "./encoderModel.js";
import type { Example, Task } from "./examples.js";
import type { Architecture, ModelConfig, TaskModel } from "./model.js";
import { RecurrentModel } from "./recurrent.js";
import { DecoderModel, TransformerModel } from "./transformers.js";

type Kind = Example["kind"];

interface Builder {
  /** What it can learn. */
  readonly kinds: readonly Kind[];
  readonly isRecurrent: boolean;
  readonly make: (heed: Heed, config: ModelConfig) => TaskModel;
}

const recurrent: Builder = {
  kinds: ["translation"],
  isRecurrent: true,
  make: (heed, config) => new RecurrentModel(heed, config),
};

const builders: Readonly<Record<Architecture, Builder>> = {
  transformer: {
    kinds: ["translation"],
    isRecurrent: false,
    make: (heed, config) => new TransformerModel(heed, config),
  },
  decoder: {
    kinds: ["continuation", "translation"],
    isRecurrent: false,
    make: (heed, config) => new DecoderModel(heed, config),
  },
  encoder: {
    kinds: ["tagging", "series", "picture"],
    isRecurrent: false,
    make: (heed, config) => new EncoderModel(heed, config),
  },
  rnn: recurrent,
  bahdanau: recurrent,
  dot: recurrent,
};

const isText: Check = { expected: "a text", accepts: (value) => typeof value === "string" };

/** An object that has something fitting under each of some names. */
const isPair = (expected: string, fits: (value: unknown) => boolean): Check => ({
  expected: `an object with source and target, ${expected}`,
  accepts: (value) =>
    value !== null &&
    typeof value === "object" &&
    ["source", "target"].every((side) => fits((value as Record<string, unknown>)[side])),
});

const checks = {
  task: isText,
  taskOptions: {
    expected: "an object of numbers, texts, true and false",
    accepts: (value) =>
      value !== null &&
      typeof value === "object" &&
      Object.values(value).every((option) =>
        ["number", "string", "boolean"].includes(typeof option),
      ),
  },
  kind: oneOf("translation", "tagging", "continuation", "series", "picture"),
  architecture: oneOf(...Object.keys(builders)),
  vocabulary: isPair(
    "lists of tokens",
    (list) => Array.isArray(list) && list.every((token) => typeof token === "string"),
  ),
  longest: isPair("whole numbers of 1 or more", isWholeNumber(1).accepts),
  size: isWholeNumber(1),
  layers: isWholeNumber(1),
  heads: isWholeNumber(1),
  dimFeedforward: isWholeNumber(1),
  dropout: isShare,
  positions: oneOf("sinusoidal", "none"),
  seed: isWholeNumber(0, 2 ** 32 - 1),
} satisfies Record<keyof ModelConfig, Check>;

/** Refuses a config that no model can be made from, as one from a file may be. */
export function checkConfig(config: ModelConfig): void {
  checkOptions("a config", config, checks);
  for (const [name, check] of Object.entries(checks))
    checkArgument(name, config[name as keyof ModelConfig], check);
  const { kind, architecture, size, heads, vocabulary } = config;
  const { kinds, isRecurrent } = builders[architecture];
  if (!kinds.includes(kind)) {
    const fitting = Object.entries(builders).filter(([, builder]) => builder.kinds.includes(kind));
    const names = fitting.map(([name]) => describe(name)).join(" or ");
    throw refuse("option", "architecture", `${names} for a ${kind}`, describe(architecture));
  }
  if (isRecurrent && heads !== 1)
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

/** What a config has beside a task: all by default. */
export type ConfigOptions = Partial<
  Pick<
    ModelConfig,
    "size" | "layers" | "heads" | "dimFeedforward" | "dropout" | "positions" | "seed"
  >
>;

const optionChecks = {
  size: checks.size,
  layers: checks.layers,
  heads: checks.heads,
  dimFeedforward: checks.dimFeedforward,
  dropout: checks.dropout,
  positions: checks.positions,
  seed: checks.seed,
} satisfies Record<keyof ConfigOptions, Check>;

/**
 * The config of a model of a task.
 *
 * @param options by default size 64, 2 layers of 4 heads (1 in recurrent models), dimFeedforward twice the
 *   size, no dropout, sinusoidal positions, seed 0
 * @throws HeedError "option" for what does not go together
 */
export function configOf(
  task: Task,
  architecture: Architecture,
  options: ConfigOptions = {},
): ModelConfig {
  checkOptions("configOf", options, optionChecks);
  checkArgument("architecture", architecture, checks.architecture);
  const { size = 64, layers = 2, dropout = 0, positions = "sinusoidal", seed = 0 } = options;
  const { heads = builders[architecture].isRecurrent ? 1 : 4 } = options;
  const { dimFeedforward = 2 * size } = options;
  const { name, kind, vocabulary, longest, options: taskOptions } = task;
  const config: ModelConfig = {
    ...{ task: name, taskOptions, kind, architecture, vocabulary, longest },
    ...{ size, layers, heads, dimFeedforward, dropout, positions, seed },
  };
  checkConfig(config);
  return config;
}

/**
 * The model that a config describes, with its initial values: the same ones for the same config.
 *
 * @throws HeedError "option" for a config that describes none
 */
export function createModel(heed: Heed, config: ModelConfig): TaskModel {
  checkConfig(config);
  return builders[config.architecture].make(heed, config);
}
