// Saves models to files and loads them: the config in JSON, the parameters in safetensors.

import { describe, HeedError, refuse } from "../core/error.js";
import type { Bytes } from "../core/module.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isBoolean,
  isFunction,
  isRecord,
  isSignal,
  oneOf,
} from "../core/validate.js";
import type { Heed } from "../heed.js";
import { checkEngine } from "../nn/module.js";
import { read, type SafetensorsEntry, write } from "../nn/safetensors.js";
import { checkTensors } from "../nn/stateDict.js";
import { checkConfig } from "./config.js";
import { createModel } from "./createModel.js";
import type { HubModel, LoadModelOptions } from "./language/load.js";
import { TaskModel } from "./model.js";
import type { ModelConfig } from "./modelConfig.js";
import { parameterShapes } from "./parameterShapes.js";
import type { ModelSource } from "./sources.js";

/** The contents of config.json and model.safetensors. */
export interface ModelFiles {
  /** The text of config.json. */
  config: string;
  /** The bytes of model.safetensors. */
  weights: Uint8Array;
}

/** Options of `saveModel`. */
export interface SaveModelOptions {
  /** The type of the saved elements: "float16", the default, takes half the bytes of "float32". */
  dtype?: "float16" | "float32";
}

const format = "heed-model";
const formatVersion = 1;

const isModel: Check = {
  expected: "a model",
  accepts: (value) => value instanceof TaskModel,
};

const saveChecks = {
  dtype: oneOf("float16", "float32"),
} satisfies Record<keyof SaveModelOptions, Check>;

/**
 * Saves a model. A model that is loaded from the files computes with the rounded parameters, so evaluate
 * that one.
 *
 * @throws HeedError "nan" for a parameter that is not finite, or not finite in float16
 * @example
 * ```ts
 * const model = createModel(heed, configOf(tasks.copy(), "transformer", { size: 16, layers: 1, heads: 2 }));
 * const files = saveModel(model, { dtype: "float32" });
 * console.log(JSON.parse(files.config).task, loadModel(heed, files).config.size); // prints: copy 16
 * ```
 */
export function saveModel(
  model: TaskModel,
  options: SaveModelOptions = {},
): { config: string; weights: Bytes } {
  checkArgument("model", model, isModel);
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

const loadChecks = {
  dtype: oneOf("float32", "float16", "int8"),
  keep: isBoolean,
  signal: isSignal,
  onProgress: isFunction,
} satisfies Record<keyof LoadModelOptions, Check>;

/**
 * Creates a model from the contents of its files, in eval mode. The contents are not trusted.
 *
 * @throws HeedError "format" that names the fault in the files, "memory"
 * @example
 * ```ts
 * const model = createModel(heed, configOf(tasks.copy(), "transformer", { size: 16, layers: 1, heads: 2 }));
 * const copy = loadModel(heed, saveModel(model)); // in a page: await loadModel(heed, "https://huggingface.co/openai-community/gpt2")
 * console.log(copy.config.architecture); // prints: transformer
 * ```
 */
export function loadModel(heed: Heed, files: ModelFiles): TaskModel;
/**
 * Creates a model from its files, in eval mode: a model of this package, or one of text or images in the layout
 * of Hugging Face's hub, config.json with model.safetensors or with several files and their index. The files
 * are read part by part, and their content is not trusted.
 *
 *     const model = await loadModel(heed, "https://huggingface.co/gpt2", { dtype: "int8" });
 *
 * @param files the address of their folder, a folder that the user opened, a list of files, or files by name
 * @throws HeedError "load" for a file that is missing or cannot be read; "format" that names the fault in a
 *   file: an architecture that is not known, or all tensors that are missing or do not fit; "memory"; "storage" if
 *   the browser has no room for the files that it is to keep
 */
export function loadModel(
  heed: Heed,
  files: ModelSource,
  options?: LoadModelOptions,
): Promise<TaskModel | HubModel>;
export function loadModel(
  heed: Heed,
  files: ModelFiles | ModelSource,
  options: LoadModelOptions = {},
): TaskModel | Promise<TaskModel | HubModel> {
  checkEngine(heed);
  const isRead =
    isRecord(files) && Object.hasOwn(files, "config") && Object.hasOwn(files, "weights");
  return isRead
    ? createFrom(heed, files as unknown as ModelFiles)
    : loadFrom(heed, files as ModelSource, options);
}

async function loadFrom(heed: Heed, files: ModelSource, options: LoadModelOptions) {
  checkOptions("loadModel", options, loadChecks);
  const { keep, signal } = options;
  signal?.throwIfAborted();
  // Loaded on demand: a page whose models are its own needs none of this.
  const { openFolder, readJson, missing } = await import("./sources.js");
  const folder = await openFolder(files, keep);
  const config = await readJson(folder, "config.json", signal);
  if (config.format !== format) {
    const { loadHubModel } = await import("./language/load.js");
    return loadHubModel(heed, folder, config, options);
  }
  const file = await folder.open("model.safetensors", signal);
  if (file === undefined) throw missing(folder, "model.safetensors");
  const weights = await file.read(0, file.size, signal);
  return createFrom(heed, { config: JSON.stringify(config), weights });
}

function createFrom(heed: Heed, files: ModelFiles): TaskModel {
  const config = readConfig(files.config);
  const { tensors } = read(files.weights);
  // Checks before anything is created, because a config may ask for more than the available memory.
  within("config", () => checkConfig(config));
  within("weights", () => checkTensors("the module", parameterShapes(config), tensors, true));
  for (const [name, entry] of Object.entries(tensors)) {
    const at = placeNotFinite(entry);
    if (at >= 0) throw refuse("format", name, "finite numbers", `another at place ${at}`);
  }
  const model = within("config", () => createModel(heed, config));
  try {
    within("weights", () => model.loadStateDict(tensors));
  } catch (error) {
    model.dispose();
    throw error;
  }
  return model.eval();
}

/** Reports errors that the content of a file causes as HeedError "format". */
function within<T>(file: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    const isRefusal =
      error instanceof HeedError && ["option", "shape", "dtype"].includes(error.code);
    if (!isRefusal) throw error;
    throw new HeedError("format", `${file}: ${error.message}`, { cause: error });
  }
}

/**
 * The index of the first element that is not finite, or -1. Types that the function does not know, and
 * integers, give -1.
 */
function placeNotFinite({ dtype, data }: SafetensorsEntry): number {
  if (dtype === "float16")
    return (data as Uint16Array).findIndex((bits) => (bits & 0x7c00) === 0x7c00);
  if (dtype === "bfloat16")
    return (data as Uint16Array).findIndex((bits) => (bits & 0x7f80) === 0x7f80);
  if (dtype === "float32" || dtype === "float64")
    return (data as Float32Array).findIndex((number) => !Number.isFinite(number));
  return -1;
}

/** Parses a config and checks its format and version. `checkConfig` checks its content. */
function readConfig(json: string): ModelConfig {
  let given: unknown;
  try {
    given = JSON.parse(json);
  } catch (error) {
    throw refuse("format", "config", "JSON", error instanceof Error ? error.message : "none");
  }
  if (!isRecord(given)) throw refuse("format", "config", "an object", describe(given));
  const { format: said, version, ...config } = given;
  if (said !== format) throw refuse("format", "config: format", describe(format), describe(said));
  if (version !== formatVersion)
    throw refuse("format", "config: version", `${formatVersion}`, describe(version));
  return config as unknown as ModelConfig;
}
