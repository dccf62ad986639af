// The layers around attention, each with its gradients.

import { notGiven } from "../core/border.js";
import { refuse } from "../core/error.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isNumber,
  isTensor,
  isWholeNumber,
  oneOf,
} from "../core/validate.js";
import { ArrayOperations } from "./arrays.js";
import { type GruOptions, type GruParameters, type GruResult, gru } from "./gru.js";
import {
  type Activation,
  activate,
  type LinearOptions,
  linear,
  PackedWeights,
  type PackWeightsOptions,
} from "./linear.js";
import { type RopeOptions, rope, type SinusoidalOptions, sinusoidalEncoding } from "./positions.js";

export interface LayerNormOptions {
  /** The sizes of the normalised axes; ones by default. */
  weight?: Tensor;
  /** The same; zeros by default. */
  bias?: Tensor;
  /** Added to the variance; 1e-5 by default. */
  eps?: number;
  /** So many of the last axes are normalised together; 1 by default. */
  axes?: number;
}

export interface RmsNormOptions {
  /** The sizes of the normalised axes; ones by default. */
  weight?: Tensor;
  /** Added to the mean of squares; 1e-6 by default. */
  eps?: number;
  axes?: number;
}

export interface DropoutOptions {
  /** The share of numbers that become 0. */
  rate: number;
  /** Which ones is a function of it and of their places. */
  seed: number;
}

export interface CrossEntropyOptions {
  /** Rows with this target give 0 and do not count in the mean. */
  ignoreIndex?: number;
  /** The share of the target that goes to all classes evenly; 0 by default. */
  labelSmoothing?: number;
  /** "mean" by default; "none" gives the loss of each row. */
  reduction?: "mean" | "sum" | "none";
}

export interface EmbeddingOptions {
  /** A row of the table that has no gradient. */
  paddingIndex?: number;
}

const layerNormChecks = {
  weight: isTensor,
  bias: isTensor,
  eps: isNumber,
  axes: isWholeNumber(1, 8),
} satisfies Record<keyof LayerNormOptions, Check>;
const rmsNormChecks = {
  weight: isTensor,
  eps: isNumber,
  axes: isWholeNumber(1, 8),
} satisfies Record<keyof RmsNormOptions, Check>;
const dropoutChecks = {
  rate: isNumber,
  seed: isWholeNumber(0),
} satisfies Record<keyof DropoutOptions, Check>;
const crossEntropyChecks = {
  ignoreIndex: isWholeNumber(-(2 ** 31), 2 ** 31 - 1),
  labelSmoothing: isNumber,
  reduction: oneOf("mean", "sum", "none"),
} satisfies Record<keyof CrossEntropyOptions, Check>;
const embeddingChecks = { paddingIndex: isWholeNumber(0) } satisfies Record<
  keyof EmbeddingOptions,
  Check
>;

/** The operations that layers are made of; Heed has them all. */
export class LayerOperations extends ArrayOperations {
  // ---- Linear layers and activations

  /**
   * activation(x W^T + bias). x [..., in], weight [out, in] -> [..., out].
   *
   * @param options a bias [out] alone, or options
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   */
  linear(x: Tensor, weight: Tensor | PackedWeights, options?: Tensor | LinearOptions): Tensor {
    return linear(this.engine, x, weight, options);
  }

  /** Weights [out, in] packed once, for a `linear` that runs many times. */
  packWeights(weight: Tensor, options: PackWeightsOptions = {}): PackedWeights {
    return this.engine.track(new PackedWeights(this.engine, weight, options));
  }

  /**
   * A function of each number: max(x, 0), x Phi(x) and its approximation by tanh, x / (1 + exp(-x)),
   * tanh(x), 1 / (1 + exp(-x)).
   */
  activate(x: Tensor, activation: Activation): Tensor {
    return activate(this.engine, x, activation);
  }

  /** silu(gate) up (Shazeer, "GLU Variants Improve Transformer", 2020), of two tensors of one shape. */
  swiglu(gate: Tensor, up: Tensor): Tensor {
    const { engine } = this;
    const { module } = engine;
    const inputs = () => [engine.handle("gate", gate), engine.handle("up", up)];
    const y = engine.run(module.swiglu, inputs()).tensor();
    recording()?.record("swiglu", { gate, up }, [y], ([d]) => {
      engine.run(module.swigluBackward, [engine.handle("d", d), ...inputs()]);
      return { gate: engine.tensor(), up: engine.tensor() };
    });
    return y;
  }

  // ---- Norms

  /** (x - mean) / sqrt(variance + eps) * weight + bias over the last axes (Ba et al., 2016). */
  layerNorm(x: Tensor, options: LayerNormOptions = {}): Tensor {
    checkOptions("layerNorm", options, layerNormChecks);
    const { engine } = this;
    const { module } = engine;
    const { weight, bias, eps = 1e-5, axes = 1 } = options;
    const args = () => [
      engine.handle("x", x),
      axes,
      engine.handleOrNone("weight", weight),
      engine.handleOrNone("bias", bias),
      eps,
    ];
    const y = engine.run(module.layerNorm, args()).tensor();
    recording()?.record("layerNorm", { x, weight, bias }, [y], ([d]) => {
      engine.run(module.layerNormBackward, [engine.handle("d", d), ...args()]);
      return { x: engine.tensor(), weight: engine.optional(), bias: engine.optional() };
    });
    return y;
  }

  /** x / sqrt(mean(x^2) + eps) * weight over the last axes (Zhang and Sennrich, 2019). */
  rmsNorm(x: Tensor, options: RmsNormOptions = {}): Tensor {
    checkOptions("rmsNorm", options, rmsNormChecks);
    const { engine } = this;
    const { module } = engine;
    const { weight, eps = 1e-6, axes = 1 } = options;
    const args = () => [engine.handle("x", x), axes, engine.handleOrNone("weight", weight), eps];
    const y = engine.run(module.rmsNorm, args()).tensor();
    recording()?.record("rmsNorm", { x, weight }, [y], ([d]) => {
      engine.run(module.rmsNormBackward, [engine.handle("d", d), ...args()]);
      return { x: engine.tensor(), weight: engine.optional(), bias: engine.optional() };
    });
    return y;
  }

  // ---- Softmax, dropout, loss

  /** Softmax over the last axis; a row of nothing but -Infinity gives zeros. */
  softmax(x: Tensor): Tensor {
    const { engine } = this;
    const y = engine.run(engine.module.softmax, [engine.handle("x", x)]).tensor();
    recording()?.record("softmax", { x }, [y], ([d]) => {
      const args = [engine.handle("d", d), engine.handle("softmax", y)];
      return { x: engine.run(engine.module.softmaxBackward, args).tensor() };
    });
    return y;
  }

  /** Sets a share of the numbers to 0, and the rest grows by 1 / (1 - rate) (Srivastava et al., 2014). */
  dropout(x: Tensor, options: DropoutOptions): Tensor {
    checkOptions("dropout", options, dropoutChecks);
    checkArgument("rate", options.rate, isNumber);
    checkArgument("seed", options.seed, isWholeNumber(0));
    const { engine } = this;
    const { rate, seed } = options;
    const drop = (x: Tensor) =>
      engine.run(engine.module.dropout, [engine.handle("x", x), rate, seed]).tensor();
    const y = drop(x);
    recording()?.record("dropout", { x }, [y], ([d]) => ({ x: d && drop(d) }));
    return y;
  }

  /**
   * -log softmax(logits)[target].
   *
   * @param logits [..., C]
   * @param targets int32 [...]
   * @returns [], or [...] with reduction "none"
   */
  crossEntropy(logits: Tensor, targets: Tensor, options: CrossEntropyOptions = {}): Tensor {
    checkOptions("crossEntropy", options, crossEntropyChecks);
    const { engine } = this;
    const { module } = engine;
    const { ignoreIndex, labelSmoothing = 0, reduction = "mean" } = options;
    const args = () => [
      engine.handle("logits", logits),
      engine.handle("targets", targets),
      ignoreIndex ?? notGiven,
      labelSmoothing,
      module.Reduction[reduction].value,
    ];
    const loss = engine.run(module.crossEntropy, args()).tensor();
    recording()?.record("crossEntropy", { logits }, [loss], ([d]) => {
      engine.run(module.crossEntropyBackward, [engine.handle("d", d), ...args()]);
      return { logits: engine.tensor() };
    });
    return loss;
  }

  // ---- Embeddings and positions

  /** Rows of a table. ids int32 [...], weight [V, E] -> [..., E]. */
  embedding(ids: Tensor, weight: Tensor, options: EmbeddingOptions = {}): Tensor {
    checkOptions("embedding", options, embeddingChecks);
    const { engine } = this;
    const { module } = engine;
    const { paddingIndex } = options;
    const args = [engine.handle("ids", ids), engine.handle("weight", weight)];
    const [rows = 0] = weight.shape;
    if (paddingIndex !== undefined && paddingIndex >= rows)
      throw refuse(
        "option",
        "paddingIndex",
        `a number from 0 to below ${rows}`,
        String(paddingIndex),
      );
    const found = engine.run(module.embedding, args).tensor();
    recording()?.record("embedding", { weight }, [found], ([d]) => {
      const args = [
        engine.handle("d", d),
        engine.handle("ids", ids),
        rows,
        paddingIndex ?? notGiven,
      ];
      return { weight: engine.run(module.embeddingBackward, args).tensor() };
    });
    return found;
  }

  /** The sines and cosines of Vaswani et al., 2017, section 3.5: [length, size]. */
  sinusoidalEncoding(length: number, size: number, options: SinusoidalOptions = {}): Tensor {
    return sinusoidalEncoding(this.engine, length, size, options);
  }

  /**
   * Rotary position embedding (Su et al., 2021): pair c of a row at position p is turned by the angle
   * p base^(-2c / rotarySize). x [B, H, L, D], or [B, L, H*D] with `heads`.
   */
  rope(x: Tensor, options: RopeOptions = {}): Tensor {
    return rope(this.engine, x, options);
  }

  // ---- Recurrent layers

  /**
   * Gated recurrent unit (Cho et al., 2014), with the parameters of torch.nn.GRU.
   *
   * @param x [B, L, I]
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   */
  gru(x: Tensor, parameters: GruParameters, options: GruOptions = {}): GruResult {
    return gru(this.engine, x, parameters, options);
  }
}
