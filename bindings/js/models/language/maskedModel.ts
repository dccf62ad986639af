// Encoders that see both sides of each position, and fill in masked tokens or classify. BERT: Devlin et
// al., 2019. RoBERTa: Liu et al., 2019. DistilBERT: Sanh et al., 2019. MPNet: Song et al., 2020.
// ModernBERT: Warner et al., 2024.

import { describe, refuse } from "../../core/error.js";
import { Tensor } from "../../core/tensor.js";
import { type Check, checkOptions, checkTensor, isBoolean, isTensor } from "../../core/validate.js";
import type { Heed } from "../../heed.js";
import { Module } from "../../nn/module.js";
import type { If, NothingElse } from "../../ops/attention.js";
import { Attention, attentionsOf, openSizes, type StepContext } from "./attention.js";
import { distanceBias } from "./distances.js";
import type { HubConfig } from "./fields.js";
import { beginModel, checkIds, type HubModelOptions } from "./inputs.js";
import { type ClassifierConfig, type MaskedConfig, mpnetDistances } from "./maskedConfig.js";
import type { Parameters } from "./parameters.js";
import {
  FeedForward,
  type LinearWeight,
  Normalisation,
  Projection,
  product,
  Table,
} from "./parts.js";
import { firstStates, pool } from "./pooling.js";
import { PreNormLayer } from "./preNormLayer.js";
import { tablesOfLayers } from "./rotation.js";
import { SentenceHead } from "./sentences.js";

/** Options of a call of `MaskedLanguageModel`. */
export interface MaskedForwardOptions {
  /** bool [B, L], true where a position may be seen; all by default. */
  keyMask?: Tensor;
  /** int32 [B, L], the type of each token, such as 0 and 1 for two sentences; 0 by default. */
  typeIds?: Tensor;
  /** Computes the logits, for a model with a head for masked tokens or a classifier; false by default. */
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
  /**
   * [B, L, V] for masked tokens, [B, C] for texts of C classes, [B, L, C] for tokens, [B, L, 2] for the
   * first and the last token of an answer.
   */
  logits: If<O["needLogits"], Tensor>;
  /** layers + 1 tensors [B, L, E]: the first is the embedding, tensor i is the output of layer i. */
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
  /** @internal */ static override readonly toStringTag = "MaskedLayer";
  readonly selfAttn: Attention;
  readonly postAttentionLayernorm: Normalisation;
  readonly mlp: FeedForward;
  readonly outputLayernorm: Normalisation;

  constructor(heed: Heed, config: MaskedConfig, parameters: Parameters) {
    super(heed);
    const { eps, activation } = config;
    const norm = (name: string) => new Normalisation(heed, "layer", eps, parameters.of(name));
    this.selfAttn = new Attention(heed, openSizes(config), parameters.of("self_attn"));
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
}

/** The embedding and the layers. */
class MaskedStack extends Module {
  /** @internal */ static override readonly toStringTag = "MaskedStack";
  readonly config: MaskedConfig;
  readonly embedTokens: Table;
  readonly embedPositions: Table | undefined;
  readonly embedTypes: Table | undefined;
  readonly embedNorm: Normalisation;
  /** The biases of attention for distances between positions (MPNet). */
  readonly distances: Table | undefined;
  readonly layers: readonly (MaskedLayer | PreNormLayer)[];
  /** The norm after the last layer (ModernBERT). */
  readonly norm: Normalisation | undefined;

  constructor(heed: Heed, config: MaskedConfig, parameters: Parameters) {
    super(heed);
    this.config = config;
    this.embedTokens = new Table(heed, parameters.of("embed_tokens"));
    const table = (name: string) => parameters.optional(name, (own) => new Table(heed, own));
    this.embedPositions = table("embed_positions");
    this.embedTypes = table("embed_types");
    this.distances = table("distances");
    const norm = (name: string) =>
      new Normalisation(heed, "layer", config.eps, parameters.of(name));
    this.embedNorm = norm("embed_norm");
    const sizes = { ...openSizes(config), norm: "layer", activation: config.activation } as const;
    this.layers = config.windows.map((keys, i) => {
      const own = parameters.of(`layers.${i}`);
      if (!config.hasNormsBefore) return new MaskedLayer(heed, config, own);
      const window = keys === undefined ? undefined : ([keys, keys] as const);
      return new PreNormLayer(heed, { ...sizes, window }, own);
    });
    this.norm = config.hasNormsBefore ? norm("norm") : undefined;
  }

  /** ids int32 [B, L] -> the rows of the tables, their sum, and its norm, which enters the first layer */
  embed(ids: Tensor, typeIds?: Tensor) {
    const { heed } = this;
    const tokens = this.embedTokens.forward(ids);
    const typesOf = () => typeIds ?? heed.tensor(new Int32Array(ids.size), ids.shape);
    const types = this.embedTypes?.forward(typesOf());
    const positions = this.embedPositions?.forward(this.#positions(ids));
    const typed = types ? heed.add(tokens, types) : tokens;
    const sum = positions ? heed.add(typed, positions) : typed;
    return { tokens, types, positions, sum, output: this.embedNorm.forward(sum) };
  }

  /** ids int32 [B, L] -> what enters the first layer, and the output of each layer */
  forward(ids: Tensor, mask: Tensor | undefined, typeIds: Tensor | undefined): Tensor[] {
    const { heed, distances, norm } = this;
    const { rotations } = this.config;
    const length = ids.shape[1] as number;
    let x = this.embed(ids, typeIds).output;
    const tables =
      rotations && tablesOfLayers(heed, rotations, { offsets: [0], length, room: length });
    const sizes = { buckets: mpnetDistances, most: 128, isBidirectional: true };
    const bias =
      distances && distanceBias(heed, distances, { queries: length, keys: length }, sizes);
    const states = [x];
    for (const [i, layer] of this.layers.entries()) {
      x = layer.forward(x, { mask, bias, rotation: tables?.[i] });
      states.push(norm && i === this.layers.length - 1 ? norm.forward(x) : x);
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
}

/** The head for masked words: a layer with a norm, then the table of the tokens. */
class MaskedHead extends Module {
  /** @internal */ static override readonly toStringTag = "MaskedHead";
  readonly config: MaskedConfig;
  readonly dense: Projection;
  readonly norm: Normalisation;
  /** The weight [V, E]; undefined if the table of the tokens is used. */
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
    const weight = this.weight ?? (table as Tensor);
    return product(heed, norm.forward(dense.forward(x, config.head.activation)), weight, bias);
  }

  override dispose(): void {
    super.dispose();
    if (!(this.weight instanceof Tensor)) for (const block of this.weight ?? []) block.dispose();
  }
}

/** A classifier: a hidden layer with a norm in some models, and the layer to the classes. */
class Classifier extends Module {
  /** @internal */ static override readonly toStringTag = "Classifier";
  readonly config: ClassifierConfig;
  readonly dense: Projection | undefined;
  readonly norm: Normalisation | undefined;
  readonly out: Projection;

  constructor(heed: Heed, config: ClassifierConfig, eps: number, parameters: Parameters) {
    super(heed);
    this.config = config;
    this.dense = parameters.optional("dense", (own) => new Projection(heed, own));
    this.norm = parameters.optional("norm", (own) => new Normalisation(heed, "layer", eps, own));
    this.out = new Projection(heed, parameters.of("out"));
  }

  /** x [..., E] -> [..., C] */
  forward(x: Tensor): Tensor {
    const { dense, norm, out } = this;
    const hidden = dense ? dense.forward(x, this.config.hidden?.activation) : x;
    return out.forward(norm ? norm.forward(hidden) : hidden);
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
  /** @internal */ static override readonly toStringTag = "MaskedLanguageModel";
  /** The model's sizes and form. */
  readonly config: MaskedConfig;
  /** The embeddings and the layers. */
  readonly model: MaskedStack;
  /** The layer of the pooled state; undefined if the checkpoint has none. */
  readonly pooler: Projection | undefined;
  /** The head that predicts masked tokens; undefined if the checkpoint has none. */
  readonly lmHead: MaskedHead | undefined;
  /** The classifier of texts, tokens or answers; undefined if the checkpoint has none. */
  readonly classifier: Classifier | undefined;
  /** The steps from states to the vector of a text, which `embed` computes. */
  readonly sentence: SentenceHead;

  /**
   * Creates a model with initial values from a seed. `loadModel` creates one from files.
   *
   * @param config the fields of a config.json, like { model_type: "bert", hidden_size: 256, ... }.
   *   Its `architectures` determine whether the model has a pooler ("BertModel"), a head
   *   ("BertForMaskedLM") or a classifier ("BertForSequenceClassification",
   *   "BertForTokenClassification", "BertForQuestionAnswering")
   * @throws HeedError "option" that names the field, "memory"
   */
  constructor(heed: Heed, config: HubConfig, options: HubModelOptions = {}) {
    super(heed);
    const { config: read, parameters } = beginModel(heed, "masked", config, options);
    this.config = read;
    this.model = new MaskedStack(heed, read, parameters.of("model"));
    this.pooler = parameters.optional("pooler", (own) => new Projection(heed, own));
    this.lmHead = parameters.optional("lm_head", (own) => new MaskedHead(heed, read, own));
    const { classifier, eps } = read;
    const own = parameters.of("classifier");
    this.classifier = classifier && new Classifier(heed, classifier, eps, own);
    this.sentence = options.sentence ?? new SentenceHead(heed);
  }

  /**
   * Computes the states of all positions.
   *
   * @param ids int32 [B, L]
   * @throws HeedError "shape", "dtype", "option" for an unknown id or more positions than the context
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
    if (needLogits && !this.lmHead && !this.classifier)
      throw refuse("option", "needLogits", "false for a model without a head", "true");
    const mask = keyMask && heed.reshape(keyMask, [batch, 1, 1, length]);
    const hiddenStates = this.model.forward(ids, mask, typeIds);
    const output = hiddenStates.at(-1) as Tensor;
    const pooled = this.#pooled(output);
    return {
      ...{ output, pooled },
      logits: needLogits ? this.#logitsOf(output, pooled, keyMask) : undefined,
      hiddenStates: needHiddenStates ? hiddenStates : undefined,
    } as never;
  }

  #logitsOf(output: Tensor, pooled: Tensor | undefined, keyMask: Tensor | undefined) {
    const { classifier, lmHead } = this;
    if (!classifier) return lmHead?.forward(output, this.model.embedTokens.weight);
    const { task, reads } = classifier.config;
    if (task !== "sequence") return classifier.forward(output);
    if (reads === "pooled") return classifier.forward(pooled as Tensor);
    return classifier.forward(
      reads === "mean" ? this.#meanOf(output, keyMask) : firstStates(this.heed, output),
    );
  }

  /** The mean state of the positions that may be seen, [B, E]. */
  #meanOf(output: Tensor, keyMask: Tensor | undefined): Tensor {
    const [batch, length] = output.shape as [number, number];
    const seen = (keyMask?.data as Uint8Array) ?? new Uint8Array(batch * length).fill(1);
    return pool(this.heed, output, seen, "mean");
  }

  #pooled(output: Tensor): Tensor | undefined {
    return this.pooler?.forward(firstStates(this.heed, output), "tanh");
  }

  /** @internal The attention of each layer, by its path. */
  get attentions(): ReadonlyMap<string, Attention> {
    return attentionsOf(this.model.layers);
  }
}
