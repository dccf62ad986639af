// Reads the fields of a config.json of the Hugging Face hub. Its content is not trusted.

import { describe, refuse } from "../../core/error.js";
import {
  type Check,
  isBoolean,
  isLayerCount,
  isListOf,
  isPositiveFloat,
  isRecord,
  isWholeNumber,
} from "../../core/validate.js";
import type { Activation } from "../../ops/activate.js";

/** The content of a config.json: the fields that the models of Hugging Face's transformers write. */
export type HubConfig = Readonly<Record<string, unknown>>;

/** The largest size that a field may have: the largest size of an axis. */
const mostSize = 2 ** 31 - 1;

/** The names of fields in the configs of a family, where they differ, and the values of absent fields. */
export interface Dialect {
  readonly names?: Readonly<Record<string, string>>;
  readonly defaults?: HubConfig;
}

/** Named fields, each with a check. A field that is null counts as absent. */
export class Fields {
  readonly #given: HubConfig;
  readonly #name: string;
  readonly #dialect: Dialect;

  constructor(given: unknown, name = "config", dialect: Dialect = {}) {
    if (!isRecord(given)) throw refuse("option", name, "an object", describe(given));
    this.#given = given;
    this.#name = name;
    this.#dialect = dialect;
  }

  /** Returns the same fields, read in a dialect. Errors have the names of the config. */
  as(dialect: Dialect): Fields {
    return new Fields(this.#given, this.#name, dialect);
  }

  has(name: string): boolean {
    return this.raw(name) !== undefined;
  }

  raw(name: string): unknown {
    const own = this.#own(name);
    const value = Object.hasOwn(this.#given, own) ? this.#given[own] : undefined;
    return value ?? this.#dialect.defaults?.[name];
  }

  /**
   * @throws HeedError "option" if the field has no valid value, and if it is absent and has no
   *   default
   */
  read<T>(name: string, check: Check, absent?: T): T {
    const value = this.raw(name);
    if (value === undefined && absent !== undefined) return absent;
    if (!check.accepts(value)) throw this.refuse(name, check.expected, value);
    return value as T;
  }

  size(name: string, absent?: number): number {
    return this.read(name, isWholeNumber(1, mostSize), absent);
  }

  /** Reads a number of layers, which has no default. */
  layers(name: string): number {
    return this.read(name, isLayerCount);
  }

  /** Reads a number that is positive and finite after rounding to float32. */
  positive(name: string, absent?: number): number {
    return this.read(name, isPositiveFloat, absent);
  }

  /** Reads a positive number that a config turns off with null. */
  limit(name: string): number | undefined {
    const isOff = this.#given[this.#own(name)] === null;
    return isOff || !this.has(name) ? undefined : this.positive(name);
  }

  flag(name: string, absent: boolean): boolean {
    return this.read(name, isBoolean, absent);
  }

  /** Reads a field whose value is one of several names, and returns the value of that name in `choices`. */
  choice<T>(name: string, choices: Readonly<Record<string, T>>, absent?: string): T {
    const names = Object.keys(choices);
    const expected = names.map((each) => JSON.stringify(each)).join(" or ");
    const accepts = (value: unknown) => names.includes(value as string);
    return choices[this.read(name, { expected, accepts }, absent)] as T;
  }

  /** Returns the fields of an object in a field; undefined if it is absent. */
  inner(name: string): Fields | undefined {
    return this.has(name) ? new Fields(this.raw(name), `${this.#name}.${name}`) : undefined;
  }

  refuse(name: string, expected: string, got: unknown) {
    return refuse("option", `${this.#name}.${this.#own(name)}`, expected, describe(got));
  }

  #own(name: string): string {
    return this.#dialect.names?.[name] ?? name;
  }
}

/** The fields that all models have. */
export interface StackConfig {
  /** The architecture's name in config.json. */
  readonly modelType: string;
  /** The size E of a position's vector. */
  readonly size: number;
  /** The number of layers. */
  readonly layers: number;
  /** The number of heads. */
  readonly heads: number;
  /** The size D of a head; heads * headSize may differ from `size`. */
  readonly headSize: number;
  /** The size of the hidden layer of the feed-forward network. */
  readonly hiddenSize: number;
  /** The activation of the feed-forward network. */
  readonly activation: Activation;
  /** The eps of the norms. */
  readonly eps: number;
  /** The standard deviation of the initial weights of a model that is not loaded. */
  readonly initialDeviation: number;
}

/** The fields that all language models have. */
export interface LanguageConfig extends StackConfig {
  /** The number of tokens V. */
  readonly vocabularySize: number;
  /** The largest number of positions. */
  readonly context: number;
}

/** The activations by their names in a config. */
export const activationNames: Readonly<Record<string, Activation>> = {
  gelu: "gelu",
  gelu_new: "geluTanh",
  gelu_fast: "geluTanh",
  gelu_pytorch_tanh: "geluTanh",
  relu: "relu",
  silu: "silu",
  swish: "silu",
  tanh: "tanh",
};

export const isToken = isWholeNumber(0, 2 ** 31 - 1);

/** Reads a field of tokens, such as `eos_token_id`: one, several or none. */
export function tokensIn(fields: Fields, name: string): number[] {
  const tokens = fields.read(
    name,
    {
      expected: "a token or a list of tokens",
      accepts: (value) => isToken.accepts(value) || isListOf(value, isToken.accepts),
    },
    [] as number | number[],
  );
  return [tokens].flat();
}

/** Returns the size of a head, which must divide the size of the model unless the config has it. */
export function headSizeOf(fields: Fields, size: number, heads: number, headsName: string): number {
  if (fields.has("head_dim")) return fields.size("head_dim");
  if (size % heads !== 0) throw fields.refuse(headsName, `a divisor of the size ${size}`, heads);
  return size / heads;
}

/** Returns whether each layer is local, by `layer_types`; undefined without this field. */
export function localLayers(fields: Fields, layers: number): boolean[] | undefined {
  if (!fields.has("layer_types")) return undefined;
  const isType = (value: unknown) => value === "full_attention" || value === "sliding_attention";
  const types = fields.read<string[]>("layer_types", {
    expected: `a list of ${layers}, each "full_attention" or "sliding_attention"`,
    accepts: (value) => isListOf(value, isType) && value.length === layers,
  });
  return types.map((type) => type === "sliding_attention");
}

/** Whether the config names a class of models with this ending, such as "ForMaskedLM". */
export function isFor(fields: Fields, ending: string): boolean {
  const names = fields.raw("architectures");
  const hasEnding = (name: unknown) => typeof name === "string" && name.endsWith(ending);
  return Array.isArray(names) && names.some(hasEnding);
}

const isLabelCount = isWholeNumber(0, 2 ** 20);

/**
 * Returns the names of the classes; none for a model without a classifier. Without `id2label` the
 * names are LABEL_0, LABEL_1, ..., `num_labels` of them, 2 by default.
 */
export function labelsOf(fields: Fields): string[] {
  const numbered = () =>
    Array.from({ length: fields.read("num_labels", isLabelCount, 2) }, (_, i) => `LABEL_${i}`);
  if (!fields.has("id2label")) return numbered();
  const expected = "an object with a text for each class";
  const given = fields.read<HubConfig>("id2label", { expected, accepts: isRecord });
  return Object.keys(given).map((_, i, all) => {
    const label = given[i];
    if (typeof label === "string") return label;
    throw fields.refuse(`id2label[${i}]`, `a text for each of ${all.length} classes`, label);
  });
}
