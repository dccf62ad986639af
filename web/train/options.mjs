// The command line of ./dev train.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { architectureOf, recipeOf, shipped, taskOf, tasks } from "heed/models";
import { tableOf } from "./table.mjs";
import { writePlan } from "./text/plan.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const shippedFolder = join(root, "web/public/models");

const architectures = ["transformer", "decoder", "encoder", "rnn", "bahdanau", "dot"];

/** The allowed ranges of whole numbers. */
const ranges = {
  seed: [0, 2 ** 32 - 1],
  size: [1, 2048],
  layers: [1, 32],
  heads: [1, 64],
  batch: [1, 4096],
  steps: [1, 1_000_000],
  threads: [1, 64],
  length: [2, 4096],
  vocabulary: [257, 65_536],
};

const usage = `Usage: ./dev train TASK [--model M] [--seed N] [OPTIONS]
       ./dev train NAME | --all | --list
       ./dev train write [--text FILE] [--seed N] [OPTIONS]

  TASK               ${Object.keys(tasks).join(", ")}
  NAME               a model that the repository has the files of; --all trains all of them, --list tells
                     what they reached
  --model M          ${architectures.join(", ")}
  --seed N           of initial values, examples and dropout (1)
  --tokens KIND      of the task's text: character, subword, word
  --size N           numbers of an embedding
  --layers N         layers
  --heads N          heads of attention
  --positions KIND   sinusoidal, none
  --batch N          examples of a step
  --steps N          steps at most
  --learning-rate X  the highest one
  --threads N        threads (as many as there are cores)
  --name NAME        of the folder that files go to (TASK-MODEL)
  --out DIR          where files go, with --all in a folder for each model (web/public/models/NAME, or build/train/NAME for what the repository does not have)
  --restart          begin anew, whatever there is in build/train/NAME

  write              a language model of English, whose texts are fetched; --all does not train it
  --text FILE        learn this text instead
  --length N         tokens of an example
  --vocabulary N     different tokens
  --finish           write the files of the best checkpoint so far, without further steps
`;

/** An error of the request itself. */
export function misuse(message, cause) {
  return Object.assign(new Error(message, { cause }), { code: "option", isMisuse: true });
}

const optionTypes = {
  ...Object.fromEntries(Object.keys(ranges).map((name) => [name, { type: "string" }])),
  model: { type: "string" },
  tokens: { type: "string" },
  positions: { type: "string" },
  "learning-rate": { type: "string" },
  name: { type: "string" },
  out: { type: "string" },
  text: { type: "string" },
  restart: { type: "boolean" },
  finish: { type: "boolean" },
  all: { type: "boolean" },
  list: { type: "boolean" },
  help: { type: "boolean" },
};

/** Reads the plans to train. Ends the process if there are none, or if the arguments are invalid. */
export function parse(given) {
  try {
    return read(given);
  } catch (error) {
    if (error.code === undefined) throw error;
    // The further lines of parseArgs suggest other uses of the argument.
    console.error(`heed: ${error.message.split("\n")[0]}`);
    process.exit(2);
  }
}

function read(given) {
  const { values, positionals } = parseArgs({
    args: given,
    options: optionTypes,
    allowPositionals: true,
  });
  if (values.help) end(usage);
  if (values.list) end(tableOf(shipped, shippedFolder));
  const threads = wholeNumber("threads", values.threads);
  const common = {
    ...(threads && { threads }),
    isRestart: values.restart ?? false,
    command: ["./dev train", ...given.filter((word) => word !== "--restart")].join(" "),
  };
  if (values.all) {
    const others = ["all", "threads", "restart", "out"];
    const other = Object.keys(values).find((name) => !others.includes(name));
    if (other || positionals.length > 0)
      throw misuse(`--all: expected no ${other ? `--${other}` : "task"} beside it`);
    return { ...common, plans: shipped.map((plan) => placed(plan, inOwnFolder(plan, values))) };
  }
  if (positionals.length !== 1)
    throw misuse(
      `expected one task of ${Object.keys(tasks).join(", ")}, got ${positionals.join(" ") || "none"} (--help tells more)`,
    );
  const [what] = positionals;
  const plan = what === writePlan.name ? planOfText(values) : planOf(what, values);
  return { ...common, plans: [placed(plan, values)] };
}

/** A folder for each model, because all models use the same file names. */
const inOwnFolder = ({ name }, { out }) => (out === undefined ? {} : { out: join(out, name) });

function end(text) {
  process.stdout.write(text);
  process.exit(0);
}

function wholeNumber(name, text) {
  if (text === undefined) return undefined;
  const [least, most] = ranges[name];
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < least || number > most)
    throw misuse(`--${name}: expected a whole number from ${least} to ${most}, got ${text}`);
  return number;
}

function oneOf(name, text, known) {
  if (text !== undefined && !known.includes(text))
    throw misuse(`${name}: expected one of ${known.join(", ")}, got ${text}`);
  return text;
}

function learningRateOf({ "learning-rate": given }) {
  const rate = given === undefined ? undefined : Number(given);
  if (rate !== undefined && !(rate > 0 && rate < 10))
    throw misuse(`--learning-rate: expected a number above 0 and below 10, got ${given}`);
  return rate;
}

/** Applies the requested changes to the steps, and to the numbers that depend on the steps. */
function recipeWith(recipe, { batch, steps, learningRate }) {
  return {
    ...recipe,
    ...(batch && { batch }),
    ...(learningRate && { learningRate }),
    ...(steps && {
      steps,
      warmupSteps: Math.min(recipe.warmupSteps, Math.floor(steps / 10)),
      checkEvery: Math.min(recipe.checkEvery, steps),
    }),
  };
}

/** Throws if options belong to other plans only. */
function refuseOptions(what, names, values) {
  const other = names.find((name) => values[name] !== undefined);
  if (other) throw misuse(`--${other}: expected none for ${what}`);
}

const optionsOfTasks = ["model", "tokens", "positions"];
const optionsOfTexts = ["text", "length", "vocabulary", "finish"];

/** The plan of the language model, with the requested changes. */
function planOfText(values) {
  refuseOptions(writePlan.name, optionsOfTasks, values);
  const numbers = ["size", "layers", "heads", "batch", "steps", "length", "vocabulary"].map(
    (name) => [name, wholeNumber(name, values[name])],
  );
  const { size, layers, heads, length, vocabulary, ...given } = Object.fromEntries(numbers);
  const { config, recipe } = writePlan;
  return {
    ...writePlan,
    ...(values.text !== undefined && { text: values.text }),
    ...(vocabulary && { vocabulary }),
    config: {
      ...config,
      ...(size && { hidden_size: size, intermediate_size: 16 * Math.round((9 * size) / 64) || 16 }),
      ...(layers && { num_hidden_layers: layers }),
      ...(heads && { num_attention_heads: heads, num_key_value_heads: Math.ceil(heads / 2) }),
    },
    recipe: {
      ...recipeWith(recipe, { ...given, learningRate: learningRateOf(values) }),
      ...(length && { length }),
    },
    seed: wholeNumber("seed", values.seed) ?? writePlan.seed,
    ...(values.finish && { isFinishing: true }),
  };
}

/** A plan of recipes.ts, with the requested changes. */
function planOf(what, values) {
  refuseOptions(what, optionsOfTexts, values);
  const ready = shipped.find(({ name }) => name === what);
  const base = ready ?? planOfTask(what, values);
  if (ready && values.model) throw misuse(`--model: expected none beside the name ${what}`);
  const learningRate = learningRateOf(values);
  const [size, layers, heads, batch, steps] = ["size", "layers", "heads", "batch", "steps"].map(
    (name) => wholeNumber(name, values[name]),
  );
  const positions = oneOf("--positions", values.positions, ["sinusoidal", "none"]);
  const { options, recipe } = base;
  return {
    ...base,
    taskOptions: { ...base.taskOptions, ...(values.tokens && { tokens: values.tokens }) },
    options: {
      ...options,
      ...(size && { size, dimFeedforward: 2 * size }),
      ...(layers && { layers }),
      ...(heads && { heads }),
      ...(positions && { positions }),
    },
    recipe: recipeWith(recipe, { batch, steps, learningRate }),
    seed: wholeNumber("seed", values.seed) ?? base.seed,
  };
}

function planOfTask(name, { model }) {
  const known = Object.keys(tasks);
  if (!known.includes(name))
    throw misuse(
      `task: expected one of ${known.join(", ")}, ${writePlan.name}, or a name that --list has, got ${name}`,
    );
  const architecture = oneOf("--model", model, architectures) ?? architectureOf(taskOf(name));
  return recipeOf(name, architecture);
}

/** The plan with its folders. Only an unchanged plan writes into the repository. */
function placed(plan, { name = plan.name, out }) {
  if (!/^[\w-][\w.-]*$/.test(name))
    throw misuse(`--name: expected letters, digits, dots and dashes, got ${name}`);
  const { isFinishing, ...asked } = { ...plan, name };
  const isShipped = [...shipped, writePlan].some((own) => isDeepStrictEqual(own, asked));
  const checkpoints = join(root, "build/train", name);
  const usual = isShipped ? join(shippedFolder, name) : checkpoints;
  return { ...plan, name, checkpoints, texts: join(root, "build/texts"), out: out ?? usual };
}
