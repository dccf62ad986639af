// Optimisers, which update parameters in place, and learning rate schedules.

import { describe, refuse } from "../core/error.js";
import type { AdamOptionsMembers } from "../core/members.js";
import { disposeSymbol } from "../core/owned.js";
import { createTensor, Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isBoolean,
  isListOf,
  isNumber,
  isObject,
  isShare,
  isWholeNumber,
  parametersOf,
} from "../core/validate.js";
import { adamStep, clipGradients, sgdStep } from "../ops/optim.js";
import { isNotNegative } from "./schedules.js";

export { constant, type Schedule, warmupCosine, warmupInverseSquareRoot } from "./schedules.js";

import { type LoadedStateDict, loadTensors, type StateDict } from "./stateDict.js";

/** The tensors to train, or an object with such tensors, such as a module. */
export type Parameters = readonly Tensor[] | { parameters(): Tensor[] };

/** The state from which an optimiser can resume. */
export interface OptimizerState {
  /** The number of steps done. */
  stepCount: number;
  /** The learning rate of the next step. */
  learningRate: number;
  /**
   * The averages. Each name starts with the index of the parameter: "0.exp_avg". They are the optimiser's
   * own tensors, not copies.
   */
  tensors: Record<string, Tensor>;
}

/** A state to load. Its tensors may come from a file. */
export interface GivenOptimizerState {
  /** The number of steps done. */
  stepCount: number;
  /** The learning rate of the next step. */
  learningRate: number;
  /** The averages, under the names that `state` gave them. */
  tensors: StateDict;
}

/** The running average of a parameter with a name; undefined if the optimiser has none. */
type Average = (name: string) => Tensor | undefined;

/** The base class of optimisers. */
abstract class Optimizer implements Disposable {
  /** @internal The name of the class, which a bundler does not shorten. */
  static readonly toStringTag: string;
  /** The tensors that it changes, of any shape. */
  readonly parameters: readonly Tensor[];
  #learningRate: number;
  #stepCount = 0;
  /** The optimiser's own tensors: for each name a list with one tensor per parameter. */
  readonly #averages: Readonly<Record<string, readonly Tensor[]>>;

  constructor(parameters: Parameters, learningRate: number, averages: readonly string[]) {
    this.parameters = tensorsOf(parameters);
    this.#learningRate = learningRate;
    this.#averages = Object.fromEntries(
      averages.map((name) => [name, this.parameters.map(zerosLike)]),
    );
  }

  /** The learning rate. It may be set before each step, for example to the value of a schedule. */
  get learningRate(): number {
    return this.#learningRate;
  }

  set learningRate(rate: number) {
    checkArgument("learningRate", rate, isNotNegative);
    this.#learningRate = rate;
  }

  /** The number of steps done. */
  get stepCount(): number {
    return this.#stepCount;
  }

  /**
   * Updates the parameters with gradients from `valueAndGrad`, and frees the gradients.
   *
   * @param gradients one for each parameter, of the same shape, float32
   * @throws HeedError "shape", "dtype", "option" if the gradients do not match the parameters, "disposed";
   *   in that case nothing is changed or freed
   */
  step(gradients: readonly Tensor[]): void {
    this.#check(gradients);
    ++this.#stepCount;
    for (const [i, parameter] of this.parameters.entries()) {
      const gradient = gradients[i] as Tensor;
      this.update(parameter, gradient, (name) => this.#averages[name]?.[i]);
    }
    for (const gradient of gradients) gradient.dispose();
  }

  protected abstract update(parameter: Tensor, gradient: Tensor, average: Average): void;

  /** Returns the state from which training can resume. `safetensors.write` can save its tensors. */
  stateDict(): OptimizerState {
    const { stepCount, learningRate } = this;
    return { stepCount, learningRate, tensors: this.#tensors() };
  }

  /**
   * Continues from a state, such as one that `stateDict` returned or a file kept.
   *
   * @throws HeedError "shape" or "option" that lists every tensor that is missing, is unknown or has
   *   another shape
   */
  loadStateDict(state: GivenOptimizerState): LoadedStateDict {
    checkArgument("state", state, {
      expected: "a state made by stateDict()",
      accepts: isObject,
    });
    checkArgument("stepCount", state.stepCount, isWholeNumber(0));
    checkArgument("learningRate", state.learningRate, isNotNegative);
    const loaded = loadTensors("the optimiser", this.#tensors(), state.tensors, true);
    this.#stepCount = state.stepCount;
    this.#learningRate = state.learningRate;
    return loaded;
  }

  /** Frees the averages, not the parameters. A second call does nothing. */
  dispose(): void {
    for (const tensor of Object.values(this.#tensors())) tensor.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  get [Symbol.toStringTag](): string {
    return (this.constructor as typeof Optimizer).toStringTag;
  }

  #tensors(): Record<string, Tensor> {
    const named = this.parameters.flatMap((_, i) =>
      Object.entries(this.#averages).map(([name, all]) => [`${i}.${name}`, all[i] as Tensor]),
    );
    return Object.fromEntries(named);
  }

  #check(gradients: readonly Tensor[]): void {
    const count = this.parameters.length;
    if (!Array.isArray(gradients) || gradients.length !== count) {
      const got = Array.isArray(gradients) ? `${gradients.length}` : describe(gradients);
      throw refuse("option", "gradients", `${count}, one for each parameter`, got);
    }
    for (const [i, parameter] of this.parameters.entries()) {
      const gradient = gradients[i];
      const { engine } = parameter;
      engine.handle(`parameters[${i}]`, parameter);
      engine.handle(`gradients[${i}]`, gradient);
      for (const [name, all] of Object.entries(this.#averages)) engine.handle(name, all[i]);
      if (gradient.dtype !== "float32")
        throw refuse("dtype", `gradients[${i}]`, "float32", gradient.dtype);
      if (String(gradient.shape) !== String(parameter.shape)) {
        const [expected, got] = [[...parameter.shape], [...gradient.shape]];
        throw refuse("shape", `gradients[${i}]`, describe(expected), describe(got));
      }
    }
  }
}

function tensorsOf(parameters: Parameters): readonly Tensor[] {
  const tensors = parametersOf(parameters);
  checkArgument("parameters", tensors, {
    expected: "a module or a list of different float32 tensors, one or more",
    accepts: (list) =>
      isListOf(list, (tensor) => tensor instanceof Tensor && tensor.dtype === "float32") &&
      list.length > 0 &&
      new Set(list).size === list.length,
  });
  return [...(tensors as readonly Tensor[])];
}

/** Creates a tensor of zeros that belongs to no scope: it lives as long as the optimiser. */
function zerosLike(parameter: Tensor): Tensor {
  const { engine, size, shape } = parameter;
  return createTensor(engine, new Float32Array(size), shape, undefined);
}

/** Options of a new `SGD`. */
export interface SGDOptions {
  /** The learning rate; 1e-3 by default. */
  learningRate?: number;
  /** The factor of the momentum buffer at each step; 0 by default. */
  momentum?: number;
  /** After the first step, the momentum buffer adds (1 - dampening) times the gradient; 0 by default. */
  dampening?: number;
  /** The factor of the parameter that is added to its gradient; 0 by default. */
  weightDecay?: number;
  /** Whether to use Nesterov momentum (Sutskever et al., 2013); false by default. */
  nesterov?: boolean;
}

const sgdChecks = {
  learningRate: isNotNegative,
  momentum: isNotNegative,
  dampening: isNumber,
  weightDecay: isNotNegative,
  nesterov: isBoolean,
} satisfies Record<keyof SGDOptions, Check>;

/**
 * Gradient descent with momentum, as torch.optim.SGD computes it.
 *
 * @throws HeedError "shape", "dtype", "option", "disposed"
 * @example
 * ```ts
 * const w = heed.tensor([1]);
 * const sgd = new optim.SGD([w], { learningRate: 0.1 });
 * sgd.step([heed.tensor([2])]);
 * console.log(w.data[0]!.toFixed(2)); // prints: 0.80
 * ```
 */
export class SGD extends Optimizer {
  /** @internal */ static override readonly toStringTag = "SGD";
  readonly #options: Required<SGDOptions>;

  constructor(parameters: Parameters, options: SGDOptions = {}) {
    checkOptions("SGD", options, sgdChecks);
    const { learningRate = 1e-3, momentum = 0, dampening = 0 } = options;
    const { weightDecay = 0, nesterov = false } = options;
    if (nesterov && (momentum === 0 || dampening !== 0)) {
      const got = `momentum ${momentum} and dampening ${dampening}`;
      throw refuse("option", "nesterov", "a momentum and no dampening", got);
    }
    super(parameters, learningRate, momentum === 0 ? [] : ["momentum_buffer"]);
    this.#options = { learningRate, momentum, dampening, weightDecay, nesterov };
  }

  protected override update(parameter: Tensor, gradient: Tensor, average: Average): void {
    const { learningRate, stepCount } = this;
    const buffer = average("momentum_buffer");
    const numbers = { ...this.#options, learningRate };
    sgdStep(parameter.engine, parameter, gradient, buffer, stepCount === 1, numbers);
  }
}

/** Options of a new `Adam` or `AdamW`. */
export interface AdamOptions {
  /** The learning rate; 1e-3 by default. */
  learningRate?: number;
  /** The decay rates of the averages of the gradients and of their squares; [0.9, 0.999] by default. */
  betas?: readonly [number, number];
  /** Added to the denominator; 1e-8 by default. */
  eps?: number;
  /** The weight decay; 0 by default for Adam, 1e-2 for AdamW. */
  weightDecay?: number;
}

const adamChecks = {
  learningRate: isNotNegative,
  betas: {
    expected: "two numbers from 0 to below 1",
    accepts: (value) => isListOf(value, isShare.accepts) && value.length === 2,
  },
  eps: isNotNegative,
  weightDecay: isNotNegative,
} satisfies Record<keyof AdamOptions, Check>;

abstract class AdamLike extends Optimizer {
  readonly #numbers: Omit<Required<AdamOptionsMembers>, "learningRate">;

  constructor(parameters: Parameters, options: Required<AdamOptions>, isDecoupled: boolean) {
    const { learningRate, betas, eps, weightDecay } = options;
    super(parameters, learningRate, ["exp_avg", "exp_avg_sq"]);
    this.#numbers = { beta1: betas[0], beta2: betas[1], eps, weightDecay, isDecoupled };
  }

  protected override update(parameter: Tensor, gradient: Tensor, average: Average): void {
    const { learningRate, stepCount } = this;
    const averages = [average("exp_avg"), average("exp_avg_sq")] as [Tensor, Tensor];
    const numbers = { ...this.#numbers, learningRate };
    adamStep(parameter.engine, parameter, gradient, ...averages, stepCount, numbers);
  }
}

function adamOptions(name: string, options: AdamOptions, decay: number): Required<AdamOptions> {
  checkOptions(name, options, adamChecks);
  const { learningRate = 1e-3, betas = [0.9, 0.999], eps = 1e-8, weightDecay = decay } = options;
  return { learningRate, betas, eps, weightDecay };
}

/**
 * Adam (Kingma and Ba, 2015), as torch.optim.Adam computes it: weight decay is added to the gradient.
 *
 * @throws HeedError "shape", "dtype", "option", "disposed"
 * @example
 * ```ts
 * const w = heed.tensor([1]);
 * const adam = new optim.Adam([w], { learningRate: 0.1 });
 * adam.step([heed.tensor([2])]);
 * console.log(w.data[0]!.toFixed(2)); // prints: 0.90
 * ```
 */
export class Adam extends AdamLike {
  /** @internal */ static override readonly toStringTag = "Adam";
  constructor(parameters: Parameters, options: AdamOptions = {}) {
    super(parameters, adamOptions("Adam", options, 0), false);
  }
}

/**
 * Adam with decoupled weight decay, which is subtracted from the parameter (Loshchilov and Hutter, 2019),
 * as torch.optim.AdamW computes it.
 *
 * @throws HeedError "shape", "dtype", "option", "disposed"
 * @example
 * ```ts
 * const w = heed.tensor([1]);
 * const adamW = new optim.AdamW([w], { learningRate: 0.1, weightDecay: 0.5 });
 * adamW.step([heed.tensor([2])]);
 * console.log(w.data[0]!.toFixed(2)); // prints: 0.85
 * ```
 */
export class AdamW extends AdamLike {
  /** @internal */ static override readonly toStringTag = "AdamW";
  constructor(parameters: Parameters, options: AdamOptions = {}) {
    super(parameters, adamOptions("AdamW", options, 1e-2), true);
  }
}

/**
 * Multiplies gradients by min(1, maxNorm / (norm + 1e-6)), in place, where norm is the 2-norm of all
 * gradients together (Pascanu et al., 2013; torch.nn.utils.clip_grad_norm_). If norm is not finite, the
 * gradients stay unchanged.
 *
 * @returns norm
 * @param gradients of any shape, changed in place
 * @throws HeedError "dtype", "option", "disposed"
 * @example
 * ```ts
 * const gradients = [heed.tensor([3]), heed.tensor([4])];
 * console.log(optim.clipGradNorm(gradients, 1), gradients[0]!.data[0]!.toFixed(3)); // prints: 5 0.600
 * ```
 */
export function clipGradNorm(gradients: readonly Tensor[], maxNorm: number): number {
  checkArgument("gradients", gradients, {
    expected: "a list of one tensor or more",
    accepts: (list) => isListOf(list, (each) => each instanceof Tensor) && list.length > 0,
  });
  checkArgument("maxNorm", maxNorm, isNotNegative);
  return clipGradients((gradients[0] as Tensor).engine, gradients, maxNorm);
}
