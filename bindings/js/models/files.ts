// Models as files: what they are made from, in JSON, and their parameters, in safetensors.

import { describe, HeedError } from "../error.js";
import type { Heed } from "../ops.js";
import { read, type SafetensorsEntry, write } from "../safetensors.js";
import { type Check, checkOptions, isShare, isWholeNumber, oneOf } from "../validate.js";
import type { ModelConfig, TaskModel } from "./model.js";
import { Vocabulary } from "./vocabulary.js";

/** config.json and model.safetensors. */
export interface ModelFiles {
  config: string;
  weights: Uint8Array;
}

export interface SaveModelOptions {
  /** Of the numbers in the file: "float16", the default, takes half the bytes of "float32". */
  dtype?: "float16" | "float32";
}

const format = "heed-model";
const formatVersion = 1;

const saveChecks = {
  dtype: oneOf("float16", "float32"),
} satisfies Record<keyof SaveModelOptions, Check>;

const isName: Check = {
  expected: "a name",
  accepts: (value) => typeof value === "string" && value !== "",
};

const configChecks = {
  task: isName,
  taskOptions: {
    expected: "an object of numbers, texts, true and false",
    accepts: (value) =>
      isObject(value) &&
      Object.values(value).every((x) => ["number", "string", "boolean"].includes(typeof x)),
  },
  kind: oneOf("translation", "tagging", "continuation", "series", "picture"),
  architecture: isName,
  vocabulary: {
    expected: "{ source, target }, lists of different tokens that are not the special ones",
    accepts: (value) => isObject(value) && isVocabulary(value.source) && isVocabulary(value.target),
  },
  longest: {
    expected: "{ source, target }, whole numbers of 1 or more",
    accepts: (value) => isObject(value) && isLength(value.source) && isLength(value.target),
  },
  size: isWholeNumber(1),
  layers: isWholeNumber(1),
  heads: isWholeNumber(1),
  dimFeedforward: isWholeNumber(1),
  dropout: isShare,
  positions: oneOf("sinusoidal", "none"),
  seed: isWholeNumber(0, 2 ** 32 - 1),
} satisfies Record<keyof ModelConfig, Check>;

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function isLength(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 1;
}

function isVocabulary(tokens: unknown): boolean {
  if (!Array.isArray(tokens) || !tokens.every((token) => typeof token === "string")) return false;
  try {
    return new Vocabulary(tokens).size > 0;
  } catch {
    return false;
  }
}

const wrong = (what: string, expected: string, got: string) =>
  new HeedError("format", `${what}: expected ${expected}, got ${got}`);

/**
 * The files of a model. What is loaded from them computes with the rounded numbers: that is the model to
 * evaluate.
 *
 * @throws HeedError "nan" for a parameter that is not finite, or not in float16
 */
export function saveModel(
  model: TaskModel,
  options: SaveModelOptions = {},
): { config: string; weights: Uint8Array<ArrayBuffer> } {
  checkOptions("saveModel", options, saveChecks);
  const { dtype = "float16" } = options;
  const { heed, config } = model;
  const json = JSON.stringify({ format, version: formatVersion, ...config }, undefined, 2);
  const weights = heed.scope(() => {
    const tensors = Object.entries(model.stateDict()).map(([name, tensor]) => {
      const saved = dtype === "float16" ? heed.cast(tensor, dtype) : tensor;
      const at = placeNotFinite(saved);
      if (at >= 0) {
        const got = `${tensor.data[at]}`;
        throw new HeedError(
          "nan",
          `${name}: expected numbers that are finite in ${dtype}, got ${got}`,
        );
      }
      return [name, saved] as const;
    });
    return write(Object.fromEntries(tensors));
  });
  return { config: `${json}\n`, weights };
}

/**
 * Makes a model from its files. Nothing in them is trusted.
 *
 * @param create makes a model from its config, such as createModel
 * @throws HeedError "format" that tells what is wrong in the files, and what `create` refuses
 */
export function loadModel<M extends TaskModel>(
  heed: Heed,
  { config: json, weights }: ModelFiles,
  create: (heed: Heed, config: ModelConfig) => M,
): M {
  const config = readConfig(json);
  const { tensors } = read(weights);
  for (const [name, entry] of Object.entries(tensors)) {
    const at = placeNotFinite(entry);
    if (at >= 0) throw wrong(name, "finite numbers", `another at place ${at}`);
  }
  const model = create(heed, config);
  try {
    model.loadStateDict(tensors);
  } catch (error) {
    model.dispose();
    if (!(error instanceof HeedError)) throw error;
    throw new HeedError("format", `weights: ${error.message}`, { cause: error });
  }
  return model.eval();
}

/** Where the first number stands that is not finite, or -1; of types with none, and of others, too. */
function placeNotFinite({ dtype, data }: SafetensorsEntry): number {
  if (dtype === "float16")
    return (data as Uint16Array).findIndex((bits) => (bits & 0x7c00) === 0x7c00);
  if (dtype === "bfloat16")
    return (data as Uint16Array).findIndex((bits) => (bits & 0x7f80) === 0x7f80);
  if (dtype === "float32" || dtype === "float64")
    return (data as Float32Array).findIndex((number) => !Number.isFinite(number));
  return -1;
}

function readConfig(json: string): ModelConfig {
  let given: unknown;
  try {
    given = JSON.parse(json);
  } catch (error) {
    throw wrong("config", "JSON", error instanceof Error ? error.message : "none");
  }
  if (!isObject(given)) throw wrong("config", "an object", describe(given));
  const { format: said, version, ...config } = given;
  if (said !== format) throw wrong("config: format", describe(format), describe(said));
  if (version !== formatVersion)
    throw wrong("config: version", `${formatVersion}`, describe(version));
  const names = Object.keys(configChecks);
  const missing = names.filter((name) => config[name] === undefined);
  if (missing.length > 0) throw wrong("config", names.join(", "), `none of ${missing.join(", ")}`);
  try {
    checkOptions("a model's config", config, configChecks);
  } catch (error) {
    throw new HeedError("format", `config: ${(error as Error).message}`, { cause: error });
  }
  return config as unknown as ModelConfig;
}
