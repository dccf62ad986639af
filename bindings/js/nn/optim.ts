// Optimisers, which change parameters in place, and schedules of their learning rate.

import { describe, refuse } from "../core/error.js";
import { disposeSymbol } from "../core/owned.js";
import { createTensor, Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isBoolean,
  isListOf,
  isNumber,
  isShare,
  isWholeNumber,
  parametersOf,
} from "../core/validate.js";
import { type AdamNumbers, adamStep, clipGradients, sgdStep } from "../ops/optim.js";
import { type LoadedStateDict, loadTensors, type StateDict } from "./stateDict.js";

/** The tensors to train, or what has some, such as a module. */
export type Parameters = readonly Tensor[] | { parameters(): Tensor[] };

/** What an optimiser goes on from. */
export interface OptimizerState {
  /** Steps done. */
  stepCount: number;
  learningRate: number;
  /** Averages by the number of their parameter: "0.exp_avg". An optimiser's own, not copies. */
  tensors: Record<string, Tensor>;
}

/** The same to be loaded, its tensors perhaps from a file. */
export interface GivenOptimizerState {
  stepCount: number;
  learningRate: number;
  tensors: StateDict;
}

const isNotNegative: Check = {
  expected: "a number of 0 or more",
  accepts: (value) => Number.isFinite(value) && (value as number) >= 0,
};

/** What all optimisers are. */
abstract class Optimizer implements Disposable {
  readonly parameters: readonly Tensor[];
  #learningRate: number;
  #stepCount = 0;
  /** The optimiser's own tensors, by name, one for each parameter. */
  readonly #averages: Readonly<Record<string, readonly Tensor[]>>;

  constructor(parameters: Parameters, learningRate: number, averages: readonly string[]) {
    this.parameters = tensorsOf(parameters);
    this.#learningRate = learningRate;
    this.#averages = Object.fromEntries(
      averages.map((name) => [name, this.parameters.map(zerosLike)]),
    );
  }

  /** May be set before any step, as a schedule has it. */
  get learningRate(): number {
    return this.#learningRate;
  }

  set learningRate(rate: number) {
    checkArgument("learningRate", rate, isNotNegative);
    this.#learningRate = rate;
  }

  /** Steps done. */
  get stepCount(): number {
    return this.#stepCount;
  }

  /**
   * Changes the parameters by gradients, as `valueAndGrad` gives them, and frees the gradients.
   *
   * @throws HeedError "shape", "dtype", "option", "disposed" if they are not those of the parameters, or
   *   the optimiser was disposed of; nothing is changed or freed then
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

  protected abstract update(
    parameter: Tensor,
    gradient: Tensor,
    average: (name: string) => Tensor | undefined,
  ): void;

  /** What training goes on from: see OptimizerState. `safetensors` keeps its tensors. */
  stateDict(): OptimizerState {
    const { stepCount, learningRate } = this;
    return { stepCount, learningRate, tensors: this.#tensors() };
  }

  /** @throws HeedError that lists every tensor that is missing, not known or of another shape */
  loadStateDict(state: GivenOptimizerState): LoadedStateDict {
    checkArgument("state", state, {
      expected: "what stateDict() gave",
      accepts: (value) => value !== null && typeof value === "object",
    });
    checkArgument("stepCount", state.stepCount, isWholeNumber(0));
    checkArgument("learningRate", state.learningRate, isNotNegative);
    const loaded = loadTensors("the optimiser", this.#tensors(), state.tensors, true);
    this.#stepCount = state.stepCount;
    this.#learningRate = state.learningRate;
    return loaded;
  }

  /** Frees the averages, not the parameters. Doing so again does nothing. */
  dispose(): void {
    for (const tensor of Object.values(this.#tensors())) tensor.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
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

/** Of no scope: it lives as long as the optimiser. */
function zerosLike(parameter: Tensor): Tensor {
  const { engine, size, shape } = parameter;
  return createTensor(engine, new Float32Array(size), shape, undefined);
}

export interface SGDOptions {
  /** 1e-3 by default. */
  learningRate?: number;
  /** 0 by default. */
  momentum?: number;
  /** What a gradient does not count in the momentum; 0 by default. */
  dampening?: number;
  /** Added to the gradient, times the parameter; 0 by default. */
  weightDecay?: number;
  /** Looks one step ahead (Sutskever et al., 2013): false by default. */
  nesterov?: boolean;
}

const sgdChecks = {
  learningRate: isNotNegative,
  momentum: isNotNegative,
  dampening: isNumber,
  weightDecay: isNotNegative,
  nesterov: isBoolean,
} satisfies Record<keyof SGDOptions, Check>;

/** Gradient descent with momentum, as torch.optim.SGD. */
export class SGD extends Optimizer {
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

  protected override update(
    parameter: Tensor,
    gradient: Tensor,
    average: (name: string) => Tensor | undefined,
  ): void {
    const { learningRate, stepCount } = this;
    const buffer = average("momentum_buffer");
    const numbers = { ...this.#options, learningRate };
    sgdStep(parameter.engine, parameter, gradient, buffer, stepCount === 1, numbers);
  }

  get [Symbol.toStringTag](): string {
    return "SGD";
  }
}

export interface AdamOptions {
  /** 1e-3 by default. */
  learningRate?: number;
  /** What the averages of gradients and of their squares keep at a step; [0.9, 0.999] by default. */
  betas?: readonly [number, number];
  /** 1e-8 by default. */
  eps?: number;
  /** 0 by default for Adam, 1e-2 for AdamW. */
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
  readonly #numbers: Omit<AdamNumbers, "learningRate">;

  constructor(parameters: Parameters, options: Required<AdamOptions>, isDecoupled: boolean) {
    const { learningRate, betas, eps, weightDecay } = options;
    super(parameters, learningRate, ["exp_avg", "exp_avg_sq"]);
    this.#numbers = { beta1: betas[0], beta2: betas[1], eps, weightDecay, isDecoupled };
  }

  protected override update(
    parameter: Tensor,
    gradient: Tensor,
    average: (name: string) => Tensor | undefined,
  ): void {
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

/** Adam (Kingma and Ba, 2015), as torch.optim.Adam: weight decay joins the gradient. */
export class Adam extends AdamLike {
  constructor(parameters: Parameters, options: AdamOptions = {}) {
    super(parameters, adamOptions("Adam", options, 0), false);
  }

  get [Symbol.toStringTag](): string {
    return "Adam";
  }
}

/** Adam whose weight decay is taken off the parameter (Loshchilov and Hutter, 2019), as torch.optim.AdamW. */
export class AdamW extends AdamLike {
  constructor(parameters: Parameters, options: AdamOptions = {}) {
    super(parameters, adamOptions("AdamW", options, 1e-2), true);
  }

  get [Symbol.toStringTag](): string {
    return "AdamW";
  }
}

/**
 * Scales gradients by min(1, maxNorm / (norm + 1e-6)), in place, norm being the 2-norm of all of them
 * together, which is returned (Pascanu et al., 2013; torch.nn.utils.clip_grad_norm_). Where it is not
 * finite they stay as they are.
 */
export function clipGradNorm(gradients: readonly Tensor[], maxNorm: number): number {
  checkArgument("gradients", gradients, {
    expected: "a list of one tensor or more",
    accepts: (list) => isListOf(list, (each) => each instanceof Tensor) && list.length > 0,
  });
  checkArgument("maxNorm", maxNorm, isNotNegative);
  return clipGradients((gradients[0] as Tensor).engine, gradients, maxNorm);
}

/** The factor of the learning rate at a step, counted from 1: `optimizer.stepCount + 1` is the next. */
export type Schedule = (step: number) => number;

const isStepCount = isWholeNumber(0);

function warmUp(step: number, warmupSteps: number): number {
  return Math.min(1, step / Math.max(1, warmupSteps));
}

/** Always the same, after a rise from 0 over the first steps if they are given. */
export function constant(options: { warmupSteps?: number } = {}): Schedule {
  checkOptions("constant", options, { warmupSteps: isStepCount });
  const { warmupSteps = 0 } = options;
  return (step) => warmUp(step, warmupSteps);
}

/**
 * A rise from 0 to 1 over the first steps, then half a cosine down to `floor`, where it stays
 * (Loshchilov and Hutter, "SGDR", 2017, without restarts).
 */
export function warmupCosine(options: {
  warmupSteps: number;
  totalSteps: number;
  /** 0 by default. */
  floor?: number;
}): Schedule {
  const checks = { warmupSteps: isStepCount, totalSteps: isStepCount, floor: isNotNegative };
  checkOptions("warmupCosine", options, checks);
  const { warmupSteps, totalSteps, floor = 0 } = options;
  checkArgument("warmupSteps", warmupSteps, isStepCount);
  checkArgument("totalSteps", totalSteps, isWholeNumber(warmupSteps + 1));
  return (step) => {
    if (step <= warmupSteps) return warmUp(step, warmupSteps);
    const done = Math.min(1, (step - warmupSteps) / (totalSteps - warmupSteps));
    return floor + ((1 - floor) * (1 + Math.cos(Math.PI * done))) / 2;
  };
}

/**
 * A rise from 0 to 1 over the first steps, then a fall as 1 / sqrt(step): with the learning rate
 * 1 / sqrt(dModel warmupSteps) that of Vaswani et al., 2017, section 5.3.
 */
export function warmupInverseSquareRoot(options: { warmupSteps: number }): Schedule {
  const checks = { warmupSteps: isWholeNumber(1) };
  checkOptions("warmupInverseSquareRoot", options, checks);
  const { warmupSteps } = options;
  checkArgument("warmupSteps", warmupSteps, checks.warmupSteps);
  return (step) => Math.min(step / warmupSteps, Math.sqrt(warmupSteps / step));
}
