// The base class of modules: a tree of parameters with PyTorch's names.

import { classOf, isInstance, mark, markKey } from "../core/copies.js";
import { describe, refuse } from "../core/error.js";
import { disposeSymbol, inspectSymbol } from "../core/owned.js";
import { recording, within } from "../core/tape.js";
import { Tensor } from "../core/tensor.js";
import { checkArgument, checkOptions, isBoolean } from "../core/validate.js";
import { Heed } from "../heed.js";
import {
  type LoadedStateDict,
  type LoadStateDictOptions,
  loadTensors,
  type StateDict,
} from "./stateDict.js";

/** Throws a HeedError "option" unless the value is an engine. */
export function checkEngine(heed: unknown): asserts heed is Heed {
  if (!(heed instanceof Heed))
    throw refuse("option", "heed", "an engine returned by load()", describe(heed));
}

/**
 * A part of a model. A subclass stores its parameters and submodules in public fields, and computes
 * in `forward`. For example:
 *
 *     class Residual extends nn.Module {
 *       readonly inner: nn.Linear;
 *       constructor(heed: Heed, size: number) {
 *         super(heed);
 *         this.inner = new nn.Linear(heed, size, size);
 *       }
 *       forward(x: Tensor): Tensor {
 *         return this.heed.add(x, this.inner.forward(x));
 *       }
 *     }
 *
 * A field that holds a tensor is a parameter. A field that holds a module is a submodule. A field that
 * holds an array of tensors or modules has one parameter or submodule for each index. `#private` fields are
 * ignored. The state dict uses PyTorch's names: `selfAttn.inProjWeight` becomes "self_attn.in_proj_weight",
 * and `layers[0]` becomes "layers.0".
 *
 * Tensors that `forward` creates are freed unless it returns them, as in a `heed.scope`. `forward` must not
 * be async. Tensors that it creates once and stores in a field, such as packed weights, need `heed.keep`.
 *
 * @example
 * ```ts
 * class Two extends nn.Module {
 *   first = new nn.Linear(this.heed, 2, 3);
 *   second = new nn.Linear(this.heed, 3, 1);
 *   forward(x: Tensor) {
 *     return this.second.forward(this.first.forward(x, "relu"));
 *   }
 * }
 * const model = new Two(heed);
 * console.log(model.forward(heed.ones([5, 2])).shape, model.namedParameters().map(([name]) => name).join(" ")); // prints: [ 5, 1 ] first.weight first.bias second.weight second.bias
 * ```
 */
export abstract class Module implements Disposable {
  /** @internal The name of the class, which a bundler does not shorten. */
  static readonly toStringTag: string = "Module";
  /** The engine. The property is not enumerable, so that printing a module does not print the engine. */
  declare readonly heed: Heed;
  /** Whether the module is in train mode, in which dropout is applied. */
  training = true;

  constructor(heed: Heed) {
    checkEngine(heed);
    Object.defineProperty(this, "heed", { value: heed, configurable: true, writable: true });
    // An error in `forward` reports the path of the module in the model. Tensors that `forward` creates are
    // freed by the tape while one records, else by a scope.
    const forward = this.forward;
    const guarded = (...args: never[]) =>
      within(this, () => {
        const run = () => forward.apply(this, args);
        return recording() ? run() : heed.scope(run);
      });
    Object.defineProperty(this, "forward", {
      value: guarded,
      configurable: true,
      writable: true,
      enumerable: false,
    });
  }

  /** Computes the module's results. Errors name the path of the submodule in which they arose. */
  abstract forward(...args: never[]): unknown;

  /** The tensors to train, of any shape. A tensor that several modules share occurs once. */
  parameters(): Tensor[] {
    return this.namedParameters().map(([, tensor]) => tensor);
  }

  /** The parameters, of any shape, with their names. A shared tensor has the first of its names. */
  namedParameters(): [name: string, tensor: Tensor][] {
    const seen = new Set<Tensor>();
    return Object.entries(this.stateDict()).filter(
      ([, tensor]) => !seen.has(tensor) && seen.add(tensor),
    );
  }

  /**
   * All parameters by name, of any shape. They are the module's own tensors, not copies: training changes them, and
   * disposing of the module frees them. `safetensors.write(module.stateDict())` saves them.
   */
  stateDict(): Record<string, Tensor> {
    const found: Record<string, Tensor> = {};
    for (const [name, part] of partsOf(this)) {
      if (part instanceof Tensor) found[name] = part;
      else {
        for (const [inner, tensor] of Object.entries(part.stateDict())) {
          found[`${name}.${inner}`] = tensor;
        }
      }
    }
    return found;
  }

  /**
   * Copies values into the parameters with the same names, from another module's state dict or from
   * `safetensors.read(bytes).tensors`.
   *
   * @returns the names that were not given and the given names that have no parameter; both lists are empty
   *   if `strict` is true
   * @throws HeedError "shape" or "option" that lists every name that is missing, is unknown or has another
   *   shape; in that case no parameter changes
   */
  loadStateDict(dict: StateDict, options: LoadStateDictOptions = {}): LoadedStateDict {
    checkOptions("loadStateDict", options, { strict: isBoolean });
    return loadTensors("the module", this.stateDict(), dict, options.strict ?? true);
  }

  /**
   * Puts the module and all its submodules into train mode or, with `false`, into eval mode. Dropout is
   * applied only in train mode.
   */
  train(mode = true): this {
    checkArgument("mode", mode, isBoolean);
    this.training = mode;
    for (const [, part] of partsOf(this)) if (part instanceof Module) part.train(mode);
    return this;
  }

  /** Puts the module and all its submodules into eval mode. Does the same as `train(false)`. */
  eval(): this {
    return this.train(false);
  }

  /** The class, the mode, the number of parameters and the number of their elements. */
  toJSON(): { module: string; training: boolean; parameters: number; numbers: number } {
    const tensors = this.parameters();
    return {
      module: classOf(this),
      training: this.training,
      parameters: tensors.length,
      numbers: tensors.reduce((sum, { size }) => sum + size, 0),
    };
  }

  /** The class, with the shapes of the module's own parameters and the classes of its submodules. */
  toString(): string {
    const parts = partsOf(this).map(([name, part]) =>
      part instanceof Tensor ? `${name} ${describe(part.shape)}` : `${name} ${classOf(part)}`,
    );
    return `${classOf(this)}(${parts.join(", ")})`;
  }

  [inspectSymbol](): string {
    return this.toString();
  }

  /**
   * @internal Returns the path from this module to a parameter or submodule at any depth; undefined if
   *   there is none.
   */
  nameOf(part: unknown): string | undefined {
    for (const [name, own] of partsOf(this)) {
      if (own === part) return name;
      const rest = own instanceof Module ? own.nameOf(part) : undefined;
      if (rest !== undefined) return `${name}.${rest}`;
    }
    return undefined;
  }

  /** Frees the parameters. A second call does nothing. */
  dispose(): void {
    for (const [, part] of partsOf(this)) part.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  /** @internal */
  get [markKey](): object {
    return mark;
  }

  static readonly [Symbol.hasInstance] = isInstance;

  get [Symbol.toStringTag](): string {
    return (this.constructor as typeof Module).toStringTag;
  }
}

/** Returns the parameters and submodules of a module with their names, in the order of its fields. */
function partsOf(module: Module): [name: string, part: Tensor | Module][] {
  const isPart = (value: unknown) => value instanceof Tensor || value instanceof Module;
  return Object.entries(module).flatMap(([field, value]: [string, unknown]) => {
    const name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (isPart(value)) return [[name, value]];
    if (!Array.isArray(value)) return [];
    return value.flatMap((part, i) => (isPart(part) ? [[`${name}.${i}`, part]] : []));
  }) as [string, Tensor | Module][];
}
