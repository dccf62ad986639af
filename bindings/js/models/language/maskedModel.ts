// Encoders that see both sides of each position and fill in masked tokens: BERT (Devlin et al.,
// 2019), RoBERTa (Liu et al., 2019) and DistilBERT (Sanh et al., 2019).

import { describe, refuse } from "../../core/error.js";
import { Tensor } from "../../core/tensor.js";
import { type Check, checkOptions, checkTensor, isBoolean, isTensor } from "../../core/validate.js";
import type { Heed } from "../../heed.js";
import { Module } from "../../nn/module.js";
import type { If, NothingElse } from "../../ops/attention.js";
import { type MaskedConfig, readConfig } from "./config.js";
import type { HubConfig } from "./fields.js";
import { checkIds, type HubModelOptions, modelChecks } from "./inputs.js";
import { initialParameters, ownSpecs, Parameters } from "./parameters.js";
import {
  FeedForward,
  type LinearWeight,
  Normalisation,
  Projection,
  product,
  Table,
} from "./parts.js";
import { SelfAttention, type StepContext } from "./selfAttention.js";

/** Options of a call of `MaskedLanguageModel`. */
export interface MaskedForwardOptions {
  /** bool [B, L], true where a position may be seen; all by default. */
  keyMask?: Tensor;
  /** int32 [B, L], the type of each token, such as 0 and 1 for two sentences; 0 by default. */
  typeIds?: Tensor;
  /**
   * Computes the logits of the tokens at each position, for a model with a head; false by default.
   */
  needLogits?: boolean;
  /** Returns the states between the layers; false by default. */
  needHiddenStates?: boolean;
}

/** The result of a call of `MaskedLanguageModel`. */
export interface MaskedForwardResult<O extends MaskedForwardOptions = MaskedForwardOptions> {
  /** [B, L, E] */
  output: Tensor;
  /** [B, E] the pooled state of the first position; undefined if the model has no pooler. */
  pooled: Tensor | undefined;
  /** [B, L, V] */
  logits: If<O["needLogits"], Tensor>;
  /**
   * layers + 1 tensors [B, L, E]: the first is the embedding, tensor i is the output of layer i.
   */
  hiddenStates: If<O["needHiddenStates"], Tensor[]>;
}

const forwardChecks = {
  keyMask: isTensor,
  typeIds: isTensor,
  needLogits: isBoolean,
  needHiddenStates: isBoolean,
} satisfies Record<keyof MaskedForwardOptions, Check>;

/** A layer with norms after its two parts (Vaswani et al., 2017). */
class MaskedLayer extends Module {
  readonly selfAttn: SelfAttention;
  readonly postAttentionLayernorm: Normalisation;
  readonly mlp: FeedForward;
  readonly outputLayernorm: Normalisation;

  constructor(heed: Heed, config: MaskedConfig, parameters: Parameters) {
    super(heed);
    const { heads, headSize, eps, activation } = config;
    const sizes = { heads, kvHeads: heads, headSize, eps, window: undefined };
    const own = { scale: 1 / Math.sqrt(headSize), isCausal: false };
    const norm = (name: string) => new Normalisation(heed, "layer", eps, parameters.of(name));
    this.selfAttn = new SelfAttention(heed, { ...sizes, ...own }, parameters.of("self_attn"));
    this.postAttentionLayernorm = norm("post_attention_layernorm");
    this.mlp = new FeedForward(heed, activation, parameters.of("mlp"));
    this.outputLayernorm = norm("output_layernorm");
  }

  /** x [B, L, E] -> [B, L, E] */
  forward(x: Tensor, context: StepContext): Tensor {
    const { heed, selfAttn, postAttentionLayernorm, mlp, outputLayernorm } = this;
    const { output } = selfAttn.forward(x, context);
    const attended = postAttentionLayernorm.forward(heed.add(x, output));
    return outputLayernorm.forward(heed.add(attended, mlp.forward(attended).output));
  }

  override get [Symbol.toStringTag](): string {
    return "MaskedLayer";
  }
}

/** The embedding and the layers. */
class MaskedStack extends Module {
  readonly config: MaskedConfig;
  readonly embedTokens: Table;
  readonly embedPositions: Table;
  readonly embedTypes: Table | undefined;
  readonly embedNorm: Normalisation;
  readonly layers: readonly MaskedLayer[];

  constructor(heed: Heed, config: MaskedConfig, parameters: Parameters) {
    super(heed);
    this.config = config;
    this.embedTokens = new Table(heed, parameters.of("embed_tokens"));
    this.embedPositions = new Table(heed, parameters.of("embed_positions"));
    const types = parameters.of("embed_types");
    this.embedTypes = config.types > 0 ? new Table(heed, types) : undefined;
    const norm = parameters.of("embed_norm");
    this.embedNorm = new Normalisation(heed, "layer", config.eps, norm);
    this.layers = Array.from(
      { length: config.layers },
      (_, i) => new MaskedLayer(heed, config, parameters.of(`layers.${i}`)),
    );
  }

  /** ids int32 [B, L] -> the embedding and the output of each layer */
  forward(ids: Tensor, context: StepContext, typeIds: Tensor | undefined): Tensor[] {
    const { heed } = this;
    let x = this.embedTokens.forward(ids);
    if (this.embedTypes) {
      const types = typeIds ?? heed.tensor(new Int32Array(ids.size), ids.shape);
      x = heed.add(x, this.embedTypes.forward(types));
    }
    x = this.embedNorm.forward(heed.add(x, this.embedPositions.forward(this.#positions(ids))));
    const states = [x];
    for (const layer of this.layers) {
      x = layer.forward(x, context);
      states.push(x);
    }
    return states;
  }

  /**
   * The rows of the table of positions: 0, 1, .. In RoBERTa, the row of a token is the padding
   * token's number plus the number of tokens up to this one that are not padding. The row of
   * padding is the padding token's number.
   */
  #positions(ids: Tensor): Tensor {
    const { heed } = this;
    const { paddingToken } = this.config;
    const [batch, length] = ids.shape as [number, number];
    if (paddingToken === undefined) return heed.tensor(Int32Array.from({ length }, (_, i) => i));
    const tokens = ids.data;
    const positions = new Int32Array(batch * length);
    for (let row = 0; row < batch; ++row) {
      let seen = 0;
      for (let i = row * length; i < (row + 1) * length; ++i) {
        if (tokens[i] !== paddingToken) ++seen;
        positions[i] = tokens[i] === paddingToken ? paddingToken : paddingToken + seen;
      }
    }
    return heed.tensor(positions, [batch, length]);
  }

  override get [Symbol.toStringTag](): string {
    return "MaskedStack";
  }
}

/** The head for masked words: a layer with a norm, then the table of the tokens. */
class MaskedHead extends Module {
  readonly config: MaskedConfig;
  readonly dense: Projection;
  readonly norm: Normalisation;
  /** The packed weight of the tokens' table; undefined if the table itself is used. */
  readonly weight: LinearWeight | undefined;
  /** [V] */
  readonly bias: Tensor | undefined;

  constructor(heed: Heed, config: MaskedConfig, parameters: Parameters) {
    super(heed);
    this.config = config;
    this.dense = new Projection(heed, parameters.of("dense"));
    this.norm = new Normalisation(heed, "layer", config.eps, parameters.of("norm"));
    this.weight = parameters.weight as LinearWeight | undefined;
    this.bias = parameters.tensor("bias");
  }

  /** x [B, L, E], the tokens' table [V, E] -> [B, L, V] */
  forward(x: Tensor, table: Table["weight"]): Tensor {
    const { config, dense, norm, bias, heed } = this;
    const { activation, modelType } = config;
    // RoBERTa's head always has GELU, independent of the activation of the layers.
    const named = modelType === "bert" || modelType === "distilbert" ? activation : "gelu";
    const weight = this.weight ?? (table as Tensor);
    return product(heed, norm.forward(dense.forward(x, named)), weight, bias);
  }

  override dispose(): void {
    super.dispose();
    if (!(this.weight instanceof Tensor)) for (const block of this.weight ?? []) block.dispose();
  }

  override get [Symbol.toStringTag](): string {
    return "MaskedHead";
  }
}

/**
 * An encoder that sees both sides of each position.
 *
 * @throws HeedError "option" for a config that no model can have, "memory"
 * @example
 * ```ts
 * const config = { model_type: "bert", architectures: ["BertForMaskedLM"], vocab_size: 50, max_position_embeddings: 32, hidden_size: 16,
 *   intermediate_size: 32, num_hidden_layers: 1, num_attention_heads: 2 };
 * const model = new MaskedLanguageModel(heed, config, { seed: 1 });
 * const { output, logits } = model.forward(heed.tensor([[1, 2, 3]], undefined, "int32"), { needLogits: true });
 * console.log(output.shape, logits.shape); // prints: [ 1, 3, 16 ] [ 1, 3, 50 ]
 * ```
 */
export class MaskedLanguageModel extends Module {
  /** The model's sizes and form. */
  readonly config: MaskedConfig;
  /** The embeddings and the layers. */
  readonly model: MaskedStack;
  /** The layer of the pooled state; undefined if the checkpoint has none. */
  readonly pooler: Projection | undefined;
  /** The head that predicts masked tokens; undefined if the checkpoint has none. */
  readonly lmHead: MaskedHead | undefined;

  /**
   * Creates a model with initial values from a seed. `loadModel` creates one from files.
   *
   * @param config the fields of a config.json, like { model_type: "bert", hidden_size: 256, ... }.
   *   Its `architectures` determine whether the model has a pooler ("BertModel") and a head
   *   ("BertForMaskedLM")
   * @throws HeedError "option" that names the field, "memory"
   */
  constructor(heed: Heed, config: HubConfig, options: HubModelOptions = {}) {
    super(heed);
    const read = readConfig(config);
    if (read.kind !== "masked") {
      const expected = "an architecture that sees both sides of a position";
      throw refuse("option", "config.model_type", expected, describe(read.modelType));
    }
    checkOptions("MaskedLanguageModel", options, modelChecks);
    const made = options.parameters ?? initialParameters(heed, ownSpecs(read), options.seed);
    const parameters = new Parameters(made);
    this.config = read;
    this.model = new MaskedStack(heed, read, parameters.of("model"));
    const [pooler, head] = [parameters.of("pooler"), parameters.of("lm_head")];
    this.pooler = pooler.exists ? new Projection(heed, pooler) : undefined;
    this.lmHead = head.exists ? new MaskedHead(heed, read, head) : undefined;
  }

  /**
   * Computes the states of all positions.
   *
   * @param ids int32 [B, L]
   * @throws HeedError "shape", "dtype", "option" for more positions than the model's context
   */
  forward<const O extends MaskedForwardOptions = Record<never, never>>(
    ids: Tensor,
    options?: O & NothingElse<O, MaskedForwardOptions>,
  ): MaskedForwardResult<O> {
    const given: MaskedForwardOptions = options ?? {};
    checkOptions("forward", given, forwardChecks);
    checkIds(ids, this.config);
    const { heed } = this;
    const { keyMask, typeIds, needLogits = false, needHiddenStates = false } = given;
    const [batch, length] = ids.shape as [number, number];
    if (keyMask) checkTensor(heed.engine, "keyMask", keyMask, [batch, length], "bool");
    if (typeIds) checkTensor(heed.engine, "typeIds", typeIds, [batch, length], "int32");
    if (typeIds && this.config.types === 0)
      throw refuse("option", "typeIds", "none for a model without token types", describe(typeIds));
    if (needLogits && this.lmHead === undefined)
      throw refuse("option", "needLogits", "false for a model without a head", "true");
    const context = keyMask ? { mask: heed.reshape(keyMask, [batch, 1, 1, length]) } : {};
    const hiddenStates = this.model.forward(ids, context, typeIds);
    const output = hiddenStates.at(-1) as Tensor;
    return {
      output,
      pooled: this.#pooled(output),
      logits: needLogits ? this.lmHead?.forward(output, this.model.embedTokens.weight) : undefined,
      hiddenStates: needHiddenStates ? hiddenStates : undefined,
    } as never;
  }

  #pooled(output: Tensor): Tensor | undefined {
    const [batch, , size] = output.shape as [number, number, number];
    const { heed, pooler } = this;
    if (pooler === undefined) return undefined;
    const first = heed.slice(output, { axis: 1, start: 0, length: 1 });
    return pooler.forward(heed.reshape(first, [batch, size]), "tanh");
  }

  /** @internal The attention of each layer, by its path. */
  get attentions(): ReadonlyMap<string, SelfAttention> {
    const { layers } = this.model;
    return new Map(layers.map(({ selfAttn }, i) => [`model.layers.${i}.self_attn`, selfAttn]));
  }

  override get [Symbol.toStringTag](): string {
    return "MaskedLanguageModel";
  }
}
