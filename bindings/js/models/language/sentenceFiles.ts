// Reads the steps after an encoder of sentences from the files of the package sentence-transformers. modules.json lists
// them.

import { describe, HeedError, refuse } from "../../core/error.js";
import { parseText } from "../../core/objects.js";
import { isListOf, isRecord, isText } from "../../core/validate.js";
import type { Heed } from "../../heed.js";
import { read } from "../../nn/safetensors.js";
import type { Activation } from "../../ops/activate.js";
import { type Folder, findJson, missing, readJson, readText } from "../sources.js";
import { Fields } from "./fields.js";
import { type Pooling, poolings } from "./pooling.js";
import { type Dense, type SentenceConfig, SentenceHead, usual } from "./sentences.js";

const activations: Readonly<Record<string, Activation | undefined>> = {
  Identity: undefined,
  Tanh: "tanh",
  GELU: "gelu",
  ReLU: "relu",
  SiLU: "silu",
};

/** The last part of the name of a Python class. */
const classOf = (name: unknown) => `${name}`.split(".").at(-1) as string;

/** Reads the settings of a pooling. */
function readPooling(fields: Fields): Pick<SentenceConfig, "poolings" | "includesPrompt"> {
  const flags: Readonly<Record<Pooling, string>> = {
    cls: "pooling_mode_cls_token",
    max: "pooling_mode_max_tokens",
    mean: "pooling_mode_mean_tokens",
    mean_sqrt_len: "pooling_mode_mean_sqrt_len_tokens",
    weightedmean: "pooling_mode_weightedmean_tokens",
    lasttoken: "pooling_mode_lasttoken",
  };
  const includesPrompt = fields.flag("include_prompt", true);
  // Newer files have the names, one or a list.
  if (fields.has("pooling_mode")) {
    const named = Object.fromEntries(
      poolings.map((name) => [name === "mean_sqrt_len" ? "mean_sqrt_len_tokens" : name, name]),
    );
    const given = fields.raw("pooling_mode");
    const expected = `${Object.keys(named).join(", ")}, or a list of these`;
    const chosen = [given].flat().map((name) => {
      if (typeof name === "string" && Object.hasOwn(named, name)) return named[name] as Pooling;
      throw fields.refuse("pooling_mode", expected, name);
    });
    if (chosen.length === 0) throw fields.refuse("pooling_mode", expected, given);
    return { poolings: chosen, includesPrompt };
  }
  const chosen = poolings.filter((name) => fields.flag(flags[name], name === "mean"));
  if (chosen.length > 0) return { poolings: chosen, includesPrompt };
  throw fields.refuse("pooling_mode_*", `one of ${Object.values(flags).join(", ")}`, "none");
}

async function readDense(
  heed: Heed,
  folder: Folder,
  { path, size }: { path: string; size: number },
  signal?: AbortSignal,
): Promise<Dense> {
  const name = `${path}/config.json`;
  const given = await readJson(folder, name, signal);
  const kind = classOf(given.activation_function ?? "Identity");
  if (!Object.hasOwn(activations, kind)) {
    const expected = Object.keys(activations).join(" or ");
    throw refuse("format", `${name}: activation_function`, expected, describe(kind));
  }
  const file = await folder.open(`${path}/model.safetensors`, signal);
  if (file === undefined) throw missing(folder, `${path}/model.safetensors`);
  const { tensors } = read(await file.read(0, file.size, signal));
  const { "linear.weight": weight, "linear.bias": bias } = tensors;
  const [out = 0, columns = 0] = weight?.shape ?? [];
  if (weight?.shape.length !== 2 || columns !== size)
    throw refuse("format", `${path}: linear.weight`, `[any, ${size}]`, describe(weight?.shape));
  if (bias && bias.shape.join() !== `${out}`)
    throw refuse("format", `${path}: linear.bias`, `[${out}]`, describe(bias.shape));
  const upload = ({ data, shape, dtype }: typeof weight, name: string) => {
    if (dtype !== "float32" && dtype !== "float16" && dtype !== "bfloat16")
      throw refuse("format", `${path}: ${name}`, "float32, float16 or bfloat16", dtype);
    const made = heed.tensor(data as Float32Array, [...shape], dtype as "float32");
    return dtype === "float32" ? made : heed.cast(made, "float32");
  };
  return heed.scope(() => ({
    weight: heed.keep(upload(weight, "linear.weight")),
    bias: bias && heed.keep(upload(bias, "linear.bias")),
    activation: activations[kind],
  }));
}

interface ModuleEntry {
  readonly kind: string;
  readonly path: string;
}

/** Reads the list of modules; undefined for a folder without it. */
async function readModules(
  folder: Folder,
  signal?: AbortSignal,
): Promise<ModuleEntry[] | undefined> {
  const name = "modules.json";
  const file = await folder.open(name, signal);
  if (file === undefined) return undefined;
  const modules = parseText(await readText(file, name, signal), name);
  if (!isListOf(modules, isRecord))
    throw refuse("format", name, "a list of modules", describe(modules));
  const entries = (modules as Record<string, unknown>[]).map(({ type, path }) => {
    const kind = classOf(type);
    if (!["Transformer", "Pooling", "Dense", "Normalize"].includes(kind)) {
      const expected = "Transformer, Pooling, Dense or Normalize";
      throw refuse("format", `${name}: type`, expected, describe(type));
    }
    if (typeof path !== "string" || !/^(\w[\w.-]*)?$/.test(path))
      throw refuse("format", `${name}: path`, "the name of a folder", describe(path));
    return { kind, path };
  });
  const order = entries.map(({ kind }) => kind).join(", ");
  if (/^Transformer, Pooling(, Dense)*(, Normalize)?$/.test(order)) return entries;
  const expected = "Transformer, Pooling, any number of Dense, at most one Normalize";
  throw refuse("format", name, expected, order || "none");
}

/** Reads the number of tokens, the prompts and the comparison, each from a file that may be absent. */
async function readSettings(folder: Folder, modelType: string, signal?: AbortSignal) {
  const fieldsOf = async (...names: string[]) => {
    for (const name of names) {
      const found = await findJson(folder, name, signal);
      if (found) return new Fields(found, name);
    }
    return new Fields({});
  };
  // Older models have the name of their architecture in the name of this file.
  const own = ["sentence_bert_config.json", `sentence_${modelType}_config.json`];
  const transformer = await fieldsOf(...own);
  const all = await fieldsOf("config_sentence_transformers.json");
  const isTexts = (value: unknown) => isRecord(value) && Object.values(value).every(isText.accepts);
  const expected = "an object of texts";
  const prompts = all.read<Record<string, string>>("prompts", { expected, accepts: isTexts }, {});
  const names = Object.fromEntries(Object.keys(prompts).map((name) => [name, name]));
  const has = all.has("default_prompt_name");
  return {
    maxTokens: transformer.has("max_seq_length") ? transformer.size("max_seq_length") : undefined,
    isLowerCase: transformer.flag("do_lower_case", false),
    prompts,
    defaultPrompt: has ? all.choice("default_prompt_name", names) : undefined,
    similarity: all.choice(
      "similarity_fn_name",
      { cosine: "cosine", dot: "dot" } as const,
      "cosine",
    ),
  };
}

/**
 * Reads the steps after an encoder; undefined for a folder without modules.json.
 *
 * @param encoder the size E of a position's vector, and the architecture's name in config.json
 * @throws HeedError "format" that names the module, the pooling or the field that is not known
 */
export async function sentenceHeadIn(
  heed: Heed,
  folder: Folder,
  { size, modelType }: { size: number; modelType: string },
  signal?: AbortSignal,
): Promise<SentenceHead | undefined> {
  const modules = await readModules(folder, signal);
  if (modules === undefined) return undefined;
  const dense: Dense[] = [];
  try {
    let config = { ...usual, ...(await readSettings(folder, modelType, signal)) };
    let width = size;
    for (const { kind, path } of modules) {
      if (kind === "Pooling") {
        const name = `${path}/config.json`;
        const fields = new Fields(await readJson(folder, name, signal), name);
        config = { ...config, ...readPooling(fields) };
        width = size * config.poolings.length;
      } else if (kind === "Normalize") config = { ...config, isNormalised: true };
      else if (kind === "Dense") {
        const made = await readDense(heed, folder, { path, size: width }, signal);
        dense.push(made);
        width = made.weight.shape[0] as number;
      }
    }
    return new SentenceHead(heed, config, dense);
  } catch (error) {
    new SentenceHead(heed, usual, dense).dispose();
    if (!(error instanceof HeedError) || error.code !== "option") throw error;
    throw new HeedError("format", error.message, { cause: error });
  }
}
