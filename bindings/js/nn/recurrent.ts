// Recurrent layers.

import { describe, refuse } from "../core/error.js";
import { optional } from "../core/objects.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isBoolean,
  isLayerCount,
  isShare,
  isWholeNumber,
  mostBytes,
  shapeOf,
} from "../core/validate.js";
import type { Heed } from "../heed.js";
import { type GruOptions, type GruParameters, type GruResult, gruChecks } from "../ops/gru.js";
import { Dropout } from "./layers.js";
import { Module } from "./module.js";
import { defaultGenerator, type Generator, isGenerator, uniform } from "./random.js";

/** Options of a new `GRU`. */
export interface GRUOptions {
  /** The number of layers; 1 by default. Each layer's input is the output of the layer before it. */
  layers?: number;
  /** Whether the layers have biases; true by default. */
  bias?: boolean;
  /** The proportion of outputs that are set to zero at random between layers in train mode; 0 by default. */
  dropout?: number;
  /** The source of initial values and of the seeds of dropout; the engine's `defaultGenerator` by default. */
  generator?: Generator;
}

/** As for `heed.gru`, but with a state for every layer: [layers, B, Hd]. */
export type GRUForwardOptions = GruOptions;

/** As the result of `heed.gru`: the output of the last layer, and the states of all layers, [layers, B, Hd]. */
export type GRUForwardResult = GruResult;

const checks = {
  layers: isLayerCount,
  bias: isBoolean,
  dropout: isShare,
  generator: isGenerator,
} satisfies Record<keyof GRUOptions, Check>;

/**
 * Gated recurrent unit (Cho et al., 2014) with the parameters of torch.nn.GRU with batch_first. Layer 0 has
 * weightIhL0 [3 Hd, I], weightHhL0 [3 Hd, Hd], biasIhL0 and biasHhL0 [3 Hd]; the other layers have the same
 * with their numbers. Initial values are uniform in +-1/sqrt(Hd).
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const gru = new nn.GRU(heed, 3, 4, { layers: 2 });
 * const { output, state } = gru.forward(heed.ones([1, 5, 3]));
 * console.log(output.shape, state.shape); // prints: [ 1, 5, 4 ] [ 2, 1, 4 ]
 * ```
 */
export class GRU extends Module {
  /** @internal */ static override readonly toStringTag = "GRU";
  /** The size Hd of the state. */
  readonly hiddenSize: number;
  /** The dropout after every layer but the last. */
  readonly dropout: Dropout;
  readonly #layers: number;

  constructor(heed: Heed, inputSize: number, hiddenSize: number, options: GRUOptions = {}) {
    super(heed);
    checkArgument("inputSize", inputSize, isWholeNumber(1));
    checkArgument("hiddenSize", hiddenSize, isWholeNumber(1));
    checkOptions("GRU", options, checks);
    const { layers = 1, bias = true, dropout = 0 } = options;
    const { generator = defaultGenerator(heed) } = options;
    const bytes = 12 * hiddenSize * (inputSize + hiddenSize + (layers - 1) * 2 * hiddenSize);
    if (bytes > mostBytes)
      throw refuse("memory", "layers", `weights of at most ${mostBytes} bytes`, `${bytes}`);
    this.hiddenSize = hiddenSize;
    this.dropout = new Dropout(heed, dropout, { generator });
    const gates = 3 * hiddenSize;
    const make = (...shape: number[]) => uniform(heed, generator, shape, 1 / Math.sqrt(hiddenSize));
    this.#layers = layers;
    for (let i = 0; i < layers; ++i) {
      const of = {
        [`weightIhL${i}`]: make(gates, i === 0 ? inputSize : hiddenSize),
        [`weightHhL${i}`]: make(gates, hiddenSize),
        ...(bias && { [`biasIhL${i}`]: make(gates), [`biasHhL${i}`]: make(gates) }),
      };
      Object.assign(this, of);
    }
  }

  /**
   * Runs all layers over a sequence.
   *
   * @param x [B, L, I]
   */
  forward(x: Tensor, options: GRUForwardOptions = {}): GRUForwardResult {
    checkOptions("GRU", options, gruChecks);
    const { heed, hiddenSize } = this;
    const { state, lengths } = options;
    const layers = this.#layers;
    const batch = shapeOf("x", x)[0] as number;
    const expected = [layers, batch, hiddenSize];
    if (state !== undefined && String(state.shape) !== String(expected)) {
      throw refuse("shape", "state", describe(expected), describe([...state.shape]));
    }
    const before = state && (layers === 1 ? [state] : heed.split(state, layers));
    const flat = [batch, hiddenSize];
    const ends: Tensor[] = [];
    let output = x;
    for (let i = 0; i < layers; ++i) {
      const own = before?.[i];
      const input = i === 0 ? x : this.dropout.forward(output);
      const state = own && heed.reshape(own, flat);
      const result = heed.gru(input, this.#parameters(i), optional({ state, lengths }));
      output = result.output;
      ends.push(heed.reshape(result.state, [1, ...flat]));
    }
    return { output, state: layers === 1 ? (ends[0] as Tensor) : heed.concat(ends) };
  }

  #parameters(layer: number): GruParameters {
    const fields = this as unknown as Record<string, Tensor>;
    const of = (name: string) => fields[`${name}L${layer}`];
    const weights = { weightIh: of("weightIh") as Tensor, weightHh: of("weightHh") as Tensor };
    return optional({ ...weights, biasIh: of("biasIh"), biasHh: of("biasHh") });
  }
}
