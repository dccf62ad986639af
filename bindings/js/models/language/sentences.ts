// How an encoder of sentences makes a text's vector: the modules of the package sentence-transformers, which are listed in
// modules.json (Reimers and Gurevych, "Sentence-BERT", 2019).

import { describe, HeedError, refuse } from "../../core/error.js";
import type { Tensor } from "../../core/tensor.js";
import { isRecord, isText } from "../../core/validate.js";
import type { Heed } from "../../heed.js";
import { Module } from "../../nn/module.js";
import { read } from "../../nn/safetensors.js";
import type { Activation } from "../../ops/activate.js";
import { type Folder, missing, parseJson, readJson, readText } from "../sources.js";
import { Fields } from "./fields.js";
import { type Pooling, pool, poolings } from "./pooling.js";

/** What follows the encoder: pooling, linear layers, a norm; and the texts before a text. */
export interface SentenceConfig {
  /** The ways of pooling, whose vectors are joined. */
  readonly poolings: readonly Pooling[];
  /** Whether the tokens of a prompt count in the pooling. */
  readonly includesPrompt: boolean;
  /** Whether the vectors have length 1. */
  readonly isNormalised: boolean;
  /** The largest number of tokens of a text; undefined for the context of the model. */
  readonly maxTokens: number | undefined;
  /** Texts that are put before a text, by name, such as "query". */
  readonly prompts: Readonly<Record<string, string>>;
  /** The name of the prompt that is used by default. */
  readonly defaultPrompt: string | undefined;
  /** How two vectors are compared. */
  readonly similarity: "cosine" | "dot";
}

/** The steps of a model without modules.json. */
const usual: SentenceConfig = {
  ...{ poolings: ["mean"], includesPrompt: true, isNormalised: false, maxTokens: undefined },
  ...{ prompts: {}, defaultPrompt: undefined, similarity: "cosine" },
};

interface Dense {
  readonly weight: Tensor;
  readonly bias: Tensor | undefined;
  readonly activation: Activation | undefined;
}

/** The steps from the states of an encoder to the vectors of texts. */
export class SentenceHead extends Module {
  readonly config: SentenceConfig;
  readonly #dense: readonly Dense[];

  constructor(heed: Heed, config: SentenceConfig = usual, dense: readonly Dense[] = []) {
    super(heed);
    this.config = config;
    this.#dense = dense;
  }

  /** states [B, L, E], seen [B * L], 1 for the positions that count -> [B, F] */
  forward(states: Tensor, seen: Uint8Array): Tensor {
    const { heed, config } = this;
    const pooled = config.poolings.map((each) => pool(heed, states, seen, each));
    let x = heed.concat(pooled, { axis: -1 });
    for (const { weight, bias, activation } of this.#dense) {
      const options = { ...(bias && { bias }), ...(activation && { activation }) };
      x = heed.linear(x, weight, options);
    }
    return config.isNormalised ? normalised(heed, x) : x;
  }

  override dispose(): void {
    super.dispose();
    for (const { weight, bias } of this.#dense) {
      weight.dispose();
      bias?.dispose();
    }
  }

  override get [Symbol.toStringTag](): string {
    return "SentenceHead";
  }
}

/** Divides rows [..., E] by their lengths. */
export function normalised(heed: Heed, x: Tensor): Tensor {
  const size = x.shape.at(-1) as number;
  return heed.multiply(heed.rmsNorm(x, { eps: 1e-24 }), 1 / Math.sqrt(size));
}

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
  if (fields.has("pooling_mode")) {
    const choices = Object.fromEntries(poolings.map((name) => [name, name]));
    return { poolings: [fields.choice("pooling_mode", choices)], includesPrompt };
  }
  const chosen = poolings.filter((name) => fields.flag(flags[name], name === "mean"));
  if (chosen.length > 0) return { poolings: chosen, includesPrompt };
  throw fields.refuse("pooling_mode_*", `one of ${Object.values(flags).join(", ")}`, "none");
}

async function readDense(
  heed: Heed,
  folder: Folder,
  path: string,
  signal?: AbortSignal,
): Promise<Dense> {
  const name = `${path}/config.json`;
  const given = await readJson(folder, name, signal);
  const kind = classOf(given.activation_function ?? "Identity");
  if (!(kind in activations))
    throw refuse(
      "format",
      `${name}: activation_function`,
      Object.keys(activations).join(" or "),
      describe(kind),
    );
  const file = await folder.open(`${path}/model.safetensors`, signal);
  if (file === undefined) throw missing(folder, `${path}/model.safetensors`);
  const { tensors } = read(await file.read(0, file.size, signal));
  const { "linear.weight": weight, "linear.bias": bias } = tensors;
  if (weight?.dtype !== "float32" || weight.shape.length !== 2)
    throw refuse("format", `${path}: linear.weight`, "a float32 matrix", describe(weight?.dtype));
  const upload = ({ data, shape }: typeof weight) => heed.tensor(data as Float32Array, [...shape]);
  return {
    weight: upload(weight),
    bias: bias && upload(bias as typeof weight),
    activation: activations[kind],
  };
}

/** Reads the number of tokens, the prompts and the comparison, each from a file that may be absent. */
async function readSettings(folder: Folder, signal?: AbortSignal) {
  const fieldsOf = async (name: string) => {
    const file = await folder.open(name, signal);
    return new Fields(file ? parseJson(await readText(file, name, signal), name) : {}, name);
  };
  const transformer = await fieldsOf("sentence_bert_config.json");
  const all = await fieldsOf("config_sentence_transformers.json");
  const isTexts = (value: unknown) => isRecord(value) && Object.values(value).every(isText.accepts);
  const expected = "an object of texts";
  const prompts = all.read<Record<string, string>>("prompts", { expected, accepts: isTexts }, {});
  const names = Object.fromEntries(Object.keys(prompts).map((name) => [name, name]));
  const has = all.has("default_prompt_name");
  return {
    maxTokens: transformer.has("max_seq_length") ? transformer.size("max_seq_length") : undefined,
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
 * @throws HeedError "format" that names the module, the pooling or the field that is not known
 */
export async function sentenceHeadIn(
  heed: Heed,
  folder: Folder,
  signal?: AbortSignal,
): Promise<SentenceHead | undefined> {
  const file = await folder.open("modules.json", signal);
  if (file === undefined) return undefined;
  const modules = JSON.parse(await readText(file, "modules.json", signal)) as unknown;
  if (!Array.isArray(modules) || !modules.every(isRecord))
    throw refuse("format", "modules.json", "a list of modules", describe(modules));
  const dense: Dense[] = [];
  try {
    let config = { ...usual, ...(await readSettings(folder, signal)) };
    for (const { type, path } of modules as Record<string, unknown>[]) {
      const kind = classOf(type);
      if (typeof path !== "string" || !/^(\w[\w.-]*)?$/.test(path))
        throw refuse("format", "modules.json: path", "the name of a folder", describe(path));
      if (kind === "Pooling") {
        const name = `${path}/config.json`;
        const fields = new Fields(await readJson(folder, name, signal), name);
        config = { ...config, ...readPooling(fields) };
      } else if (kind === "Normalize") config = { ...config, isNormalised: true };
      else if (kind === "Dense") dense.push(await readDense(heed, folder, path, signal));
      else if (kind !== "Transformer") {
        const expected = "Transformer, Pooling, Dense or Normalize";
        throw refuse("format", "modules.json: type", expected, describe(type));
      }
    }
    return new SentenceHead(heed, config, dense);
  } catch (error) {
    for (const { weight, bias } of dense) {
      weight.dispose();
      bias?.dispose();
    }
    if (!(error instanceof HeedError) || error.code !== "option") throw error;
    throw new HeedError("format", error.message, { cause: error });
  }
}
