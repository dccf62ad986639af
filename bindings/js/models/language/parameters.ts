// The parameters of models: their names, shapes and initial values.
//
// All architectures use the names of Llama's checkpoints: "model.layers.0.self_attn.q_proj.weight".
// checkpoint.ts has the names of other checkpoints.

import { refuse } from "../../core/error.js";
import type { Tensor } from "../../core/tensor.js";
import { mostBytes } from "../../core/validate.js";
import type { Heed } from "../../heed.js";
import { Generator } from "../../nn/random.js";
import type { PackedWeights } from "../../ops/packedWeights.js";
import type { ByteTable } from "./byteTable.js";
import type { CausalConfig } from "./causalConfig.js";
import type { HubModelConfig, VisionConfig } from "./config.js";
import type { MaskedConfig } from "./maskedConfig.js";
import type { Seq2SeqConfig } from "./seq2seqConfig.js";

/** Parts of a model that only some checkpoints have. */
export type OptionalPart = "pooler" | "head" | "bias";

export interface ParameterSpec {
  readonly shape: readonly number[];
  /** A matrix is the weight [out, in] of a linear layer; a table has rows that are looked up. */
  readonly role: "matrix" | "table" | "vector";
  /** The initial value of all entries, or the standard deviation of a normal distribution. */
  readonly initial: { readonly value: number } | { readonly deviation: number };
  readonly part?: OptionalPart;
  /** The shape in a checkpoint, if it differs from `shape`. */
  readonly stored?: readonly number[];
}

export type ParameterSpecs = ReadonlyMap<string, ParameterSpec>;

const zeros = { value: 0 };

type AttentionShape = Pick<CausalConfig, "size" | "heads" | "headSize"> & { kvHeads?: number };
type UnitsShape = Pick<CausalConfig, "size" | "hiddenSize"> & { isGated?: boolean };

/** Collects the parameters of a model. */
class Specs {
  readonly all = new Map<string, ParameterSpec>();
  readonly #deviation: number;
  /** The initial weight of norms, to which a model may add 1. */
  readonly #gain: { value: number };
  /** The number by whose root the initial weights before additions to the stream are divided. */
  readonly #additions: number;

  constructor(deviation: number, normOffset = 0, additions = 1) {
    this.#deviation = deviation;
    this.#additions = additions;
    this.#gain = { value: 1 - normOffset };
  }

  table(name: string, rows: number, size: number): void {
    const initial = { deviation: this.#deviation };
    this.all.set(`${name}.weight`, { shape: [rows, size], role: "table", initial });
  }

  /** Gives a parameter another shape in checkpoints. */
  stored(name: string, shape: readonly number[]): void {
    this.all.set(name, { ...(this.all.get(name) as ParameterSpec), stored: shape });
  }

  linear(
    name: string,
    [out, inSize]: readonly [number, number],
    { bias, isAdded, part }: { bias: boolean; isAdded?: boolean; part?: OptionalPart },
  ): void {
    const deviation = this.#deviation / Math.sqrt(isAdded ? this.#additions : 1);
    const of = part && { part };
    this.all.set(`${name}.weight`, {
      ...{ shape: [out, inSize], role: "matrix", initial: { deviation } },
      ...of,
    });
    if (bias) this.vector(`${name}.bias`, out, zeros, part);
  }

  /** Queries, keys and values with `qkvBias`, and the output with `bias`. */
  attention(name: string, sizes: AttentionShape, bias: boolean, qkvBias = bias): void {
    const { size, heads, kvHeads = heads, headSize } = sizes;
    this.linear(`${name}.q_proj`, [heads * headSize, size], { bias: qkvBias });
    this.linear(`${name}.k_proj`, [kvHeads * headSize, size], { bias: qkvBias });
    this.linear(`${name}.v_proj`, [kvHeads * headSize, size], { bias: qkvBias });
    this.linear(`${name}.o_proj`, [size, heads * headSize], { bias, isAdded: true });
  }

  feedForward(name: string, { size, hiddenSize, isGated }: UnitsShape, bias: boolean): void {
    if (isGated) this.linear(`${name}.gate_proj`, [hiddenSize, size], { bias });
    this.linear(`${name}.up_proj`, [hiddenSize, size], { bias });
    this.linear(`${name}.down_proj`, [size, hiddenSize], { bias, isAdded: true });
  }

  norm(name: string, size: number, hasBias: boolean, part?: OptionalPart): void {
    this.vector(`${name}.weight`, size, this.#gain, part);
    if (hasBias) this.vector(`${name}.bias`, size, zeros, part);
  }

  vector(name: string, size: number, initial: { value: number }, part?: OptionalPart): void {
    this.all.set(name, { shape: [size], role: "vector", initial, ...(part && { part }) });
  }
}

function causalSpecs(config: CausalConfig): ParameterSpecs {
  const { vocabularySize, size, layers, headSize, biases } = config;
  // Each layer adds twice (Radford et al., 2019, section 2.3).
  const specs = new Specs(config.initialDeviation, config.normOffset, 2 * layers);
  const hasBias = config.norm === "layer";
  specs.table("model.embed_tokens", vocabularySize, size);
  if (!config.rotations) specs.table("model.embed_positions", config.context, size);
  for (let i = 0; i < layers; ++i) {
    const layer = `model.layers.${i}`;
    const attention = `${layer}.self_attn`;
    specs.norm(`${layer}.input_layernorm`, size, hasBias);
    specs.attention(attention, config, biases.output, biases.qkv);
    if (config.hasHeadNorms) {
      specs.norm(`${attention}.q_norm`, headSize, false);
      specs.norm(`${attention}.k_norm`, headSize, false);
    }
    specs.norm(`${layer}.post_attention_layernorm`, size, hasBias);
    if (config.hasOutputNorms) {
      specs.norm(`${layer}.pre_feedforward_layernorm`, size, hasBias);
      specs.norm(`${layer}.post_feedforward_layernorm`, size, hasBias);
    }
    specs.feedForward(`${layer}.mlp`, config, biases.hidden);
  }
  specs.norm("model.norm", size, hasBias);
  if (!config.isTied) specs.linear("lm_head", [vocabularySize, size], { bias: false });
  return specs.all;
}

function maskedSpecs(config: MaskedConfig): ParameterSpecs {
  const { vocabularySize, size, layers, types, biases, heads, context } = config;
  const { paddingToken = -1 } = config;
  const specs = new Specs(config.initialDeviation);
  const norm = (name: string) => specs.norm(name, size, biases.norm);
  specs.table("model.embed_tokens", vocabularySize, size);
  if (!config.rotations) specs.table("model.embed_positions", context + paddingToken + 1, size);
  if (types > 0) specs.table("model.embed_types", types, size);
  norm("model.embed_norm");
  if (config.distances > 0) specs.table("model.distances", config.distances, heads);
  for (let i = 0; i < layers; ++i) {
    const layer = `model.layers.${i}`;
    // ModernBERT's first layer reads the embedding, which has been normalised.
    if (config.hasNormsBefore && i > 0) norm(`${layer}.input_layernorm`);
    specs.attention(`${layer}.self_attn`, config, biases.attention);
    norm(`${layer}.post_attention_layernorm`);
    specs.feedForward(`${layer}.mlp`, config, biases.hidden);
    if (!config.hasNormsBefore) norm(`${layer}.output_layernorm`);
  }
  if (config.hasNormsBefore) norm("model.norm");
  maskedHeads(config, specs);
  return specs.all;
}

/** The pooler, the head that predicts masked tokens, and the classifier. */
function maskedHeads(config: MaskedConfig, specs: Specs): void {
  const { size, classifier, biases, head, vocabularySize, isTied } = config;
  // A classifier that reads the pooler's state needs it.
  const pooler =
    classifier?.reads === "pooled" ? { bias: true } : { bias: true, part: "pooler" as const };
  if (!config.hasNormsBefore) specs.linear("pooler", [size, size], pooler);
  const [bias, hasDecoderBias] = head.biases;
  if (classifier !== undefined) {
    const { hidden, labels } = classifier;
    if (hidden) specs.linear("classifier.dense", [size, size], { bias: !hidden.hasNorm || bias });
    if (hidden?.hasNorm) specs.norm("classifier.norm", size, biases.norm);
    specs.linear("classifier.out", [labels.length, size], { bias: true });
    return;
  }
  specs.linear("lm_head.dense", [size, size], { bias, part: "head" });
  specs.norm("lm_head.norm", size, biases.norm, "head");
  if (!isTied) specs.linear("lm_head", [vocabularySize, size], { bias: false, part: "head" });
  if (hasDecoderBias) specs.vector("lm_head.bias", vocabularySize, zeros, "head");
}

function visionSpecs(config: VisionConfig): ParameterSpecs {
  const { size, layers, channels, patchSize, pooledSize, labels } = config;
  const positions = (config.imageSize / patchSize) ** 2 + 1;
  const specs = new Specs(config.initialDeviation);
  specs.linear("model.embed_patches", [size, channels * patchSize ** 2], { bias: true });
  // The weight of a convolution whose patches do not overlap. Reshaped to rows, it is the weight of a linear layer.
  specs.stored("model.embed_patches.weight", [size, channels, patchSize, patchSize]);
  specs.vector("model.class_token", size, zeros);
  specs.stored("model.class_token", [1, 1, size]);
  specs.table("model.embed_positions", positions, size);
  specs.stored("model.embed_positions.weight", [1, positions, size]);
  for (let i = 0; i < layers; ++i) {
    const layer = `model.layers.${i}`;
    specs.norm(`${layer}.input_layernorm`, size, true);
    specs.attention(`${layer}.self_attn`, config, true, config.hasBiases);
    specs.norm(`${layer}.post_attention_layernorm`, size, true);
    specs.feedForward(`${layer}.mlp`, config, true);
  }
  specs.norm("model.norm", size, true);
  specs.linear("pooler", [pooledSize, size], { bias: true, part: "pooler" });
  // Without classes there is no classifier.
  if (labels.length > 0)
    specs.linear("classifier", [labels.length, size], { bias: true, part: "head" });
  return specs.all;
}

function seq2seqSpecs(config: Seq2SeqConfig): ParameterSpecs {
  const { vocabularySize, size, positions, firstPosition, distances, hasBiases: bias } = config;
  const specs = new Specs(config.initialDeviation);
  specs.table("model.embed_tokens", vocabularySize, size);
  for (const name of ["encoder", "decoder"] as const) {
    const own = { ...config[name], size, isGated: config.isGated };
    const { layers, heads } = own;
    const side = `model.${name}`;
    if (positions === "learned") {
      specs.table(`${side}.embed_positions`, config.context + firstPosition, size);
      specs.norm(`${side}.embed_norm`, size, bias);
    }
    if (positions === "distances") specs.table(`${side}.distances`, distances.buckets, heads);
    for (let i = 0; i < layers; ++i) {
      const layer = `${side}.layers.${i}`;
      for (const part of name === "encoder" ? ["self_attn"] : ["self_attn", "cross_attn"]) {
        specs.attention(`${layer}.${part}`, own, bias);
        specs.norm(`${layer}.${part}_norm`, size, bias);
      }
      specs.feedForward(`${layer}.mlp`, own, bias);
      specs.norm(`${layer}.mlp_norm`, size, bias);
    }
    if (config.hasNormsBefore) specs.norm(`${side}.norm`, size, bias);
  }
  if (!config.isTied) specs.linear("lm_head", [vocabularySize, size], { bias: false });
  if (bias) {
    specs.vector("logits_bias", vocabularySize, zeros, "bias");
    specs.stored("logits_bias", [1, vocabularySize]);
  }
  return specs.all;
}

/** Returns the parameters of a model, in the order of its computation, with all optional parts. */
export function parameterSpecs(config: HubModelConfig): ParameterSpecs {
  if (config.kind === "causal") return causalSpecs(config);
  if (config.kind === "seq2seq") return seq2seqSpecs(config);
  return config.kind === "masked" ? maskedSpecs(config) : visionSpecs(config);
}

/** Returns the same parameters, but only the optional parts that the config names. */
export function ownSpecs(config: HubModelConfig): ParameterSpecs {
  const { hasPooler = false, hasHead = false } = config as Partial<MaskedConfig>;
  const has = { pooler: hasPooler, head: hasHead, bias: true };
  const own = [...parameterSpecs(config)].filter(([, { part }]) => part === undefined || has[part]);
  return new Map(own);
}

/** A tensor; the packed weights of a linear layer, blocks of its rows in order; or a table in bytes. */
export type Parameter = Tensor | readonly PackedWeights[] | ByteTable;

/** Parameters by name. `of` selects the parameters of a part of the model. */
export class Parameters {
  readonly #all: ReadonlyMap<string, Parameter>;
  readonly #prefix: string;

  constructor(all: ReadonlyMap<string, Parameter>, prefix = "") {
    this.#all = all;
    this.#prefix = prefix;
  }

  of(part: string): Parameters {
    return new Parameters(this.#all, `${this.#prefix}${part}.`);
  }

  /** Returns what `make` builds from the parameters of a part; undefined if the model has none. */
  optional<T>(part: string, make: (own: Parameters) => T): T | undefined {
    const own = this.of(part);
    return [...this.#all.keys()].some((name) => name.startsWith(own.#prefix))
      ? make(own)
      : undefined;
  }

  /** Returns a parameter that is a tensor; undefined if the model has none of this name. */
  tensor(name: string): Tensor | undefined {
    return this.#all.get(this.#prefix + name) as Tensor | undefined;
  }

  /** Returns the weight of a linear layer. */
  get weight(): Parameter {
    return this.#all.get(`${this.#prefix}weight`) as Parameter;
  }
}

/**
 * Creates the parameters of a model that is not loaded. Weights are normally distributed, biases
 * are zeros, the weights of norms ones.
 *
 * @throws HeedError "memory"
 */
export function initialParameters(
  heed: Heed,
  specs: ParameterSpecs,
  seed = 0,
): Map<string, Parameter> {
  const sizes = [...specs.values()].map(({ shape }) => shape.reduce((a, b) => a * b, 4));
  const bytes = sizes.reduce((a, b) => a + b, 0);
  if (bytes > mostBytes)
    throw refuse("memory", "config", `parameters of at most ${mostBytes} bytes`, `${bytes}`);
  const generator = new Generator(seed);
  return heed.scope(() => {
    const made = new Map<string, Parameter>();
    for (const [name, { shape, initial }] of specs) {
      if ("deviation" in initial) {
        const { deviation } = initial;
        made.set(name, heed.normal(shape, { mean: 0, deviation, seed: generator.next() }));
      } else {
        made.set(name, initial.value === 0 ? heed.zeros(shape) : heed.ones(shape));
      }
    }
    return made;
  });
}
