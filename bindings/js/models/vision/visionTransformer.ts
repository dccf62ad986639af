// The Vision Transformer (Dosovitskiy et al., "An Image is Worth 16x16 Words", ICLR 2021) is an
// encoder. Its positions are the patches of an image, with a learned class token before them.

import { refuse } from "../../core/error.js";
import type { Tensor } from "../../core/tensor.js";
import { type Check, checkOptions, isBoolean, shapeOf } from "../../core/validate.js";
import type { Heed } from "../../heed.js";
import { Module } from "../../nn/module.js";
import type { If, NothingElse } from "../../ops/attention.js";
import { type Attention, attentionsOf, openSizes } from "../language/attention.js";
import type { VisionConfig } from "../language/config.js";
import type { HubConfig } from "../language/fields.js";
import { beginModel, type HubModelOptions } from "../language/inputs.js";
import type { Parameters } from "../language/parameters.js";
import { Normalisation, Projection, Table } from "../language/parts.js";
import { firstStates } from "../language/pooling.js";
import { PreNormLayer } from "../language/preNormLayer.js";

/** Options of a call of `VisionTransformer`. */
export interface VisionForwardOptions {
  /** Returns the states between the layers; false by default. */
  needHiddenStates?: boolean;
}

/** The results for N images, each of L positions: the class token, then the patches, row by row. */
export interface VisionForwardResult<O extends VisionForwardOptions = VisionForwardOptions> {
  /** [N, L, E], after the final norm. */
  output: Tensor;
  /** [N, P] the pooled state of the class token; undefined if the model has no pooler. */
  pooled: Tensor | undefined;
  /** [N, classes], in the order of `config.labels`; undefined if the model has no head for classes. */
  logits: Tensor | undefined;
  /**
   * layers + 1 tensors [N, L, E]: the first is the embedding, tensor i follows layer i. The final
   * norm has not been applied to the last one.
   */
  hiddenStates: If<O["needHiddenStates"], Tensor[]>;
}

const forwardChecks = {
  needHiddenStates: isBoolean,
} satisfies Record<keyof VisionForwardOptions, Check>;

/** The embedding, the layers and the final norm. */
class VisionStack extends Module {
  /** @internal */ static override readonly toStringTag = "VisionStack";
  readonly config: VisionConfig;
  readonly embedPatches: Projection;
  /** [E] */
  readonly classToken: Tensor;
  readonly embedPositions: Table;
  readonly layers: readonly PreNormLayer[];
  readonly norm: Normalisation;

  constructor(heed: Heed, config: VisionConfig, parameters: Parameters) {
    super(heed);
    const { activation, eps } = config;
    this.config = config;
    this.embedPatches = new Projection(heed, parameters.of("embed_patches"));
    this.classToken = parameters.tensor("class_token") as Tensor;
    this.embedPositions = new Table(heed, parameters.of("embed_positions"));
    const sizes = { ...openSizes(config), norm: "layer", activation } as const;
    this.layers = Array.from(
      { length: config.layers },
      (_, i) => new PreNormLayer(heed, sizes, parameters.of(`layers.${i}`)),
    );
    this.norm = new Normalisation(heed, "layer", eps, parameters.of("norm"));
  }

  /** pixels [N, C, S, S] -> the embedding and the output of each layer, and the norm of the last one */
  forward(pixels: Tensor): { states: Tensor[]; output: Tensor } {
    let x = this.#embedded(pixels);
    const states = [x];
    for (const layer of this.layers) {
      x = layer.forward(x, {});
      states.push(x);
    }
    return { states, output: this.norm.forward(x) };
  }

  /** Equation 1 of the paper: pixels [N, C, S, S] -> [N, L, E] */
  #embedded(pixels: Tensor): Tensor {
    const { heed } = this;
    const { size, imageSize, patchSize, channels } = this.config;
    const count = pixels.shape[0] as number;
    const side = imageSize / patchSize;
    const cut = heed.reshape(pixels, [count, channels, side, patchSize, side, patchSize]);
    // Each row contains a patch, in the order of the weight: channels, then rows, then columns.
    const rows = heed.transpose(cut, [0, 2, 4, 1, 3, 5]);
    const flat = heed.reshape(rows, [count, side * side, channels * patchSize ** 2]);
    const first = heed.broadcastTo(this.classToken, [count, 1, size]);
    const x = heed.concat([first, this.embedPatches.forward(flat)], { axis: 1 });
    const places = Int32Array.from({ length: side * side + 1 }, (_, i) => i);
    return heed.add(x, this.embedPositions.forward(heed.tensor(places)));
  }
}

/**
 * An encoder of images, with a head for classes where the checkpoint has one.
 *
 * @throws HeedError "option" for a config that no model can have, "memory"
 * @example
 * ```ts
 * const config = { model_type: "vit", image_size: 8, patch_size: 4, hidden_size: 16, intermediate_size: 32,
 *   num_hidden_layers: 1, num_attention_heads: 2 };
 * const model = new VisionTransformer(heed, config, { seed: 1 });
 * // the class token and four patches
 * console.log(model.forward(heed.zeros([1, 3, 8, 8])).output.shape); // prints: [ 1, 5, 16 ]
 * ```
 */
export class VisionTransformer extends Module {
  /** @internal */ static override readonly toStringTag = "VisionTransformer";
  /** The model's sizes. `labels` are the names of its classes; empty if it has no classifier. */
  readonly config: VisionConfig;
  /** The embedding of patches and the layers. */
  readonly model: VisionStack;
  /** The layer of the pooled state; undefined if the checkpoint has none. */
  readonly pooler: Projection | undefined;
  /** The layer to the classes; undefined if the checkpoint has none. */
  readonly classifier: Projection | undefined;

  /**
   * Creates a model with initial values from a seed. `loadModel` creates one from files.
   *
   * @param config the fields of a config.json, like { model_type: "vit", hidden_size: 192, ... }.
   *   Its `architectures` determine whether the model has a pooler ("ViTModel") and a head
   *   ("ViTForImageClassification")
   * @throws HeedError "option" that names the field, "memory"
   */
  constructor(heed: Heed, config: HubConfig, options: HubModelOptions = {}) {
    super(heed);
    const { config: read, parameters } = beginModel(heed, "vision", config, options);
    const projection = (own: Parameters) => new Projection(heed, own);
    this.classifier = parameters.optional("classifier", projection);
    this.config = this.classifier ? read : { ...read, labels: [] };
    this.model = new VisionStack(heed, this.config, parameters.of("model"));
    this.pooler = parameters.optional("pooler", projection);
  }

  /**
   * Encodes images of the size `config.imageSize`.
   *
   * @param pixels float32 [C, S, S] or, for N images, [N, C, S, S], normalised as in training: see
   *   `pixelsOf`
   * @throws HeedError "shape", "dtype"
   */
  forward<const O extends VisionForwardOptions = Record<never, never>>(
    pixels: Tensor,
    options?: O & NothingElse<O, VisionForwardOptions>,
  ): VisionForwardResult<O> {
    const given: VisionForwardOptions = options ?? {};
    checkOptions("forward", given, forwardChecks);
    const { heed, classifier, pooler } = this;
    const { pooledActivation } = this.config;
    const { states, output } = this.model.forward(this.#batchOf(pixels));
    const first = firstStates(heed, output);
    return {
      output,
      pooled: pooler?.forward(first, pooledActivation),
      logits: classifier?.forward(first),
      hiddenStates: given.needHiddenStates ? states : undefined,
    } as never;
  }

  /** Checks pixels, and returns them as [N, C, S, S]. */
  #batchOf(pixels: Tensor): Tensor {
    const { channels, imageSize } = this.config;
    const shape = shapeOf("pixels", pixels);
    if (pixels.dtype !== "float32") throw refuse("dtype", "pixels", "float32", pixels.dtype);
    const image = [channels, imageSize, imageSize];
    const batch = shape.length === 3 ? [1, ...shape] : shape;
    if (batch.length !== 4 || batch[0] === 0 || `${batch.slice(1)}` !== `${image}`) {
      const expected = `[${image.join(", ")}], or [N, ${image.join(", ")}] with one image or more`;
      throw refuse("shape", "pixels", expected, `[${shape.join(", ")}]`);
    }
    return this.heed.reshape(pixels, batch);
  }

  /** @internal The attention of each layer, by its path. */
  get attentions(): ReadonlyMap<string, Attention> {
    return attentionsOf(this.model.layers);
  }
}
