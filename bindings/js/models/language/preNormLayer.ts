// A layer of decoders that predict the next token and of encoders of images, and its intermediate results.

import type { Tensor } from "../../core/tensor.js";
import type { Heed } from "../../heed.js";
import { Module } from "../../nn/module.js";
import type { Activation } from "../../ops/activate.js";
import type { KvCache } from "../../ops/kvCache.js";
import { Attention, type AttentionSizes, type StepContext } from "./attention.js";
import type { Parameters } from "./parameters.js";
import { FeedForward, Normalisation } from "./parts.js";

/**
 * The results of a layer. Its two parts read the residual stream through a norm, and add to it. The
 * layer has H heads of size D, and F units. x is the stream:
 *
 *     between = x + attention, where attention = headOutputs W_O^T + b_O
 *     output = between + feedForward, where feedForward = units W_down^T + b_down
 *
 * Models without biases have no b. Gemma normalises attention and feedForward before it adds them, with
 * norms of their own.
 */
export interface LayerParts {
  /** The stream before the layer, [B, L, E]. */
  readonly input: Tensor;
  /** The norm of `input`, from which queries, keys and values are computed, [B, L, E]. */
  readonly attentionInput: Tensor;
  /** The weighted sums of values, head after head, [B, L, H * D]. */
  readonly headOutputs: Tensor;
  /** The output of attention, which is added to the stream, [B, L, E]. */
  readonly attention: Tensor;
  /** The stream between the two parts, [B, L, E]. */
  readonly between: Tensor;
  /** The norm of `between`, [B, L, E]. */
  readonly feedForwardInput: Tensor;
  /** The gate before its activation, [B, L, F]; undefined if the model has none. */
  readonly gate: Tensor | undefined;
  /** The factor of the activated gate, [B, L, F]; undefined without a gate. */
  readonly up: Tensor | undefined;
  /** The values of the units, after the activation and the gate, [B, L, F]. */
  readonly units: Tensor;
  /** The output of the feed-forward network, which is added to the stream, [B, L, E]. */
  readonly feedForward: Tensor;
  /** The stream after the layer, before any final norm, [B, L, E]. */
  readonly output: Tensor;
}

/**
 * Receives the results of a layer.
 *
 * @param layer counted from 0
 */
export type ReceiveLayer = (layer: number, parts: LayerParts) => void;

export interface PreNormSizes extends AttentionSizes {
  readonly norm: "layer" | "rms";
  readonly activation: Activation;
}

/** A layer with norms before its two parts (Xiong et al., 2020), and in Gemma also after them. */
export class PreNormLayer extends Module {
  /** @internal */ static override readonly toStringTag = "PreNormLayer";
  /** Undefined in the first layer of ModernBERT, which reads the norm of the embedding. */
  readonly inputLayernorm: Normalisation | undefined;
  readonly selfAttn: Attention;
  /** The norm before the feed-forward network, or in Gemma after attention. */
  readonly postAttentionLayernorm: Normalisation;
  /** The norms before and after the feed-forward network in Gemma. */
  readonly preFeedforwardLayernorm: Normalisation | undefined;
  readonly postFeedforwardLayernorm: Normalisation | undefined;
  readonly mlp: FeedForward;

  constructor(heed: Heed, sizes: PreNormSizes, parameters: Parameters) {
    super(heed);
    const { norm, activation, eps, normOffset } = sizes;
    const normOf = (own: Parameters) => new Normalisation(heed, norm, eps, own, normOffset);
    this.inputLayernorm = parameters.optional("input_layernorm", normOf);
    this.selfAttn = new Attention(heed, sizes, parameters.of("self_attn"));
    this.postAttentionLayernorm = normOf(parameters.of("post_attention_layernorm"));
    this.preFeedforwardLayernorm = parameters.optional("pre_feedforward_layernorm", normOf);
    this.postFeedforwardLayernorm = parameters.optional("post_feedforward_layernorm", normOf);
    this.mlp = new FeedForward(heed, activation, parameters.of("mlp"));
  }

  /** input [B, L, E] -> [B, L, E] */
  forward(
    input: Tensor,
    context: StepContext,
    cache?: KvCache,
    receive?: (parts: LayerParts) => void,
  ): Tensor {
    const { heed, inputLayernorm, selfAttn, postAttentionLayernorm, mlp } = this;
    const { preFeedforwardLayernorm: middle, postFeedforwardLayernorm: last } = this;
    const attentionInput = inputLayernorm?.forward(input) ?? input;
    const attended = selfAttn.forward(attentionInput, context, cache);
    const { headOutputs } = attended;
    const attention = middle ? postAttentionLayernorm.forward(attended.output) : attended.output;
    const between = heed.add(input, attention);
    const feedForwardInput = (middle ?? postAttentionLayernorm).forward(between);
    const { gate, up, units, output: fed } = mlp.forward(feedForwardInput);
    const feedForward = last ? last.forward(fed) : fed;
    const output = heed.add(between, feedForward);
    receive?.({
      ...{ input, attentionInput, headOutputs, attention, between },
      ...{ feedForwardInput, gate, up, units, feedForward, output },
    });
    return output;
  }
}
