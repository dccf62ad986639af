// The tape: it records operations while gradients are wanted, and computes the gradients in reverse
// order (reverse-mode differentiation: Linnainmaa, 1970). Each operation defines its gradient next
// to its call. Nothing is recorded unless a tape runs.

import { classOf, inCommon } from "./copies.js";
import type { Engine } from "./engine.js";
import { describe, HeedError, refuse } from "./error.js";
import { Tensor } from "./tensor.js";
import {
  type Check,
  checkArgument,
  checkNoPromise,
  checkOptions,
  isBoolean,
  isFunction,
  isListOf,
  isObject,
  parametersOf,
} from "./validate.js";

/** Tensors for which gradients are wanted, or an object with such tensors, such as a module. */
export type Sources = readonly Tensor[] | { parameters(): Tensor[] };

export type Inputs = Readonly<Record<string, Tensor | undefined>>;

/**
 * Computes the gradients for the inputs of an operation, by name, from the gradients for its outputs; an
 * undefined gradient is zero.
 *
 * @param needs whether the gradient for an input is wanted
 */
export type Backward = (
  gradients: readonly (Tensor | undefined)[],
  needs: (input: string) => boolean,
) => Record<string, Tensor | undefined>;

interface Step {
  operation: string;
  /** The running modules, outermost first: their names are looked up only for an error message. */
  within: readonly Named[];
  inputs: Inputs;
  outputs: readonly Tensor[];
  backward: Backward;
}

/** An object whose parts have names: see Module. */
export interface Named {
  /** The name of a part, such as "layers.1"; undefined for any other value. */
  nameOf(part: unknown): string | undefined;
}

/** Options of `valueAndGrad`, `grad` and `Tape`. */
export interface TapeOptions {
  /** Checks every result, and names the first operation whose result has a number that is not finite. */
  debug?: boolean;
}

export const tapeChecks = { debug: isBoolean } satisfies Record<keyof TapeOptions, Check>;

/** Shared by all copies of the package: a tape of one copy records operations of another. */
const state = inCommon("tape", () => ({
  running: undefined as Tape | undefined,
  /** The running modules, outermost first. */
  modules: [] as Named[],
  /** Errors whose message already names a place. */
  located: new WeakSet<HeedError>(),
}));

/** The running tape, on which operations record themselves. */
export const recording = (): Tape | undefined => state.running;

/**
 * Runs a function without recording its operations: its result is a constant.
 *
 * @throws any error of the function
 * @example
 * ```ts
 * const w = heed.ones([1]);
 * const { gradients } = valueAndGrad([w], () => heed.sum(heed.multiply(w, noGrad(() => heed.multiply(w, 3)))));
 * // 3 and not 6: the second factor is a constant
 * console.log(gradients[0]!.toArray()); // prints: [ 3 ]
 * ```
 */
export function noGrad<T>(run: () => T): T {
  checkArgument("run", run, isFunction);
  const tape = state.running;
  state.running = undefined;
  try {
    const result = run();
    // The rest of an async function would be recorded.
    if (tape) checkNoPromise("run", result);
    return result;
  } finally {
    state.running = tape;
  }
}

/**
 * A copy of options. An operation reads them again for its gradient, and the caller may have changed the
 * object, or a list in it, by then.
 */
export function snapshot<T>(value: T): T {
  if (Array.isArray(value)) return [...value] as T;
  if (!isObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, snapshot(part)]),
  ) as T;
}

/** The path of the running modules, such as "decoder.layers.1.self_attn". */
function path(running: readonly Named[]): string {
  return running
    .slice(1)
    .map((module, i) => running[i]?.nameOf(module) ?? classOf(module))
    .join(".");
}

/** The error, with the place where it happened in front of its message. */
function locate(error: unknown, place: string): unknown {
  if (!(error instanceof HeedError) || state.located.has(error)) return error;
  const found =
    place === ""
      ? error
      : new HeedError(error.code, `${place}: ${error.message}`, { cause: error });
  state.located.add(found);
  return found;
}

/** Runs a module: an error in it names the place where it happened. */
export function within<T>(module: Named, run: () => T): T {
  state.modules.push(module);
  try {
    return run();
  } catch (error) {
    throw locate(error, path(state.modules));
  } finally {
    state.modules.pop();
  }
}

function tensorsOf(sources: unknown): readonly Tensor[] {
  const tensors = parametersOf(sources);
  if (!isListOf<Tensor>(tensors, (tensor) => tensor instanceof Tensor))
    throw refuse("option", "sources", "a module or a list of tensors", describe(sources));
  const [first] = tensors;
  if (first === undefined) throw refuse("option", "sources", "one tensor or more", "none");
  for (const [i, tensor] of tensors.entries()) {
    first.engine.handle(`sources[${i}]`, tensor);
    if (tensor.dtype !== "float32") throw refuse("dtype", `sources[${i}]`, "float32", tensor.dtype);
  }
  return tensors;
}

/**
 * Records the operations on some tensors, and computes gradients for these. `valueAndGrad` is the usual
 * way to use one.
 *
 * @example
 * ```ts
 * const w = heed.tensor([2]);
 * const tape = new Tape([w]);
 * const loss = tape.run(() => heed.sum(heed.multiply(w, w)));
 * console.log(tape.gradients(loss)[0]!.toArray()); // prints: [ 4 ]
 * ```
 */
export class Tape {
  readonly #engine: Engine;
  readonly #sources: readonly Tensor[];
  /** Tensors that depend on a source. */
  readonly #watched: Set<Tensor>;
  /** Tensors that depend on a source through an operation without a gradient, and the operation's name. */
  readonly #blind = new Map<Tensor, string>();
  readonly #debug: boolean;
  #steps: Step[] | undefined = [];

  /**
   * @param sources the tensors for which gradients are wanted
   * @throws HeedError "option", "dtype", "disposed"
   */
  constructor(sources: Sources, options: TapeOptions = {}) {
    checkOptions("Tape", options, tapeChecks);
    this.#sources = tensorsOf(sources);
    this.#engine = (this.#sources[0] as Tensor).engine;
    this.#watched = new Set(this.#sources);
    this.#debug = options.debug ?? false;
  }

  /** @internal The engine of the sources. */
  get engine(): Engine {
    return this.#engine;
  }

  /** Runs a function and records its operations. */
  run<T>(run: () => T): T {
    checkArgument("run", run, isFunction);
    if (state.running)
      throw refuse("unsupported", "tape", "no other tape to be running", "a tape inside another");
    state.running = this;
    try {
      const result = run();
      checkNoPromise("run", result);
      return result;
    } finally {
      state.running = undefined;
    }
  }

  /** @internal Records an operation that was just computed. */
  record(operation: string, inputs: Inputs, outputs: readonly Tensor[], backward: Backward): void {
    if (this.#debug) this.#check(operation, outputs[0]);
    if (!this.#depends(operation, inputs, outputs)) return;
    this.#steps?.push({ operation, within: [...state.modules], inputs, outputs, backward });
    for (const output of outputs) this.#watched.add(output);
  }

  /** @internal Marks results without a gradient: a loss must not depend on them. */
  cut(operation: string, inputs: Inputs, outputs: readonly (Tensor | undefined)[]): void {
    if (!this.#depends(operation, inputs, outputs)) return;
    for (const output of outputs) if (output) this.#blind.set(output, operation);
  }

  /**
   * The gradients of a loss, a tensor of one number, for the sources, in their order; zeros for a source
   * on which it does not depend. Frees everything that was recorded, except the loss and the tensors in
   * `keep`. Can be called once.
   *
   * @throws HeedError "shape", "dtype", "disposed", "option", "unsupported"
   */
  gradients(loss: Tensor, keep: Pick<ReadonlySet<Tensor>, "has"> = new Set()): Tensor[] {
    const { engine } = this;
    this.checkLoss(loss);
    const steps = this.#steps;
    if (steps === undefined) {
      const expected = "a tape whose gradients were not computed yet";
      throw refuse("option", "tape", expected, "one whose gradients were");
    }
    const cut = this.#blind.get(loss);
    if (cut !== undefined) throw noGradient("loss", cut);
    this.#steps = undefined;

    const sums = new GradientSums(loss);
    const free = (step: Step) => {
      for (const output of step.outputs)
        if (output !== loss && !keep.has(output) && !this.#sources.includes(output))
          output.dispose();
    };
    let kept: readonly Tensor[] = [];
    try {
      for (let step = steps.at(-1); step; step = steps.at(-1)) {
        this.#goBack(step, sums);
        free(step);
        steps.pop();
      }
      const gradients = this.#sources.map((each) => sums.of(each) ?? engine.zeros(each.shape));
      kept = this.#sources;
      return gradients;
    } finally {
      for (const step of steps) free(step);
      sums.freeOthers(kept);
    }
  }

  /** @internal Throws for a loss that is not one number of this tape's engine. */
  checkLoss(loss: unknown): asserts loss is Tensor {
    if (!(loss instanceof Tensor)) throw refuse("option", "loss", "a tensor", describe(loss));
    this.engine.handle("loss", loss);
    if (loss.size !== 1) throw refuse("shape", "loss", "one number", describe(loss.shape));
    if (loss.dtype !== "float32") throw refuse("dtype", "loss", "float32", loss.dtype);
  }

  #goBack(step: Step, sums: GradientSums): void {
    const given = step.outputs.map((output) => sums.of(output));
    if (given.every((gradient) => gradient === undefined)) return;
    const isWatched = (name: string) => {
      const input = step.inputs[name];
      return input !== undefined && this.#watched.has(input);
    };
    let gradients: ReturnType<Step["backward"]> = {};
    try {
      gradients = this.engine.scope(() => step.backward(given, isWatched));
      for (const [name, gradient] of Object.entries(gradients)) {
        const input = step.inputs[name];
        if (input && gradient && isWatched(name)) {
          if (this.#debug) this.#check(`the gradient for ${name}`, gradient);
          sums.add(input, gradient);
        } else {
          sums.drop(gradient);
        }
      }
      for (const output of step.outputs) if (!this.#sources.includes(output)) sums.forget(output);
    } catch (error) {
      for (const gradient of Object.values(gradients)) sums.drop(gradient);
      const place = path(step.within);
      throw locate(error, `gradient of ${place === "" ? "" : `${place}: `}${step.operation}`);
    }
  }

  #check(operation: string, output: Tensor | undefined): void {
    if (output?.dtype !== "float32" || output.engine.isFinite(output)) return;
    const got = output.data.find((number) => !Number.isFinite(number));
    throw refuse("nan", operation, "finite numbers", `${got}`);
  }

  /** Whether an input depends on a source. The results of blind inputs alone are blind, too. */
  #depends(operation: string, inputs: Inputs, outputs: readonly (Tensor | undefined)[]): boolean {
    let depends = false;
    let blind: [input: string, cut: string] | undefined;
    for (const [name, input] of Object.entries(inputs)) {
      if (input === undefined) continue;
      const cut = this.#blind.get(input);
      if (cut !== undefined) blind = [name, cut];
      depends ||= this.#watched.has(input);
    }
    if (blind === undefined) return depends;
    if (depends) throw noGradient(`${operation}: ${blind[0]}`, blind[1]);
    for (const output of outputs) if (output) this.#blind.set(output, blind[1]);
    return false;
  }

  get [Symbol.toStringTag](): string {
    return "Tape";
  }
}

const noGradient = (argument: string, operation: string) =>
  refuse(
    "unsupported",
    argument,
    "a tensor with a gradient, or a detached one",
    `a result of ${operation}, which has none`,
  );

/** Gradients by the tensors that they belong to. Several entries may be the same tensor. */
class GradientSums {
  readonly #gradients = new Map<Tensor, Tensor>();
  readonly #uses = new Map<Tensor, number>();

  constructor(loss: Tensor) {
    this.#set(loss, loss.engine.filled(loss.shape, 1));
  }

  of(tensor: Tensor): Tensor | undefined {
    return this.#gradients.get(tensor);
  }

  /** Adds a gradient to the one of a tensor. */
  add(tensor: Tensor, gradient: Tensor): void {
    const before = this.#gradients.get(tensor);
    this.#set(tensor, before ? tensor.engine.add(before, gradient) : gradient);
    if (before) {
      this.#release(before);
      this.drop(gradient);
    }
  }

  forget(tensor: Tensor): void {
    const gradient = this.#gradients.get(tensor);
    this.#gradients.delete(tensor);
    if (gradient) this.#release(gradient);
  }

  /** Frees a gradient that is not stored for any tensor. */
  drop(gradient: Tensor | undefined): void {
    if (gradient && !this.#uses.has(gradient)) gradient.dispose();
  }

  freeOthers(kept: readonly Tensor[]): void {
    const wanted = new Set(kept);
    for (const tensor of [...this.#gradients.keys()]) if (!wanted.has(tensor)) this.forget(tensor);
  }

  #set(tensor: Tensor, gradient: Tensor): void {
    this.#gradients.set(tensor, gradient);
    this.#uses.set(gradient, (this.#uses.get(gradient) ?? 0) + 1);
  }

  #release(gradient: Tensor): void {
    const uses = (this.#uses.get(gradient) ?? 1) - 1;
    if (uses > 0) {
      this.#uses.set(gradient, uses);
    } else {
      this.#uses.delete(gradient);
      gradient.dispose();
    }
  }
}
