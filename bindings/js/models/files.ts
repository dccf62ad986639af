// Saves models to files and loads them: the config in JSON, the parameters in safetensors.

import { describe, refuse } from "../core/error.js";
import type { Bytes } from "../core/module.js";
import { parseJson, within } from "../core/objects.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  instanceOf,
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
import type { ByteTokenizer } from "./byteTokenizer.js";
import { checkConfig } from "./config.js";
import { createModel } from "./createModel.js";
import type { HubModel, LoadModelOptions } from "./language/load.js";
import { TaskModel } from "./model.js";
import type { ModelConfig } from "./modelConfig.js";
import { parameterShapes } from "./parameterShapes.js";
import type { Folder, ModelSource } from "./sources.js";
import { isTokenizerClass, type TextTokenizer, type TokenizerClass } from "./tokenizer.js";
import { tokenizerIn } from "./tokenizerFiles.js";

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

const saveChecks = {
  dtype: oneOf("float16", "float32"),
} satisfies Record<keyof SaveModelOptions, Check>;

/**
 * Saves a model. A model that is loaded from the files computes with the rounded parameters, so
 * evaluate the loaded model.
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
  checkArgument("model", model, instanceOf("a model", TaskModel));
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
        throw refuse("nan", name, `numbers that are finite in ${dtype}`, got);
      }
      return [name, saved] as const;
    });
    return write(Object.fromEntries(tensors));
  });
  return { config: `${json}\n`, weights };
}

/** Options of `loadModel` for a model with its tokenizer. */
export interface LoadBothOptions<T extends true | TokenizerClass = true | TokenizerClass>
  extends LoadModelOptions {
  /**
   * Loads the tokenizer too, as `loadTokenizer` does: true for a file that `ByteTokenizer` reads,
   * or the class Tokenizer of @huggingface/tokenizers.
   */
  tokenizer: T;
}

/** A model that `loadModel` returns, of any kind. */
export type LoadedModel = TaskModel | HubModel;

/** A model with its tokenizer, which `writeText` and `fillMasks` take. */
export interface ModelAndTokenizer<T extends TextTokenizer> {
  /** The model. */
  model: LoadedModel;
  /** Its tokenizer. */
  tokenizer: T;
}

const loadChecks = {
  dtype: oneOf("float32", "float16", "int8", "int4"),
  keep: isBoolean,
  signal: isSignal,
  onProgress: isFunction,
  tokenizer: {
    expected: "true or a class of tokenizers",
    accepts: (value) => value === true || isTokenizerClass.accepts(value),
  },
} satisfies Record<keyof LoadBothOptions, Check>;

/**
 * Creates a model of this package from the contents of its files, in eval mode. The contents are
 * not trusted. With options, and for files in the layout of the hub, the result is a promise.
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
 * Creates a model and its tokenizer, which `writeText` and `fillMasks` take.
 *
 *     const { model, tokenizer } = await loadModel(heed, "https://huggingface.co/Qwen/Qwen3-0.6B", { tokenizer: Tokenizer });
 *
 * @throws HeedError also the errors of `loadTokenizer`
 */
export function loadModel<T extends TextTokenizer>(
  heed: Heed,
  files: ModelSource | ModelFiles,
  options: LoadBothOptions<TokenizerClass<T>>,
): Promise<ModelAndTokenizer<T>>;
/** Creates a model and its tokenizer, for a tokenizer that `ByteTokenizer` reads. */
export function loadModel(
  heed: Heed,
  files: ModelSource | ModelFiles,
  options: LoadBothOptions<true>,
): Promise<ModelAndTokenizer<ByteTokenizer>>;
/**
 * Creates a model from its files, in eval mode: a model of this package, or a model of text or
 * images in the layout of Hugging Face's hub. The hub's layout is config.json with
 * model.safetensors, or with several files and their index. The files are read in parts, and their
 * content is not trusted.
 *
 *     const model = await loadModel(heed, "https://huggingface.co/gpt2", { dtype: "int8" });
 *
 * @param files the address of their folder, or in Node its path; a folder that the user opened, a
 *   list of files, or files by name: see `ModelSource`
 * @throws HeedError "load" for a file that is missing or cannot be read; "format" that names the
 *   fault in a file: an unknown architecture, or all tensors that are missing or do not fit;
 *   "memory"; "storage" if the browser has no room for the files that it should keep
 */
export function loadModel(
  heed: Heed,
  files: ModelSource | ModelFiles,
  options?: LoadModelOptions,
): Promise<LoadedModel>;
export function loadModel(
  heed: Heed,
  files: ModelFiles | ModelSource,
  options?: LoadModelOptions | LoadBothOptions,
): TaskModel | Promise<LoadedModel | ModelAndTokenizer<TextTokenizer>> {
  checkEngine(heed);
  if (!isInMemory(files)) return loadFrom(heed, files, options);
  const { config, weights } = files;
  const json = parseJson(config, "config");
  if (options === undefined && !("model_type" in json)) return createFrom(heed, json, weights);
  const named = { "config.json": new TextEncoder().encode(config), "model.safetensors": weights };
  return loadFrom(heed, named, options);
}

function isInMemory(files: ModelFiles | ModelSource): files is ModelFiles {
  const isBoth =
    isRecord(files) && Object.hasOwn(files, "config") && Object.hasOwn(files, "weights");
  return isBoth && typeof files.config === "string";
}

async function loadFrom(
  heed: Heed,
  files: ModelSource,
  options: LoadModelOptions | LoadBothOptions = {},
) {
  checkOptions("loadModel", options, loadChecks);
  const { keep, signal } = options;
  signal?.throwIfAborted();
  // Loaded on demand: a page that loads only its own models does not need this code.
  const { openFolder } = await import("./sources.js");
  const folder = await openFolder(files, keep, undefined, signal);
  try {
    if (!("tokenizer" in options) || options.tokenizer === undefined)
      return await modelIn(heed, folder, options);
    // The tokenizer is loaded first, because its files are small.
    const Tokenizer = options.tokenizer === true ? undefined : options.tokenizer;
    const tokenizer = await tokenizerIn(folder, Tokenizer, signal);
    return { model: await modelIn(heed, folder, options), tokenizer };
  } finally {
    folder.close?.();
  }
}

async function modelIn(heed: Heed, folder: Folder, options: LoadModelOptions) {
  const { signal } = options;
  const { missing, readJson, weightsName } = await import("./sources.js");
  const config = await readJson(folder, "config.json", signal);
  if (config.format !== format) {
    const { loadHubModel } = await import("./language/load.js");
    return loadHubModel(heed, folder, config, options);
  }
  const file = await folder.open(weightsName, signal);
  if (file === undefined) throw missing(folder, weightsName);
  return createFrom(heed, config, await file.read(0, file.size, signal));
}

function createFrom(heed: Heed, json: Record<string, unknown>, weights: Uint8Array): TaskModel {
  const config = checkFormat(json);
  const { tensors } = read(weights);
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

/** The index of the first element that is not finite, or -1. Integers and unknown types give -1. */
function placeNotFinite({ dtype, data }: SafetensorsEntry): number {
  if (dtype === "float16")
    return (data as Uint16Array).findIndex((bits) => (bits & 0x7c00) === 0x7c00);
  if (dtype === "bfloat16")
    return (data as Uint16Array).findIndex((bits) => (bits & 0x7f80) === 0x7f80);
  if (dtype === "float32" || dtype === "float64")
    return (data as Float32Array).findIndex((number) => !Number.isFinite(number));
  return -1;
}

/** Checks the format and version of a config. `checkConfig` checks its content. */
function checkFormat(given: Record<string, unknown>): ModelConfig {
  const { format: said, version, ...config } = given;
  if (said !== format) throw refuse("format", "config: format", describe(format), describe(said));
  if (version !== formatVersion)
    throw refuse("format", "config: version", `${formatVersion}`, describe(version));
  return config as unknown as ModelConfig;
}
